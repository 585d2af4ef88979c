import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type LogLine, readLog } from "../../tools/commands.ts";
import { runStep, type StepOptions, type StepResult } from "../../tools/runner.ts";

export interface Step extends StepResult {
  lines: LogLine[];
  /** The annotations that the runner would show, as `level title: text`. */
  annotations: string[];
}

/** On Windows, a signal ends a process immediately, so it cannot report anything. */
export const hasSignals = process.platform !== "win32";

/** Registers what ends something that a test started. Default: `onTestFinished`. */
export type Defer = (end: () => void | Promise<void>) => void;

/**
 * Creates a folder that is removed after the test. Its path has no links and no short names: the system's folder for temporary
 * files is a link on macOS, and has a short name on GitHub's runners of Windows.
 */
export function temporaryFolder(defer: Defer = onTestFinished): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), "agent-job-test-")));
  defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `dist/index.js` as the runner would. */
export async function step(
  inputs: Record<string, string>,
  options: Partial<Omit<StepOptions, "inputs">> = {},
): Promise<Step> {
  const result = await runStep({ folder: temporaryFolder(), ...options, inputs });
  const lines = readLog(result.log);
  return { ...result, lines, annotations: annotationsOf(lines) };
}

/** Returns the annotations in a log. */
export function annotationsOf(lines: readonly LogLine[]): string[] {
  return lines.flatMap((line) =>
    line.kind === "command" && ["notice", "warning", "error"].includes(line.name)
      ? [`${line.name} ${line.properties.title}: ${line.data}`]
      : [],
  );
}
