import * as core from "@actions/core";
import { forLog } from "../../src/runner-kit/untrusted.ts";

const annotations = { notice: core.notice, warning: core.warning, error: core.error };

export type Runner = typeof runner;

/** The runner, through `@actions/core`. */
export const runner = {
  /** Returns the value of an input, without spaces around it; empty if it is not set. */
  input: (name: string): string => core.getInput(name),
  setOutput: (name: string, value: string): void => core.setOutput(name, value),
  /** Saves a value for `post`. */
  saveState: (name: string, value: string): void => core.saveState(name, value),
  /** Returns a value that `main` saved; empty if it did not. */
  state: (name: string): string => core.getState(name),
  /** Makes the runner replace `secret` with `***` in the log. */
  mask: (secret: string): void => core.setSecret(secret),
  /** Whether the run has step debug logging. */
  isDebug: (): boolean => core.isDebug(),
  /** Prints a line. It may be untrusted. */
  info: (line: string): void => core.info(forLog(line).line),
  /** @param text - escaped for an annotation */
  annotate: (level: "notice" | "warning" | "error", title: string, text: string): void =>
    annotations[level](text, { title }),
  /** Prints lines in a group, which is folded. They may be untrusted. */
  group: (title: string, lines: readonly string[]): void => {
    core.startGroup(title);
    for (const line of lines) core.info(forLog(line).line);
    core.endGroup();
  },
};
