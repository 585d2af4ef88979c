import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { say, trusted } from "../../../src/runner-kit/text.ts";
import { SetupError } from "./setup-error.ts";

/** The names of the runner's operating systems. */
const systems: Partial<Record<NodeJS.Platform, string>> = { darwin: "macOS", win32: "Windows" };

/** The first version with `git merge-tree --write-tree --stdin`. */
const minGit = [2, 39] as const;

/** @throws SetupError unless this is Linux */
export function checkPlatform(platform: NodeJS.Platform): void {
  if (platform === "linux") return;
  throw new SetupError(
    "The runner is not Linux",
    say`The agent service does not run on ${trusted(systems[platform] ?? platform)}: it needs bubblewrap and the namespaces of Linux for the agent's sandbox. Set \`runs-on: ubuntu-latest\` for this job. Nothing was started.`,
  );
}

/** @throws SetupError unless Git is installed in a version that the service can use */
export async function checkGit(): Promise<void> {
  const { stdout } = await promisify(execFile)("git", ["--version"]).catch(() => ({ stdout: "" }));
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  if (major > minGit[0] || (major === minGit[0] && minor >= minGit[1])) return;
  const found = stdout === "" ? say`Git was not found in PATH` : say`The runner has ${stdout.trim()}`;
  throw new SetupError(
    "Git is missing or too old",
    say`${found}. The agent service needs Git ${trusted(minGit.join("."))} or newer: install it in a step before this one. Nothing was started.`,
  );
}
