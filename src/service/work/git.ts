import { spawn } from "node:child_process";

export interface GitOptions {
  /** Where it runs; for a bare repository, its folder. */
  cwd: string;
  environment?: Readonly<Record<string, string>>;
  /** Written to its stdin. */
  input?: string;
}

/** A Git command that failed, with what it printed. */
export class GitError extends Error {
  constructor(args: readonly string[], exitCode: number | null, printed: string) {
    super(`git ${args[0]} ended with ${exitCode}: ${printed.trim()}`);
  }
}

/** No hook or file monitor of the repository is run, paths are printed as they are, and nothing is tidied up on the side. */
const settings = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "gc.auto=0"].flatMap(
  (setting) => ["-c", setting],
);

/**
 * Runs Git without a shell, and gives what it printed to stdout. Values from outside stand behind `--` or in stdin.
 *
 * @throws GitError where it does not end with 0
 */
export async function git(args: readonly string[], { cwd, environment = {}, input }: GitOptions): Promise<string> {
  const child = spawn("git", [...settings, ...args], {
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, GIT_TERMINAL_PROMPT: "0", LC_ALL: "C", ...environment },
  });
  // Git may end without reading its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input ?? "");
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
  });
  const exitCode = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("close", done);
  });
  if (exitCode !== 0) throw new GitError(args, exitCode, printed.stderr);
  return printed.stdout;
}
