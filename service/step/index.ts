import { appendFileSync } from "node:fs";

// Before anything newer is loaded. GitHub's runners choose the right Node; others may not.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  const { STATE_started: started = "", GITHUB_STATE: file = "" } = process.env;
  // `post` has nothing to add.
  if (started !== "") process.exit(0);
  if (file !== "") appendFileSync(file, "started=true\n");
  console.log(
    `::error title=Node is too old::This action needs Node 24, and this runner has ${process.versions.node}. Nothing was started.`,
  );
  process.exit(1);
}
// The runner starts this file twice, as `main` and as `post`. It starts itself for the service. The action starts it for its agent.
switch (process.argv[2]) {
  case "server":
    await import("./server.ts");
    break;
  case "action": {
    // Before anything is loaded: the action may be gone by then.
    const leave = (): never => process.exit(1);
    process.once("disconnect", leave);
    const { serveAction } = await import("./action-child.ts");
    process.off("disconnect", leave);
    serveAction();
    break;
  }
  default: {
    const { runStep } = await import("./step.ts");
    await runStep();
  }
}
