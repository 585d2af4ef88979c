import { readPacked } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import { namedTurns } from "../pulls/turn-trailers.ts";
import type { PageStore } from "./page-store.ts";

/**
 * Returns what is kept of a job and on no branch, as text that `git apply` takes; `undefined` if nothing is, or neither the store nor the clone has it.
 *
 * @throws if that cannot be read now
 */
export async function readKeptPatch(
  job: string,
  { turns, keptCommits }: Pick<PageStore, "keptCommits" | "turns">,
  clone: Pick<Repository, "lastCommitOf" | "packCommit"> | undefined,
): Promise<Uint8Array | undefined> {
  const all = await turns.ofJob(job);
  // What is older is published, or somebody has gone on from it.
  const kept = all.slice(all.findLastIndex((turn) => turn.kept !== "push" && turn.kept !== "unfinished") + 1);
  const indexOf = (message = ""): number => {
    const named = new Set(namedTurns(message).map(({ identity }) => identity));
    return kept.findLastIndex(({ identity }) => named.has(identity));
  };
  const inClone = indexOf((await clone?.lastCommitOf(job))?.message);
  const packed = await keptCommits?.load(job, { identity: kept.at(-1)?.identity ?? "" });
  const inStore = indexOf(packed && readPacked(packed)?.message);
  if (inStore > inClone) return packed;
  return inClone === -1 ? undefined : clone?.packCommit(job);
}
