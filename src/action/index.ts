// Before anything newer is loaded. GitHub's runners choose the right Node; others may not.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.log(
    `::error title=Node is too old::This action needs Node 24, and this runner has ${process.versions.node}. Nothing was started.`,
  );
  process.exit(1);
}
// The rest is loaded as a separate chunk, so that signals that arrive during load are already handled.
const cancellation = new AbortController();
// The runner sends SIGINT first. What follows is SIGTERM, on Windows SIGBREAK, which would end the process.
for (const signal of ["SIGINT", "SIGTERM", "SIGBREAK"]) process.on(signal, () => cancellation.abort());

const { start } = await import("./start.ts");
// Awaited at the top level, so that a promise that never settles exits with code 13 instead of 0.
await start(cancellation.signal);
