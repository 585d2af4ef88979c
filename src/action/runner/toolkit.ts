import { randomUUID } from "node:crypto";
import { statSync, truncateSync } from "node:fs";
import * as core from "@actions/core";

/** What the runner offers a step. Nothing is escaped here: see `report/untrusted.ts`. */
export interface Toolkit {
  /** Returns the raw value of an input; empty if it is not set. */
  input(name: string): string;
  setOutput(name: string, value: string): void;
  /** Makes the runner replace `secret` with `***` in the log. */
  mask(secret: string): void;
  info(line: string): void;
  /** Prints a line while workflow commands are stopped. */
  infoWithoutCommands(line: string): void;
  debug(line: string): void;
  annotate(level: "notice" | "warning" | "error", title: string, text: string): void;
  startGroup(title: string): void;
  endGroup(): void;
  /** Appends to the step's job summary. */
  writeSummary(markdown: string): Promise<void>;
}

const annotations = { notice: core.notice, warning: core.warning, error: core.error };

/** The real runner, through `@actions/core`. */
export const runnerToolkit: Toolkit = {
  input: (name) => core.getInput(name, { trimWhitespace: false }),
  setOutput: (name, value) => appendOrRestore(process.env.GITHUB_OUTPUT, () => core.setOutput(name, value)),
  mask: (secret) => core.setSecret(secret),
  info: (line) => core.info(line),
  infoWithoutCommands: (line) => {
    const token = randomUUID();
    try {
      core.info(`::stop-commands::${token}\n${line}`);
    } finally {
      core.info(`::${token}::`);
    }
  },
  debug: (line) => core.debug(line),
  annotate: (level, title, text) => annotations[level](text, { title }),
  startGroup: (title) => core.startGroup(title),
  endGroup: () => core.endGroup(),
  writeSummary: async (markdown) => {
    await core.summary.addRaw(markdown, true).write();
  },
};

/** Appends to a file, or restores it: the runner would reject all outputs if one were cut off by a full disk. */
function appendOrRestore(file: string | undefined, append: () => void): void {
  const size = file ? statSync(file, { throwIfNoEntry: false })?.size : undefined;
  try {
    append();
  } catch (error) {
    if (file && size !== undefined) truncateSync(file, size);
    throw error;
  }
}
