// The rest is a chunk of its own, so that a signal that comes while it is being loaded is heeded already.
const cancellation = new AbortController();
process.on("SIGINT", () => cancellation.abort());
process.on("SIGTERM", () => cancellation.abort());

const { start } = await import("./start.ts");
// At the top level, a promise that never settles ends the process with 13, not with 0.
await start(cancellation.signal);
