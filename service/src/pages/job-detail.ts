import type { ListedJob, TurnWait } from "../model.ts";
import { type Html, html } from "./html.ts";
import type { PageStore } from "./page-store.ts";
import type { View } from "./view.ts";
import { time } from "./words.ts";

/** More about the status of a job than the store's lists have. */
export interface JobDetail {
  /** An active job whose turns all wait, or one that somebody stopped. Default: as its status says. */
  state?: "waiting" | "stopped" | undefined;
  /** Why it failed, or what it waits for. */
  reason?: string | Html | undefined;
}

/** Where they are read. */
export interface DetailStore {
  lists: Pick<PageStore["lists"], "latestTurns" | "turnExcerpt" | "openTurnsOf">;
}

/** In characters. */
const maxReason = 300;

/** What jobs wait for most of the time. */
export const freeAgent = "Waits for a free agent.";

/** Whether a turn failed because somebody stopped it. */
export const isStopped = (reason: string | null): boolean => reason?.startsWith("Stopped by ") === true;

/** What the page depends on besides the job: the reader, and what a job can wait for. */
export interface DetailOptions extends Pick<View, "zone"> {
  /** Returns whether the repository of a project cannot be used now. */
  isAway: (project: string) => boolean;
  /** What `openTurnsOf` says of the jobs that are shown with it. Default: it is asked. */
  open?: ReadonlyMap<string, TurnWait | "running">;
  /**
   * Why turns have ended, which never changes, by the turns' ids. SQLite reads all of a prompt to return the reason. Default: none
   * are known
   */
  reasons?: { get(turn: number): string | undefined; set(turn: number, reason: string): unknown };
}

/** Reads more about the status of a job. */
export async function readJobDetail(
  { lists }: DetailStore,
  {
    id,
    project,
    state,
    archivedAt,
    lastTurn,
  }: Pick<ListedJob, "id" | "project" | "state" | "archivedAt"> & Partial<Pick<ListedJob, "lastTurn">>,
  { zone, isAway, open, reasons = new Map() }: DetailOptions,
): Promise<JobDetail> {
  if (archivedAt !== null || state === "completed") return {};
  if (state === "active") {
    const turn = (open ?? (await lists.openTurnsOf([id]))).get(id);
    if (turn === "running") return {};
    const { waitReason, waitUntil } = turn ?? { waitReason: null, waitUntil: null };
    if (waitReason !== null)
      return {
        state: "waiting",
        reason: html`Waits${waitUntil !== null && html` until ${time(waitUntil, zone)}`}: ${waitReason}`,
      };
    const reason = isAway(project) ? "Waits for its repository, which cannot be used now." : freeAgent;
    return { state: "waiting", reason };
  }
  const turn = lastTurn ?? (await lists.latestTurns(id, 1))[0];
  if (turn === undefined) return {};
  const reason = reasons.get(turn) ?? (await lists.turnExcerpt(turn, maxReason))?.reason ?? "";
  reasons.set(turn, reason);
  return { state: isStopped(reason) ? "stopped" : undefined, reason: reason === "" ? undefined : reason };
}
