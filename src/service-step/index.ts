// The runner starts this file twice, as `main` and as `post`. It starts itself for the service and for the Actions cache.
switch (process.argv[2]) {
  case "server":
    await import("./server.ts");
    break;
  case "cache":
    await import("../action/runner/cache-process.ts");
    break;
  default: {
    const { runStep } = await import("./step.ts");
    await runStep();
  }
}
