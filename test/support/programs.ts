import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { temporaryFolder } from "./step.ts";

/** Returns a folder with programs, to be a `PATH`: shell scripts, and links to programs of the machine. */
export function programs(scripts: Readonly<Record<string, string>>, links: readonly string[] = []): string {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  for (const name of links) symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(folder, name));
  return folder;
}

/** Returns a `PATH` in which the programs of a folder come first. */
export function pathWith(folder: string): string {
  return [folder, process.env.PATH].join(delimiter);
}
