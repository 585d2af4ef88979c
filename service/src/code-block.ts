import { printable } from "../../src/runner-kit/untrusted.ts";

/** In characters. A fence may be as long as its text, and GitHub allows 65,536 for the body of a pull request. */
const defaultLength = 10_000;

/**
 * Returns untrusted text as a code block, in which GitHub renders no Markdown, notifies nobody who is mentioned, links nothing
 * and closes no issue. Nothing in the text can end the block. Characters that reorder or hide text are removed.
 *
 * @param maxTextLength - in characters; a longer text is truncated. Default: 10,000
 */
export function codeBlock(untrusted: string, maxTextLength = defaultLength): string {
  const all = printable(untrusted.replace(/\r\n?/g, "\n"));
  const text = all.length > maxTextLength ? `${all.slice(0, maxTextLength)}\n[truncated]` : all;
  const longest = (text.match(/`+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** A code block in the lines of a text. */
interface FoundBlock {
  text: string;
  /** The index of its last line. */
  end: number;
}

/** Returns the code block that begins at a line; `undefined` if there is none, or it has no end. */
export function readCodeBlock(lines: readonly string[], start: number): FoundBlock | undefined {
  const [, fence] = /^(`{3,})text$/.exec(lines[start] ?? "") ?? [];
  const end = fence === undefined ? -1 : lines.indexOf(fence, start + 1);
  return end === -1 ? undefined : { text: lines.slice(start + 1, end).join("\n"), end };
}
