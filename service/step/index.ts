// Before anything is loaded: the action may be gone by then.
const leave = (): never => process.exit(1);
process.once("disconnect", leave);
const { serveAction } = await import("./action-child.ts");
process.off("disconnect", leave);
serveAction();
