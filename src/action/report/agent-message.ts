import { code } from "../../runner-kit/untrusted.ts";
import { count } from "./format.ts";

/** How many lines are shown; the output has them all. */
const maxLines = 60;

/** Renders the agent's last message, which is untrusted, as a quotation in HTML, line by line; empty if there is none. */
export function quoteMessage(message: string): string {
  if (message === "") return "";
  const lines = message.split("\n");
  const shown = lines.slice(0, maxLines).map((line) => (line.trim() === "" ? "" : code(line, 1000)));
  if (lines.length > maxLines) shown.push(`and ${count(lines.length - maxLines, "more line")}`);
  return `<p>The agent's last message:</p>\n\n<blockquote>${shown.join("<br>")}</blockquote>`;
}
