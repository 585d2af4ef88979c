import { readLog } from "../../tools/commands.ts";
import type { AttemptRun } from "./simulate.ts";
import { key } from "./workflow.ts";

/** The key and the encodings in which it could leak. */
const keyEncodings = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];

/** Leaks no key, and lets no untrusted text become a command or markup. */
export function checkEscaping({ runner }: AttemptRun): string[] {
  const violations: string[] = [];
  const shown = [
    ...runner.events,
    ...Object.values(runner.outputs),
    runner.summary,
    ...runner.statements.map(({ text }) => text),
  ];
  if (shown.some((text) => keyEncodings.some((encoding) => text.includes(encoding))))
    violations.push("the key was leaked");
  const inCommands = runner.events.flatMap((event) => /^(?:group|debug) (.*)$/s.exec(event)?.[1] ?? []);
  const texts = [
    ...runner.lines,
    ...inCommands,
    ...runner.annotations.flatMap(({ title, text }) => [title, ...text.split("\n")]),
  ];
  for (const text of texts) {
    const lines = readLog(text);
    if (lines.length > 1 || lines.some(({ kind }) => kind === "command"))
      violations.push(`not a single line of plain text: ${text}`);
  }
  // The tests of quotations say what these let through.
  const unquoted = runner.summary.replace(/^>.*$/gm, "");
  if (/<(?!\/?(h2|p|b|i|ul|li|table|tr|td|details|summary|pre|code|a)\b)/.test(unquoted)) {
    violations.push("the summary contains untrusted markup");
  }
  if (/(?![\n\t])\p{Cc}|\u2028/u.test(runner.summary)) violations.push("the summary contains control characters");
  return violations;
}
