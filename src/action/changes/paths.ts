import { mistakes, type PathPatterns, PatternError, readPatterns } from "../../runner-kit/path-patterns.ts";

const ownMistakes: typeof mistakes = [
  [/^\.?\//, "begins with / or ./, as no path does"],
  [/\/$/, "ends with /, as no file does: add **"],
  ...mistakes,
  [/^#\s|\s#/, "has a comment, which is part of the pattern here"],
];

/** Parses the patterns of `paths`, one a line; see `readPatterns`. */
export function parsePaths(text: string): { value: PathPatterns | undefined } | { problem: string } {
  const lines = text.split(/\r?\n/).flatMap((line, index) => {
    const pattern = line.trim();
    return pattern === "" ? [] : [{ pattern, number: index + 1 }];
  });
  if (lines.length === 0) return { value: undefined };
  for (const { pattern, number } of lines) {
    const mistake = ownMistakes.find(([one]) => one.test(pattern.replace(/^!/, "")))?.[1];
    if (mistake !== undefined) return { problem: `has a pattern that matches no file: line ${number} ${mistake}` };
  }
  try {
    return { value: readPatterns(lines.map(({ pattern }) => pattern)) };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { problem: `has a pattern that cannot be read: line ${lines[error.index]?.number} ${error.message}` };
  }
}
