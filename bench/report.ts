import { cpus } from "node:os";
import type { Sizes } from "./size.ts";
import type { StartUpRow } from "./start-up.ts";
import type { SteadyRow } from "./steady.ts";

export interface Measurements {
  /** A sentence about the machine, or empty. */
  note: string;
  rounds: number;
  startUp: StartUpRow[];
  steady: SteadyRow[];
  sizes: { action: Sizes; service: Sizes };
}

/** Renders the page that shows the report. */
export function renderPage(report: string): string {
  return `# Measured

\`npm run bench\` writes this page. [README.md](README.md) says what the numbers mean.

${report}`;
}

/** Renders the measurements as Markdown. */
export function renderReport({ note, rounds, startUp, steady, sizes }: Measurements): string {
  return `Measured with Node.js ${process.version.slice(1)} on ${process.platform} ${process.arch}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}).${note && ` ${note}`}

## Start-up and memory

Whole processes from start to exit, against a service on the same machine. Times and memory are relative to a bare
\`node -e 0\` in the same round: median of ${rounds} rounds, with the first and last decile. "To first request" is the time from the start to the first request to
the service, "to last" the time from there to the last one, "later" how much later than without a cache the first one is. CPU is that of all processes that a
step starts, also relative. Memory is the peak resident set size of the first one.

${table(
  [
    "process",
    "time / bare",
    "10 %–90 %",
    "CPU / bare",
    "median",
    "to first request",
    "later",
    "to last",
    "memory / bare",
    "memory",
  ],
  startUp.map((row) => [
    row.name,
    row.ratio.toFixed(2),
    row.spread.map((value) => value.toFixed(2)).join("–"),
    Number.isNaN(row.cpuRatio) ? "–" : row.cpuRatio.toFixed(2),
    `${row.medianMs.toFixed(0)} ms`,
    row.requests ? `${row.requests.firstMs.toFixed(0)} ms` : "–",
    row.delayMs === undefined ? "–" : `${row.delayMs.toFixed(0)} ms`,
    row.requests ? `${row.requests.restMs.toFixed(0)} ms` : "–",
    row.memoryRatio.toFixed(2),
    mebibytes(row.memoryKib),
  ]),
)}

One step that polls without pauses:

${table(
  ["polls", "heap after garbage collection", "resident set"],
  steady.map(({ polls, heapKib, residentKib }) => [count(polls), mebibytes(heapKib), mebibytes(residentKib)]),
)}

## Size

${renderSizes(sizes)}`;
}

/** Renders the sizes of both bundles. */
export function renderSizes({ action, service }: Measurements["sizes"]): string {
  return `${count(Math.round(action.totalBytes / 1000))} kB of JavaScript in \`dist\`. ${alwaysLoaded(action)} Contents of each file, without the code that the bundler adds:

${sizeTable(action)}

What runs an [agent](../service/docs/own-agent.md) has ${count(Math.round(service.totalBytes / 1000))} kB of its own in \`service/dist\`, which only a step with \`agent\` loads:

${sizeTable(service)}`;
}

function alwaysLoaded({ files }: Sizes): string {
  const always = files.filter(({ loaded }) => loaded === "always");
  const bytes = always.reduce((sum, file) => sum + file.bytes, 0);
  const ownBytes = always.reduce((sum, { packages }) => sum + (packages.get("") ?? 0), 0);
  return `Every step loads ${kilobytes(bytes)}, of which ${kilobytes(ownBytes)} are our own sources.`;
}

function sizeTable({ files }: Sizes): string {
  return table(
    ["file", "size", "loaded", "contents (kB)"],
    files
      .sort((one, other) => other.bytes - one.bytes)
      .map((file) => [file.name, kilobytes(file.bytes), file.loaded, contents(file.packages)]),
  );
}

function contents(packages: ReadonlyMap<string, number>): string {
  return [...packages]
    .sort(([, one], [, other]) => other - one)
    .map(
      ([name, bytes]) =>
        `${name === "" ? "our own sources" : `\`${name}\``} ${(bytes / 1000).toFixed(bytes < 9500 ? 1 : 0)}`,
    )
    .join(", ");
}

/** Renders a Markdown table. Columns of numbers are right-aligned. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const isNumeric = (column: number) => rows.every((cells) => /^[\d.]/.test(cells[column] ?? ""));
  const rule = head.map((_, column) => (isNumeric(column) ? "--:" : "---"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

const count = (value: number): string => value.toLocaleString("en-US");
const mebibytes = (kib: number): string => `${(kib / 1024).toFixed(1)} MiB`;
const kilobytes = (bytes: number): string => `${count(Math.round(bytes / 1000))} kB`;
