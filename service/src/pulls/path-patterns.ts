import { mistakes, type PathPatterns, PatternError, readPatterns } from "../../../src/runner-kit/path-patterns.ts";

export type { PathPatterns };

const ownMistakes: typeof mistakes = [
  [/^\.\//, "begins with ./, as no path does"],
  ...mistakes,
  [/^#\s|\s#/, "has a comment: write that in a line of its own"],
];

/** @throws if a pattern can match no file because of a mistake */
export function checkPattern(pattern: string): void {
  const mistake = ownMistakes.find(([one]) => one.test(pattern.replace(/^!/, "")))?.[1];
  if (mistake !== undefined) throw new Error(`${JSON.stringify(pattern)} ${mistake}`);
}

/**
 * Reads the files that a change may have; see `readPatterns`.
 *
 * @throws with what is wrong with a pattern as the message
 */
export function readPathPatterns(patterns: readonly string[]): PathPatterns {
  try {
    return readPatterns(patterns);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new Error(`${JSON.stringify(patterns[error.index])} ${error.message}`);
  }
}
