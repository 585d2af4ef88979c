import { styleText } from "node:util";
import type { LogLine } from "./commands.ts";

type Format = Parameters<typeof styleText>[0];

const annotationFormats: Readonly<Record<string, Format>> = { error: "red", warning: "yellow", notice: "cyan" };

/** Renders a step's log for a terminal: groups indented, annotations in colour, masked values as `***`. */
export class TerminalRenderer {
  readonly #masks: string[] = [];
  #indent = "";

  /** The line as it is to be shown; `undefined` where nothing is. */
  render(line: LogLine): string | undefined {
    if (line.kind === "command" && line.name === "add-mask") this.#masks.push(line.data);
    if (line.kind === "command" && line.name === "endgroup") this.#indent = "";
    const shown = show(line)?.replaceAll(/^/gm, this.#indent);
    if (line.kind === "command" && line.name === "group") this.#indent = "  ";
    return shown && this.#masks.reduce((text, mask) => text.replaceAll(mask, "***"), shown);
  }
}

function show(line: LogLine): string | undefined {
  if (line.kind === "text") return line.text;
  const format = annotationFormats[line.name];
  if (format) return styleText(format, `${line.name}: ${line.properties.title ?? ""}\n${line.data}`);
  if (line.name === "group") return styleText("bold", `▼ ${line.data}`);
  // Lines of debug are shown by a runner only where step debug logging is on.
  return undefined;
}

/** A text without what a terminal would obey. */
export function visible(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The job summary, which is HTML, as text for a terminal. */
export function plainText(html: string): string {
  const text = html
    .replace(/<h[23]>(.*?)<\/h[23]>/g, (_match, title: string) => styleText("bold", title))
    .replace(/<a href="(.*?)">(.*?)<\/a>/g, "$2 ($1)")
    .replaceAll("<li>", "\n- ")
    .replace(/<\/t[dh]><t[dh][^>]*>/g, "  ")
    .replace(/<\/?[a-z][^>]*>/g, "")
    .replace(/\n{3,}/g, "\n\n");
  const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&#10;": "\n", "&amp;": "&" };
  return Object.entries(entities)
    .reduce((decoded, [entity, character]) => decoded.replaceAll(entity, character), text)
    .trim();
}
