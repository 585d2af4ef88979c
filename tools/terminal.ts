import { styleText } from "node:util";
import type { LogLine } from "./commands.ts";

type Format = Parameters<typeof styleText>[0];

const annotationFormats: Readonly<Record<string, Format>> = { error: "red", warning: "yellow", notice: "cyan" };

/** Renders a step's log for a terminal: groups indented, annotations in colour, masked values as `***`. */
export class TerminalRenderer {
  readonly #masks: string[] = [];
  #indent = "";

  /** Returns the line as text, or `undefined` if nothing is shown for it. */
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
  // The runner shows debug lines only if step debug logging is enabled.
  return undefined;
}

/** Escapes control characters, which a terminal would interpret. */
export function visible(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Converts the job summary from HTML to text for a terminal. */
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
