import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { signalGroup } from "./process-group.ts";

// Runs a program in a process group of its own, and ends all of that group when the service is gone, however it went: the
// channel to it closes even where it was killed. What the program prints goes on to stdout, line by line.
let child: ReturnType<typeof start> | undefined;
const graceMs = 2000;
const mostLoggedBytes = 10 * 1024 * 1024;
let isEnding = false;

const endGroup = (signal: NodeJS.Signals): void => signalGroup(child?.pid, signal);

function end(): void {
  if (isEnding) return;
  isEnding = true;
  endGroup("SIGTERM");
  setTimeout(() => {
    endGroup("SIGKILL");
    process.exit(1);
  }, graceMs);
}

let logged = 0;

/** A mark before each line tells the agent's words from those of the service. */
function log(line: string): void {
  const text = `| ${line.replace(/[^\P{Cc}\t]/gu, "")}\n`;
  logged += Buffer.byteLength(text);
  process.stdout.write(logged > mostLoggedBytes ? "| [more is left out]\n" : text);
}

function copy(stream: Readable): Promise<unknown> {
  const lines = createInterface({ input: stream });
  lines.on("line", (line) => {
    if (logged > mostLoggedBytes) return;
    log(line);
    // The rest is read all the same, or the agent would wait for it for ever.
    if (logged > mostLoggedBytes) stream.removeAllListeners("data").resume();
  });
  return new Promise((done) => stream.once("close", done));
}

function start() {
  const [file = "", ...args] = process.argv.slice(2);
  return spawn(file, args, { stdio: ["inherit", "pipe", "pipe"], detached: true });
}

process.stdout.on("error", () => {});
// Before there is anything to end, so that no signal comes too early to be heeded.
process.on("disconnect", end);
process.on("SIGTERM", end);
process.on("SIGINT", end);

child = start();
// For the service, should this process be of no more use.
process.send?.({ group: child.pid });
const copied = Promise.all([copy(child.stdout), copy(child.stderr)]);
child.on("error", (error) => {
  process.stdout.write(`The agent cannot be started: ${error.message}\n`, () => process.exit(127));
});
child.on("exit", async (exitCode) => {
  // What the agent has left running in its group would go on working in a tree that is being committed.
  endGroup("SIGKILL");
  await Promise.race([copied, new Promise((late) => setTimeout(late, graceMs))]);
  process.stdout.write("", () => process.exit(isEnding ? 1 : (exitCode ?? 1)));
});
