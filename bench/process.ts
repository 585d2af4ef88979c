import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

/** A program for Node, with its arguments and environment. */
export interface Program {
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
}

/** Runs a program and throws away what it prints. `onReport` gets the lines it writes to its file descriptor 3. */
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
  const exitCode = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("close", done);
  });
  return { durationMs: performance.now() - startedAt, exitCode };
}

/** The same program with `code` run before it. */
export function withPreload({ args, environment }: Program, code: string, flags: readonly string[] = []): Program {
  return { args: [...flags, "--import", `data:text/javascript,${encodeURIComponent(code)}`, ...args], environment };
}

// Linux hands the peak of the parent on to `getrusage` of the child; the kernel's own record starts anew.
const reportPeak = `
import fs from "node:fs";
process.on("exit", () => {
  const peak = fs.existsSync("/proc/self/status")
    ? /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]
    : process.resourceUsage().maxRSS;
  fs.writeSync(3, peak + "\\n");
});`;

/** The most memory the program held at a time (peak resident set), in KiB. */
export async function peakMemoryKib(program: Program): Promise<number> {
  let peak = Number.NaN;
  await runProgram(withPreload(program, reportPeak), (line) => {
    peak = Number(line);
  });
  return peak;
}
