// The runner starts this file twice, as `main` and as `post`. It starts itself for the service.
switch (process.argv[2]) {
  case "server":
    await import("./server.ts");
    break;
  default: {
    const { runStep } = await import("./step.ts");
    await runStep();
  }
}
