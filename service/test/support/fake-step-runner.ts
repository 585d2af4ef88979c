import type { Runner } from "../../step/runner.ts";

export interface FakeStepRunner extends Runner {
  lines: string[];
  /** As `level title: text`. */
  annotations: string[];
  /** The lines of groups by their titles. */
  groups: Record<string, readonly string[]>;
}

/** Returns a runner that records everything that is printed. */
export function createFakeStepRunner(): FakeStepRunner {
  const lines: string[] = [];
  const annotations: string[] = [];
  const groups: Record<string, readonly string[]> = {};
  return {
    lines,
    annotations,
    groups,
    info: (line) => void lines.push(line),
    annotate: (level, title, text) => void annotations.push(`${level} ${title}: ${text}`),
    group: (title, content) => void Object.assign(groups, { [title]: content }),
  };
}
