import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The first version with `git merge-tree --write-tree --stdin`. */
const minVersion = [2, 39] as const;

/** The values of `PATH` whose Git is new enough. */
const checkedPaths = new Set<string | undefined>();

/** Checks once that Git is new enough to merge many commits at once. @throws with what to do as the message */
export async function checkGit(): Promise<void> {
  const { PATH } = process.env;
  if (checkedPaths.has(PATH)) return;
  const { stdout } = await promisify(execFile)("git", ["--version"]).catch(() => ({ stdout: "" }));
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  if (major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])) {
    const found = stdout === "" ? "Git was not found in PATH" : `The machine has ${stdout.trim()}`;
    throw new Error(`${found}. The agent service needs Git ${minVersion.join(".")} or newer`);
  }
  checkedPaths.add(PATH);
}
