import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";

/** A Node.js program: arguments and environment. */
export interface Program {
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
}

/** Runs a program and ignores its output. `onReport` receives the lines it writes to file descriptor 3. */
export async function runProgram(
  { args, environment }: Program,
  onReport: (line: string) => void = () => {},
): Promise<{ durationMs: number; exitCode: number | null }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "ignore", "ignore", "pipe"] });
  let rest = "";
  (child.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onReport);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { durationMs: performance.now() - startedAt, exitCode };
}

/** How long a tick of the kernel's statistics is, in milliseconds. */
const tickMs = 10;

/** Returns the CPU time of all processes that this one has waited for, with theirs, in milliseconds; 0 except on Linux. */
export function cpuOfChildrenMs(): number {
  if (process.platform !== "linux") return 0;
  // The name of the program, which may contain spaces, is in parentheses. See proc_pid_stat(5): cutime and cstime.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

/** Returns the program with `code` preloaded, and with additional flags for Node.js. */
export function withPreload({ args, environment }: Program, code: string, flags: readonly string[] = []): Program {
  return { args: [...flags, "--import", `data:text/javascript,${encodeURIComponent(code)}`, ...args], environment };
}

// On Linux, `getrusage` of the child includes the parent's peak from before `exec`; VmHWM in /proc does not.
const reportPeak = `
import fs from "node:fs";
process.on("exit", () => {
  const peak = fs.existsSync("/proc/self/status")
    ? /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]
    : process.resourceUsage().maxRSS;
  fs.writeSync(3, peak + "\\n");
});`;

/** Returns the program's peak resident set size, in KiB. */
export async function peakMemoryKib(program: Program): Promise<number> {
  let peak = Number.NaN;
  await runProgram(withPreload(program, reportPeak), (line) => {
    peak = Number(line);
  });
  return peak;
}
