import type { ListedJob } from "../model.ts";
import type { PageStore } from "./page-store.ts";

/** More about the status of a job than the store's lists have. */
export interface JobDetail {
  /** An active job whose turns all wait, or one that somebody stopped. Default: as its status says. */
  state?: "waiting" | "stopped" | undefined;
  /** Why it failed. */
  reason?: string | undefined;
}

/** Where they are read. */
export interface DetailStore {
  jobs: Pick<PageStore["jobs"], "progress">;
  lists: Pick<PageStore["lists"], "latestTurns" | "turnExcerpt">;
}

/** In characters. */
const maxReason = 300;

/** Whether a turn failed because somebody stopped it. */
export const isStopped = (reason: string | null): boolean => reason?.startsWith("Stopped by ") === true;

/**
 * Reads more about the status of a job.
 *
 * @param reasons - why turns have ended, which never changes, by the turns' ids. SQLite reads all of a prompt to return
 *   the reason. Default: none are known
 */
export async function readJobDetail(
  { jobs, lists }: DetailStore,
  { id, state, archivedAt }: Pick<ListedJob, "id" | "state" | "archivedAt">,
  reasons: { get(turn: number): string | undefined; set(turn: number, reason: string): unknown } = new Map(),
): Promise<JobDetail> {
  if (archivedAt !== null || state === "completed") return {};
  if (state === "active") return (await jobs.progress(id))?.running === null ? { state: "waiting" } : {};
  const [turn] = await lists.latestTurns(id, 1);
  if (turn === undefined) return {};
  const reason = reasons.get(turn) ?? (await lists.turnExcerpt(turn, maxReason))?.reason ?? "";
  reasons.set(turn, reason);
  return { state: isStopped(reason) ? "stopped" : undefined, reason: reason === "" ? undefined : reason };
}
