import { globSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Measurement } from "./measurement.ts";

const names = globSync("*.ts", { cwd: import.meta.dirname })
  .map((file) => basename(file, ".ts"))
  .filter((name) => !["main", "measurement", "service-process", "agent-service", "scale", "year"].includes(name))
  .sort();

const help = `Usage: npm run bench [-- NAME...]

Measures the service: ${names.join(", ")}.
Without a name, measures all of them, which takes about ten minutes, and writes the table to service/README.md. Otherwise prints
only. Linux only.
`;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: "boolean" } } });
const unknown = positionals.find((name) => !names.includes(name));
if (values.help) process.stdout.write(help);
else if (unknown !== undefined) {
  process.stderr.write(`There is no measurement ${unknown}.\n\n${help}`);
  process.exitCode = 2;
} else await measureAll(positionals);

async function measureAll(chosen: readonly string[]): Promise<void> {
  const rows: Measurement[] = [];
  for (const name of chosen.length > 0 ? chosen : names) {
    process.stderr.write(`${name}\n`);
    const { measure } = (await import(`./${name}.ts`)) as { measure: () => Promise<Measurement[]> };
    rows.push(...(await measure()));
  }
  const text = render(rows);
  process.stdout.write(`${text}\n`);
  if (chosen.length === 0) write(text);
}

function render(rows: readonly Measurement[]): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `Measured on ${new Date().toISOString().slice(0, 10)} with Node.js ${process.version.slice(1)}, ${cpus().length} cores and ${memory} GiB of memory.

| what | before | now |
| --- | --- | --- |
${rows.map(({ what, before, now }) => `| ${what} | ${before} | ${now} |`).join("\n")}`;
}

function write(text: string): void {
  const [begin, end] = ["<!-- measured: npm run bench writes from here -->", "<!-- to here -->"];
  const file = resolve(import.meta.dirname, "../README.md");
  const [before, rest] = readFileSync(file, "utf8").split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${file} has no place for the measurements`);
  writeFileSync(file, `${before}${begin}\n\n${text}\n\n${end}${after}`);
}
