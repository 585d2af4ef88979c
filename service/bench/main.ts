import { globSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Measurement } from "./measurement.ts";

const others = ["main", "measurement", "service-process", "agent-service", "scale", "postgres", "year"];
const names = globSync("*.ts", { cwd: import.meta.dirname })
  .map((file) => basename(file, ".ts"))
  .filter((name) => !others.includes(name))
  .sort();

const help = `Usage: npm run bench [-- NAME...]

Measures the service: ${names.join(", ")}.
Without a name, measures all of them, which takes about ten minutes, and writes service/bench/results.md. Otherwise prints only.
Linux only.
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
  const page = `# The service under load

\`npm run bench\` writes this page. "Before" is November 2026, before the service was made to hold under load, on the same kind of
machine.

${text}
`;
  writeFileSync(resolve(import.meta.dirname, "results.md"), page);
}
