import { spawn } from "node:child_process";

// Runs a program in a process group of its own, and ends all of that group when the service is gone, however it went: the
// channel to it closes even where it was killed.
const [file = "", ...args] = process.argv.slice(2);
const child = spawn(file, args, { stdio: "inherit", detached: true });

function endGroup(signal: NodeJS.Signals): void {
  try {
    // A negative number stands for the whole group.
    process.kill(-(child.pid ?? 0), signal);
  } catch {
    // It has ended already.
  }
}

const graceMs = 2000;
let isEnding = false;

function end(): void {
  if (isEnding) return;
  isEnding = true;
  endGroup("SIGTERM");
  setTimeout(() => {
    endGroup("SIGKILL");
    process.exit(1);
  }, graceMs);
}

process.on("disconnect", end);
process.on("SIGTERM", end);
process.on("SIGINT", end);
child.on("error", (error) => {
  process.stderr.write(`The agent cannot be started: ${error.message}\n`);
  process.exit(127);
});
child.on("exit", (exitCode) => {
  // What the agent has left running in its group would go on working in a tree that is being committed.
  endGroup("SIGKILL");
  process.exit(isEnding ? 1 : (exitCode ?? 1));
});
