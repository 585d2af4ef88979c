// The rest is loaded as a separate chunk, so that signals that arrive during load are already handled.
const cancellation = new AbortController();
// The runner sends SIGINT first. What follows is SIGTERM, on Windows SIGBREAK, which would end the process.
for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.on(signal, () => cancellation.abort());

const { start } = await import("./start.ts");
// Awaited at the top level, so that a promise that never settles exits with code 13 instead of 0.
await start(cancellation.signal);
