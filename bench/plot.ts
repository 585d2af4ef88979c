import type { FleetResult } from "./fleet.ts";
import type { LatenessResult, LatenessRow } from "./lateness.ts";

const width = 720;
const height = 400;
const frame = { left: 64, right: 24, top: 44, bottom: 52 };

/** Colours with enough contrast on GitHub's light and dark backgrounds, since an image cannot tell which one it is on. */
const colours = { text: "#7d8590", grid: "#7d859040", quiet: "#7d859070", peer: "#d29922", ours: "#2f81f7" };

/** Plots the lateness of every schedule over its requests, on logarithmic scales. */
export function plotLateness({ ours, others, candidates }: LatenessResult): string {
  const rows = [ours, ...others, ...candidates];
  const x = logarithmic(rows.map(requests), [frame.left, width - frame.right]);
  const y = logarithmic(rows.map(share), [height - frame.bottom, frame.top]);
  const dot = (row: LatenessRow, radius: number, colour: string) =>
    `<circle cx="${x(requests(row))}" cy="${y(share(row))}" r="${radius}" fill="${colour}"/>`;
  const label = (row: LatenessRow, colour: string, { below = 0, weight = "normal" } = {}) =>
    `<text x="${x(requests(row)) + 9}" y="${y(share(row)) - 7 + below}" fill="${colour}" font-weight="${weight}">${row.name}</text>`;
  return svg("Lateness and requests per job, by schedule", [
    ...[10, 20, 50, 100].map((value) => vertical(x(value), String(value))),
    ...[0.05, 0.1, 0.2, 0.5, 1].map((value) => horizontal(y(value), `${value * 100} %`)),
    caption(width / 2, height - 12, "requests per job (fewer is better)"),
    caption(
      frame.left,
      frame.top - 20,
      "95th percentile of lateness, as a share of the job's length (lower is better)",
      "start",
    ),
    ...candidates.map((row) => dot(row, 2.5, colours.quiet)),
    ...others.flatMap((row) => [
      dot(row, 5, colours.peer),
      label(row, colours.peer, { below: row.name.startsWith("doubling") ? 24 : 0 }),
    ]),
    dot(ours, 7, colours.ours),
    label(ours, colours.ours, { weight: "bold" }),
  ]);
}

/** Plots the requests per second of the fleet. */
export function plotFleet({ perSecond, processes }: FleetResult): string {
  const max = Math.ceil(Math.max(...perSecond) / 10) * 10;
  const step = (width - frame.left - frame.right) / perSecond.length;
  const y = (value: number) => round(height - frame.bottom - (value / max) * (height - frame.bottom - frame.top));
  const bars = perSecond.map((count, second) => {
    const left = round(frame.left + second * step);
    return `<rect x="${left}" y="${y(count)}" width="${round(step * 0.8)}" height="${round(y(0) - y(count))}" fill="${colours.ours}"/>`;
  });
  const seconds = perSecond.map((_, second) => second).filter((second) => second % 10 === 0);
  return svg(`Requests per second of ${processes} steps that start together`, [
    ...[0, max / 2, max].map((value) => horizontal(y(value), String(value))),
    ...seconds.map((second) => caption(frame.left + second * step, height - frame.bottom + 18, String(second))),
    caption(width / 2, height - 12, "seconds since the first request"),
    caption(frame.left, frame.top - 20, "requests per second", "start"),
    ...bars,
  ]);
}

const requests = (row: LatenessRow): number => row.requests;
const share = (row: LatenessRow): number => row.share95;
const round = (value: number): number => Math.round(value * 10) / 10;

function logarithmic(values: readonly number[], [from, to]: [number, number]): (value: number) => number {
  const min = Math.log(Math.min(...values) / 1.15);
  const max = Math.log(Math.max(...values) * 1.35);
  return (value) => round(from + ((Math.log(value) - min) / (max - min)) * (to - from));
}

function vertical(x: number, text: string): string {
  const line = `<line x1="${x}" y1="${frame.top}" x2="${x}" y2="${height - frame.bottom}" stroke="${colours.grid}"/>`;
  return line + caption(x, height - frame.bottom + 18, text);
}

function horizontal(y: number, text: string): string {
  const line = `<line x1="${frame.left}" y1="${y}" x2="${width - frame.right}" y2="${y}" stroke="${colours.grid}"/>`;
  return line + caption(frame.left - 8, y + 4, text, "end");
}

function caption(x: number, y: number, text: string, anchor = "middle"): string {
  return `<text x="${round(x)}" y="${y}" fill="${colours.text}" text-anchor="${anchor}">${text}</text>`;
}

function svg(title: string, parts: readonly string[]): string {
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="13">`;
  return `${[open, `<title>${title}</title>`, ...parts, "</svg>"].join("\n")}\n`;
}
