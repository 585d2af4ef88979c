import { execFileSync } from "node:child_process";

/** Kills a process with all that it has started: a runner that is lost. */
export function killAll(root: number): void {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const found = [root];
  for (const one of found) for (const [id = 0, parent] of pairs) if (parent === one) found.push(id);
  for (const id of found) {
    try {
      process.kill(id, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
