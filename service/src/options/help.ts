import type { OptionHelp } from "./table.ts";

/** Where the texts of options begin. */
const column = 28;
const width = 132;

/** What `--help` prints for a command. */
export interface CommandHelp {
  /** The command lines, without the program. */
  usage: readonly string[];
  /** What the command does, in paragraphs. */
  about: readonly string[];
  options: Readonly<Record<string, OptionHelp>>;
  /** Paragraphs after the options. Default: none. */
  notes?: readonly string[] | undefined;
}

/** Returns the help of a command. */
export function formatHelp({ usage, about, options, notes = [] }: CommandHelp): string {
  const lines = usage.map((line, index) => `${index === 0 ? "Usage:" : "      "} npm run service -- ${line}`);
  const described = Object.entries(options).flatMap(([name, help]) => describe(name, help));
  const paragraphs = (texts: readonly string[]) => texts.map((text) => wrap(text, width).join("\n"));
  return `${[lines.join("\n"), ...paragraphs(about), described.join("\n"), ...paragraphs(notes)].join("\n\n")}\n`;
}

function describe(name: string, help: OptionHelp): string[] {
  return Object.entries(help).flatMap(([value, text]) => {
    const start = `  --${name} ${value}`.trimEnd();
    const [first = "", ...more] = wrap(text, width - column).map((line) => " ".repeat(column) + line);
    return start.length < column ? [start + first.slice(start.length), ...more] : [start, first, ...more];
  });
}

function wrap(text: string, columns: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (!line) lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
