import { errorMessage } from "../error-message.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { RunningTurn, StoredTurn, Turn } from "../model.ts";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import type { KeptCommits } from "../store/kept-commits.ts";
import { KeptUnreadable, LeaseLost } from "../store-errors.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import { isForSecret } from "./refusal.ts";
import type { TurnPorts } from "./turn-ports.ts";

interface KeepPorts {
  repository: Pick<Repository, "packCommit">;
  keptCommits?: KeptCommits | undefined;
  log: (text: string) => void;
}

/**
 * Stores a turn's unpushed commit for other machines, unless it may contain a secret.
 *
 * @param refused - why the turn failed; `undefined` if it did not
 * @returns why the commit would be lost with this machine; `undefined` if it is safe
 */
export async function keepForOthers(
  turn: RunningTurn,
  refused: unknown,
  { repository, keptCommits, log }: KeepPorts,
): Promise<string | undefined> {
  if (keptCommits === undefined) return undefined;
  try {
    if (isForSecret(refused)) {
      // It may have been stored when its agent ended.
      await keptCommits.forget?.(turn);
      throw new Error("GitHub says that it has a secret, so that it is saved nowhere else");
    }
    await keptCommits.save(turn, await repository.packCommit(turn.job));
    return undefined;
  } catch (error) {
    if (error instanceof LeaseLost || isStoreOutage(error)) throw error;
    log(`The commit is only on this machine: ${errorMessage(error)}`);
    return keptCommits.isOnlyPlace ? errorMessage(error) : undefined;
  }
}

/** Restores the stored commit of a turn or its job; `undefined` if there is no usable one. @throws KeptUnreadable, or on an outage */
export async function loadKept(
  { job, kept, ...turn }: Pick<Turn, "job" | "identity"> & Partial<Pick<StoredTurn, "kept" | "made">>,
  { repository, keptCommits, log }: Pick<TurnPorts, "repository" | "keptCommits"> & Pick<KeepPorts, "log">,
): Promise<JobCommit | undefined> {
  const fail = (error: unknown): never => {
    if (isStoreOutage(error) || isRemoteOutage(error) || isResourceExhausted(error)) throw error;
    // Unfinished work stays that of its own turn.
    throw new KeptUnreadable(errorMessage(error), kept === "unfinished" ? null : "push");
  };
  const packed = await keptCommits?.load(job, turn).catch(fail);
  const found = packed && (await repository.unpackCommit(job, packed).catch(fail));
  if (packed && !found)
    log(`The commit that is stored for ${job} is damaged, or its start is gone: it is passed over.`);
  return found;
}
