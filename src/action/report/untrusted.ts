/**
 * The one place where text from outside (the service, a prompt, an input, a file) is made harmless for where it goes.
 * Everything that is printed or written passes through here at the gate, whoever wrote it.
 */

import type { Text } from "./text.ts";

/** Of outside text in the midst of ours, this much is shown: what to do must still fit behind it. */
const partLimit = 1000;

/** The runner shows this much of an annotation. */
const annotationLimit = 4096;

/** Control characters, ends of lines, and what is invisible or reorders text; but for the joiner that emoji need. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu;

/** A text in which all can be seen that is there; of the characters above, those in `keep` pass. */
function visible(text: string, keep: "\t" | "\t\n"): string {
  return text
    .toWellFormed()
    .replace(unprintable, (character) =>
      keep.includes(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}

/** The runner takes `##[name]` for a command anywhere in a line, and `::name::` where a line begins with it. */
const commandMark = /##\[|^\s*::/;

function withoutCommandMarks(line: string): string {
  return line.replaceAll("##[", "##\\[").replace(/^(\s*)::/, "$1\\::");
}

/** No line of the log needs more; outside text could fill it otherwise. */
const lineLimit = 10_000;

/** A line for the log. `isSuspect`: there was something in it that reads like a command to the runner. */
export function forLog(text: string): { line: string; isSuspect: boolean } {
  const line = visible(excerpt(text, lineLimit), "\t");
  return { line: withoutCommandMarks(line), isSuspect: commandMark.test(line) };
}

/** A sentence for an annotation: its own line ends stay, outside parts are each on one line and no longer than need be. */
export function forAnnotation(text: Text): string {
  const parts = text.map((part) => (typeof part === "string" ? part : visible(excerpt(part.outside, partLimit), "\t")));
  return excerpt(parts.join("").split("\n").map(withoutCommandMarks).join("\n"), annotationLimit);
}

/**
 * A text as HTML that stands for nothing but itself, on one line: no markup, no Markdown (inside a block of HTML
 * there is none), no end of that block. For mentions and addresses that GitHub would turn into links, see {@link code}.
 *
 * @param limit - characters of the text at most
 */
export function forHtml(text: string, limit = 300): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
    "\n": "&#10;",
  };
  return visible(excerpt(text.replaceAll("\r\n", "\n"), limit), "\t\n").replace(
    /[&<>"'\n]/g,
    (character) => entities[character] ?? "",
  );
}

/** Outside text as code in HTML, where GitHub makes no mention, reference or link of it. */
export function code(text: string, limit?: number): string {
  return `<code>${forHtml(text, limit)}</code>`;
}

/** A sentence as HTML: our own words as they are, what came from outside as {@link code}. */
export function sentence(text: Text): string {
  return text
    .map((part) => (typeof part === "string" ? forHtml(part, part.length) : code(part.outside, partLimit)))
    .join("");
}

/** The first `limit` UTF-16 units of a text at most, never half a character. */
export function excerpt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text
    .slice(0, limit - 1)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}
