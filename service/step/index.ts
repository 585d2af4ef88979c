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
