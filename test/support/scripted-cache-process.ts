import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./step.ts";

export interface ScriptedCacheProcess {
  /** The file that the cache process runs. */
  program: string;
  /** Returns the arguments of each run. */
  runs(): string[];
}

/** Returns a cache process that runs a script, which has `fs`, `entry` (its file), `run` (counted from 1) and `reply`. */
export function scriptedCacheProcess(script: string): ScriptedCacheProcess {
  const folder = temporaryFolder();
  const program = join(folder, "program.cjs");
  const runs = join(folder, "runs");
  writeFileSync(runs, "");
  writeFileSync(
    program,
    `const fs = require("node:fs");
    const [, , , operation, key, entry] = process.argv;
    fs.appendFileSync(${JSON.stringify(runs)}, process.argv.slice(2).join(" ") + "\\n");
    const run = fs.readFileSync(${JSON.stringify(runs)}, "utf8").split("\\n").length - 1;
    const reply = (message) => process.send(message, () => process.disconnect());
    ${script}`,
  );
  return { program, runs: () => readFileSync(runs, "utf8").trimEnd().split("\n") };
}

/** Makes the process print these lines and say that it is done. */
export const printing = (...lines: string[]): string =>
  `process.stdout.write(${JSON.stringify(`${lines.join("\n")}\n`)}, () => reply({ isDone: true }));`;
