import { cpus } from "node:os";
import { hourlyLimit } from "../src/service/http/rate-limiter.ts";
import { calm, crowded, type FleetResult, jobSeconds } from "./fleet.ts";
import { longestSeconds, medianSeconds, percentile95Seconds } from "./job-lengths.ts";
import { better, type NoticeResult, type NoticeRow, tempting } from "./notice.ts";
import type { Sizes } from "./size.ts";
import type { StartUpRow } from "./start-up.ts";
import type { SteadyRow } from "./steady.ts";

export interface Measurements {
  rounds: number;
  startUp: StartUpRow[];
  steady: SteadyRow[];
  sizes: Sizes;
  notice: NoticeResult;
  fleet: FleetResult;
}

/** All that was measured, as Markdown. */
export function renderReport({ rounds, startUp, steady, sizes, notice, fleet }: Measurements): string {
  return `Measured with Node ${process.version.slice(1)} on ${process.platform} ${process.arch}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}).

### Start-up and memory

Whole processes from start to exit, against a service on the same machine, as multiples of a bare \`node -e 0\` that was
started in the same round: median of ${rounds} rounds, with the first and last decile. Memory is the peak resident set.

${table(
  ["process", "time / bare", "10 %–90 %", "median", "memory / bare", "memory"],
  startUp.map((row) => [
    row.name,
    row.ratio.toFixed(2),
    row.spread.map((value) => value.toFixed(2)).join("–"),
    `${row.medianMs.toFixed(0)} ms`,
    row.memoryRatio.toFixed(2),
    mebibytes(row.memoryKib),
  ]),
)}

One step that polls without a pause:

${table(
  ["polls", "alive after a collection", "resident set"],
  steady.map(({ polls, heapKib, residentKib }) => [count(polls), mebibytes(heapKib), mebibytes(residentKib)]),
)}

### Size

${count(Math.round(sizes.totalBytes / 1000))} kB of JavaScript in \`dist\`. What is in each file, before the bundler adds its own lines:

${table(
  ["file", "size", "loaded", "holds (kB)"],
  sizes.files
    .sort((one, other) => other.bytes - one.bytes)
    .map((file) => [
      file.name,
      kilobytes(file.bytes),
      file.isForGitHub ? "for a comment that is heeded" : "always",
      contents(file.packages),
    ]),
)}

### Notice and load

${count(notice.jobs)} jobs whose lengths are log-normal with a median of ${medianSeconds / 60} min and a 95th percentile of ${percentile95Seconds / 60} min, cut at ${longestSeconds / 3600} h. Lateness is
how long after its end a job is known to have ended. The product is mean lateness × mean polls over the least that any
schedule can reach, ½(∫√(f·S) dt)² = ${notice.bound.toFixed(0)} s. The peak is of 1,000 jobs that start together.

![Lateness against requests, by schedule](images/notice.svg)

${noticeTable([notice.ours, ...notice.others])}

${front(notice)}

### Many at once

${fleet.processes} processes of \`dist/index.js\`, started together with the default intervals, against the service with its hourly limit of ${hourlyLimit}
jobs a project: ${crowded.processes} of them for one project, ${calm.processes} for another. Jobs take ${jobSeconds} s. ${fleet.withPullRequest} ended with a pull request, each with a job
of its own; ${fleet.turnedAway} were turned away by the limit, and said that no job was started. The service counted ${fleet.jobs} jobs. In the
busiest second there were ${Math.max(...fleet.perSecond)} requests.

![Requests per second](images/fleet.svg)
${fleet.faults.map((fault) => `\n**Fault:** ${fault}\n`).join("")}`;
}

/** What a reader must know of the candidates: whether one is better, and what the tempting ones cost. */
function front(notice: NoticeResult): string {
  const winners = better(notice);
  const verdict =
    winners.length === 0
      ? `Of ${notice.candidates.length} other schedules that can be said in one sentence (shares, roots and first delays, with other limits; the grey
dots), none is as good as ours in every measure but the peak, and better in one. Those that come nearest, with fewer
requests and no greater 95th percentile of the share, pay for it in lateness:`
      : `Better than ours, by these measures: ${winners.map(({ name }) => name).join("; ")}. Those that come nearest:`;
  return `${verdict}\n\n${noticeTable([notice.ours, ...tempting(notice)])}`;
}

function noticeTable(rows: readonly NoticeRow[]): string {
  return table(
    [
      "schedule",
      "requests per job",
      "lateness: mean",
      "95 %",
      "share of length: mean",
      "95 %",
      "product / least",
      "peak",
    ],
    rows.map((row) => [
      row.name,
      row.requests.toFixed(1),
      `${row.meanLateness.toFixed(1)} s`,
      `${row.lateness95.toFixed(1)} s`,
      percent(row.meanShare),
      percent(row.share95),
      row.overBound.toFixed(2),
      `${row.peakPerSecond}/s`,
    ]),
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

/** Columns of figures are set to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const isFigures = (column: number) => rows.every((cells) => /^[\d.]/.test(cells[column] ?? ""));
  const rule = head.map((_, column) => (isFigures(column) ? "--:" : "---"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

const count = (value: number): string => value.toLocaleString("en-US");
const mebibytes = (kib: number): string => `${(kib / 1024).toFixed(1)} MiB`;
const kilobytes = (bytes: number): string => `${count(Math.round(bytes / 1000))} kB`;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
