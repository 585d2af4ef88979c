import * as core from "@actions/core";
import { forLog } from "../../src/runner-kit/untrusted.ts";

const annotations = { notice: core.notice, warning: core.warning, error: core.error };

export type Runner = typeof runner;

/** The log of the action's step, through `@actions/core`. */
export const runner = {
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
