import { randomUUID } from "node:crypto";
import { statSync, truncateSync } from "node:fs";
import * as core from "@actions/core";

const annotations = { notice: core.notice, warning: core.warning, error: core.error };

/** What the runner offers a step, through `@actions/core`. Nothing is escaped here: see `runner-kit/untrusted.ts`. */
export type Toolkit = typeof runnerToolkit;

export const runnerToolkit = {
  /** Returns the raw value of an input; empty if it is not set. */
  input: (name: string): string => core.getInput(name, { trimWhitespace: false }),
  setOutput: (name: string, value: string): void =>
    appendOrRestore(process.env.GITHUB_OUTPUT, () => core.setOutput(name, value)),
  /** Makes the runner replace `secret` with `***` in the log. */
  mask: (secret: string): void => core.setSecret(secret),
  info: (line: string): void => core.info(line),
  /** Prints a line while workflow commands are stopped. */
  infoWithoutCommands: (line: string): void => {
    const token = randomUUID();
    try {
      core.info(`::stop-commands::${token}\n${line}`);
    } finally {
      core.info(`::${token}::`);
    }
  },
  debug: (line: string): void => core.debug(line),
  annotate: (level: keyof typeof annotations, title: string, text: string): void => annotations[level](text, { title }),
  startGroup: (title: string): void => core.startGroup(title),
  endGroup: (): void => core.endGroup(),
  /** Appends to the step's job summary. */
  writeSummary: async (markdown: string): Promise<void> => {
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
