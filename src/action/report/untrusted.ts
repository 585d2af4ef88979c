/**
 * The one place where text from outside (the service, a prompt, an input, a file) is made harmless for where it goes.
 * Everything that is printed or written passes through here at the gate, whoever wrote it.
 */

import type { Text } from "./text.ts";

/** The runner shows this much of an annotation. */
const annotationLimit = 4096;

/** Control characters, line separators, marks that reorder text, and the invisible byte order mark. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** A text on one line, or on several where `keep` lets line feeds pass, with nothing in it but what can be seen. */
function visible(text: string, keep: "\t" | "\t\n"): string {
  return text
    .toWellFormed()
    .replace(unprintable, (character) =>
      keep.includes(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

/** The runner takes `##[name]` for a command anywhere in a line, and `::name::` where a line begins with it. */
const commandMark = /##\[|^[\s\u200b]*::/m;

function withoutCommandMarks(text: string): string {
  return text.replaceAll("##[", "##\\[").replace(/^([\s\u200b]*)::/gm, "$1\\::");
}

/** A line for the log. `isSuspect`: there was something in it that reads like a command to the runner. */
export function forLog(text: string): { line: string; isSuspect: boolean } {
  const line = visible(text, "\t");
  return { line: withoutCommandMarks(line), isSuspect: commandMark.test(line) };
}

/** A text for an annotation, which may have several lines. */
export function forAnnotation(text: string): string {
  return excerpt(withoutCommandMarks(visible(text, "\t\n")), annotationLimit);
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
  return excerpt(visible(text.replaceAll("\r\n", "\n"), "\t\n"), limit).replace(
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
    .map((part) => (typeof part === "string" ? forHtml(part, part.length) : code(part.outside, 1000)))
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
