/**
 * The only place that escapes untrusted text (from the service, a prompt, an input, a file) for the place that shows it.
 * Everything that is printed or written passes through here, including our own words.
 */

import { inertText } from "./inert-text.ts";
import type { Text } from "./text.ts";

/** How much of an untrusted part of a sentence is shown, so that the advice after it still fits. */
const partLimit = 1000;

/** The runner shows this many characters of an annotation. */
const annotationLimit = 4096;

/**
 * Control characters, other line ends, and what is invisible or reorders text; except what spelling needs at its place: direction marks,
 * one joiner after a letter or emoji, a selector of how a character looks, and the tags of a flag. Unicode: UTS 51, "Emoji Sequences".
 */
export const invisible =
  /(?![\t\n\r\u200e\u200f\u061c]|(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d](?![\u200c\u200d])|(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=[\p{Sm}\p{scx=Han}\p{scx=Mong}\p{scx=Mymr}])\p{VS}|(?<=\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6})[\u{e0030}-\u{e007a}]{0,6}\u{e007f})[\p{Cc}\p{Zl}\p{Zp}\p{DI}\ufff9-\ufffb]/gu;
const unprintable = new RegExp(`[\\t\\n\\r\\u200e\\u200f\\u061c]|${invisible.source}`, "gu");

/** Replaces such characters, except those in `keep`, by visible escapes such as `\u{202e}`. */
function visible(text: string, keep: "\t" | "\t\n"): string {
  return text
    .toWellFormed()
    .replace(unprintable, (character) =>
      keep.includes(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}

/** The runner reads `##[name]` as a command anywhere in a line, and `::name::` at the start of one. */
const commandMark = /##\[|^\s*::/;

function escapeCommands(line: string): string {
  return line.replaceAll("##[", "##\\[").replace(/^(\s*)::/, "$1\\::");
}

/** No log line needs more; untrusted text could fill the log otherwise. */
const lineLimit = 10_000;

/** Escapes a line for the log. `hasCommand`: before escaping, the runner would have found a command in it. */
export function forLog(text: string): { line: string; hasCommand: boolean } {
  const line = visible(excerpt(text, lineLimit), "\t");
  return { line: escapeCommands(line), hasCommand: commandMark.test(line) };
}

/** Escapes a sentence for an annotation: our own line ends stay; untrusted parts are shortened and on one line each. */
export function forAnnotation(text: Text): string {
  const parts = text.map((part) =>
    typeof part === "string" ? part : visible(excerpt(part.untrusted, partLimit), "\t"),
  );
  return excerpt(parts.join("").split("\n").map(escapeCommands).join("\n"), annotationLimit);
}

/** Escapes a text as one line of HTML, of `limit` UTF-16 units at most. GitHub still links in it: see {@link code}. */
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

/** Formats untrusted text as code in HTML, in which GitHub makes no mentions, references or links. */
export function code(text: string, limit?: number): string {
  return `<code>${forHtml(text, limit)}</code>`;
}

/** Formats a sentence as HTML, with untrusted parts as {@link code}; in italics if they are sentences, which are hard to read as code. */
export function textToHtml(text: Text): string {
  return text
    .map((part) => {
      if (typeof part === "string") return forHtml(part, part.length);
      return /^(?=.{60}).*\S\s+\S/s.test(part.untrusted) ? sentence(part.untrusted) : code(part.untrusted, partLimit);
    })
    .join("");
}

/** Formats untrusted text in italics, in which GitHub makes no mentions, references or links either. */
function sentence(text: string): string {
  const pieces = forHtml(text, partLimit).split(/(&#?\w+;)/);
  return `<i>${pieces.map((piece, index) => (index % 2 ? piece : inertText(piece))).join("")}</i>`;
}

/** Cuts a text to at most `limit` UTF-16 units, never in the middle of a character. */
export function excerpt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text
    .slice(0, limit - 1)
    .toWellFormed()
    .replace(/\ufffd$/, "")}…`;
}

/** Removes what is {@link invisible}, and carriage returns. */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll("\r", "").replace(invisible, "");
}
