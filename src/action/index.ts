// The rest is loaded as a separate chunk, so that signals that arrive during load are already handled.
const cancellation = new AbortController();
process.on("SIGINT", () => cancellation.abort());
process.on("SIGTERM", () => cancellation.abort());

const { start } = await import("./start.ts");
// A promise that never settles ends the process with exit code 13 if it is awaited here, at the top level, not with 0.
await start(cancellation.signal);
