import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Agent } from "./agent.ts";

/** Words of the shell itself that a command may start with. */
const shellWords =
  /^(?:\.|:|break|case|cd|command|echo|eval|exec|exit|export|false|for|if|kill|printf|read|set|sleep|test|time|trap|true|ulimit|umask|until|wait|while)$/;

/** An absolute path or a name. Programs in other constructs, such as `( cd x; y )`, are known only to the shell. A relative path is one in the repository. */
const plainName = /^(?:\/[\w./+@-]+|[\w+-][\w.+-]*)$/;

/**
 * Checks that an agent's program is installed, so that its absence is noticed before the first job.
 *
 * @param path - the value of `PATH`
 * @throws if it is missing or not executable, with what to do
 */
export function checkPrograms({ programs, install }: Agent, path: string | undefined): void {
  for (const name of programs) {
    if (!plainName.test(name) || shellWords.test(name)) continue;
    const files = name.includes("/") ? [name] : (path ?? "").split(delimiter).map((folder) => join(folder, name));
    if (files.some(isExecutable)) continue;
    const found = files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
    if (found !== undefined) throw new Error(`the agent ${found} is not executable: run chmod +x ${found}`);
    const advice = install === undefined ? "install it, or change --agent" : `install it with ${install}`;
    throw new Error(`the agent ${name} was not found${name.includes("/") ? "" : " in PATH"}: ${advice}`);
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
