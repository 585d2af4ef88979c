import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { signalGroup } from "../processes/process-group.ts";

// Runs a program in the process group that this process leads, and ends all of that group when the service is gone, however
// it went: the channel to it closes even where it was killed. What the program prints goes on to stdout, line by line.

const graceMs = 2000;
const mostLoggedBytes = 10 * 1024 * 1024;
/** A longer line is cut into several. */
const longestLine = 64 * 1024;

let isEnding = false;
let logged = 0;

function end(): void {
  if (isEnding) return;
  isEnding = true;
  signalGroup(process.pid, "SIGTERM");
  setTimeout(() => signalGroup(process.pid, "SIGKILL"), graceMs);
}

/** A mark before each line tells the agent's words from those of the service. */
function log(line: string): void {
  if (logged > mostLoggedBytes) return;
  const text = `| ${line.replace(/[^\P{Cc}\t]/gu, "")}\n`;
  logged += Buffer.byteLength(text);
  process.stdout.write(logged > mostLoggedBytes ? "| [more is left out]\n" : text);
}

/** Reads to the end even what is not logged any more, or the program would wait for it for ever. */
function copy(stream: Readable): Promise<void> {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    if (logged > mostLoggedBytes) return;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(log);
    if (rest.length > longestLine) {
      log(rest);
      rest = "";
    }
  });
  return new Promise((done) => {
    stream.once("close", () => {
      if (rest !== "") log(rest);
      done();
    });
  });
}

process.stdout.on("error", () => {});
// Before there is anything to end, so that no signal comes too early to be heeded.
process.on("disconnect", end);
process.on("SIGTERM", end);
process.on("SIGINT", end);

const [file = "", ...args] = process.argv.slice(2);
const child = spawn(file, args, { stdio: ["inherit", "pipe", "pipe"] });
const copied = Promise.all([copy(child.stdout), copy(child.stderr)]);
child.on("error", (error) => {
  process.stdout.write(`The agent cannot be started: ${error.message}\n`, () => process.exit(127));
});
child.on("exit", async (exitCode) => {
  // What the agent has left running holds its pipes. The service ends it, or, where that is gone, this process.
  await Promise.race([copied, new Promise((late) => setTimeout(late, graceMs / 4))]);
  if (!process.connected) signalGroup(process.pid, "SIGKILL");
  process.stdout.write("", () => process.exit(isEnding ? 1 : (exitCode ?? 1)));
});
