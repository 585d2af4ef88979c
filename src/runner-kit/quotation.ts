import { inertText, withoutMarks } from "./inert-text.ts";
import { printable } from "./untrusted.ts";

/** In characters, of a text. */
const maxLength = 10_000;
/** In characters, of its quotation: GitHub allows 65,536 for the body of a pull request. */
const maxQuoted = 20_000;
/** In spaces, of an item of a list in a list. */
const maxIndent = 8;
const truncated = "[truncated]";

/** Code in a line; and what could begin a link, an image, HTML, an entity, a formula or other code. Stars stay: they only emphasize. */
const inline = /(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|[\\`[\]<&~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\$/gu;
const dollar = "<span>$</span>";
/** What makes a heading or a table of the line before. */
const underline = /^(?=[-=:|][-=:|\s]*$)/;
/** What begins another block after the mark of an item, or a quotation. A page shows only some of them in each other. */
const block = /^(?=[-+*](?:\s|$)|[>#])|(?<=^\d{1,9})(?=[.)](?:\s|$))/;
const fence = /^\s*(?:(`{3,})[^`]*|(~{3,}).*)$/;

/**
 * Returns untrusted text as a quotation in Markdown, which shows its paragraphs, lists, emphasis and code. Nothing in it is a link, an image or
 * HTML, notifies anybody or ends the quotation. Neither has it an effect in a commit message: a squash takes the body of a pull request for one.
 *
 * @param maxLines - a longer text is truncated, as is one of more than 10,000 characters. Default: no limit
 */
export function quote(untrusted: string, maxLines = maxLength): string {
  const all = printable(untrusted.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")).trim();
  const head = all.split("\n", maxLines).join("\n");
  for (let length = maxLength; ; length = Math.floor(length / 2)) {
    const text = head.slice(0, length).toWellFormed();
    const lines = quotedLines(inertText(text));
    if (text.length < all.length) lines.push("", escaped(truncated));
    const quoted = lines.join("\n").trim().replace(/^/gm, "> ").replace(/^> $/gm, ">");
    if (quoted.length <= maxQuoted) return quoted;
  }
}

const escaped = (text: string): string =>
  text.replace(inline, (found, ticks?: string) => (ticks ? found : found === "$" ? dollar : `\\${found}`));

function quotedLines(text: string): string[] {
  const lines: { text: string; isCode: boolean }[] = [];
  let [opened, isInList] = ["", false];
  for (const line of text.split("\n")) {
    const [, ticks, mark = ticks ?? ""] = fence.exec(line) ?? [];
    const isEnd = opened !== "" && mark.startsWith(opened) && line.trim() === mark;
    if (isEnd || (opened === "" && mark !== "")) {
      opened = isEnd ? "" : mark;
      continue;
    }
    // A table is as wide as its lines.
    const isCode = opened !== "" || /^\s*\|/.test(line);
    const [, space = "", item = "", rest = ""] = /^(\s*)((?:[-+*]|\d{1,9}[.)])\s+(?=\S))?(.*)$/.exec(line) ?? [];
    const indent = isInList ? space.replaceAll("\t", "    ").slice(0, maxIndent) : "";
    if (!isCode && rest !== "") isInList = item !== "" || indent !== "";
    const shown = isCode ? line : indent + item + (item === "" ? paragraph(rest) : begun(rest));
    lines.push({ isCode, text: shown.trimEnd() });
  }
  const runs = lines.flatMap(({ isCode, text: own }) => (isCode ? [...own.matchAll(/`+/g)] : []));
  const own = "`".repeat(runs.reduce((most, [{ length }]) => Math.max(most, length), 2) + 1);
  return lines.flatMap(({ text: shown, isCode }, index) => {
    const [before, next] = [lines[index - 1], lines[index + 1]];
    if (isCode) return [...(before?.isCode ? [] : [own]), shown, ...(next?.isCode ? [] : [own])];
    // Pages differ in whether a new line is one.
    return next?.text && !next.isCode && shown !== "" ? `${shown}  ` : shown;
  });
}

/** Returns a line with a title as bold text. */
function paragraph(line: string): string {
  const [, title] = /^#{1,6}\s+([^#\s].*)$/.exec(line) ?? [];
  return title === undefined ? begun(line) : `**${escaped(title)}**`;
}

const begun = (text: string): string => escaped(text).replace(underline, "\\").replace(block, "\\");

/** Returns the text of the quotation that begins at a line, nearly as it was, and the index of its last line; `undefined` if there is none. */
export function unquote(lines: readonly string[], start: number): { text: string; end: number } | undefined {
  let end = start;
  let opened: string | undefined;
  const text: string[] = [];
  for (; lines[end]?.startsWith(">"); end++) {
    const line = lines[end]?.replace(/^> ?/, "") ?? "";
    const isFence = opened === undefined ? /^`{3,}$/.test(line) : line === opened;
    if (isFence) opened = opened === undefined ? line : undefined;
    text.push(isFence || opened !== undefined ? line : unescaped(line.trimEnd()));
  }
  return end === start ? undefined : { text: withoutMarks(text.join("\n")), end: end - 1 };
}

const unescaped = (line: string): string =>
  line.replace(
    /\\([!-/:-@[-`{-~])|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)|<span>\$<\/span>/g,
    (found, character?: string) => character ?? (found === dollar ? "$" : found),
  );
