import { readFileSync } from "node:fs";
import type { Random } from "../../service/test/chaos/random.ts";

/** When a process is ended: some time after its start, or after a point of one of its requests, which count from 1. */
export type Moment = { kind: "time"; delayMs: number } | { kind: "point"; n: number; delayMs: number };

const latestMs = 3000;
const latestPoint = 24;

/**
 * Draws a moment: most are close to a request, where it matters.
 *
 * @param bias - 1 for each of the first requests alike; more prefers the earliest, because later ones are polls
 */
export function drawMoment(random: Random, bias = 2): Moment {
  if (random.next() < 0.25) return { kind: "time", delayMs: random.between(0, latestMs) };
  const delayMs = random.next() < 0.5 ? 0 : random.between(0, 100);
  return { kind: "point", n: 1 + Math.floor(random.next() ** bias * latestPoint), delayMs };
}

/** Formats a moment for a report. */
export function formatMoment(moment: Moment | undefined): string {
  if (moment === undefined) return "not ended";
  const delay = `${Math.round(moment.delayMs)} ms after`;
  return moment.kind === "time" ? `${delay} its start` : `${delay} point ${moment.n}`;
}

/** Waits for a moment, then acts once. */
export class MomentWatch {
  #points = 0;
  #moment: Moment | undefined;
  #act: () => void = () => {};

  /** Begins to watch for a moment, from the start of a process. */
  begin(moment: Moment | undefined, act: () => void): void {
    this.#points = 0;
    this.#moment = moment;
    this.#act = act;
    if (moment?.kind === "time") setTimeout(act, moment.delayMs);
  }

  /** Counts a point of a request. */
  readonly pass = (): void => {
    const moment = this.#moment;
    if (moment?.kind !== "point" || ++this.#points !== moment.n) return;
    if (moment.delayMs === 0) this.#act();
    else setTimeout(this.#act, moment.delayMs);
  };
}

/**
 * Kills a process as a lost machine does: with the processes that it started, which `kill -9` of it alone leaves running. On
 * systems without `/proc`, only the process.
 */
export function killTree(id: number): void {
  const children = readChildren(id);
  kill(id);
  for (const child of children) killTree(child);
}

function readChildren(id: number): number[] {
  try {
    return readFileSync(`/proc/${id}/task/${id}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended.
  }
}
