import { errorMessage } from "../error-message.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { RunningTurn, Turn } from "../model.ts";
import type { KeptCommits } from "../store/kept-commits.ts";
import { KeptUnreadable, LeaseLost } from "../store-errors.ts";
import { isStoreOutage } from "./outages.ts";
import { isForSecret } from "./refusal.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** What keeping a commit depends on. */
interface KeepPorts {
  repository: Pick<Repository, "packCommit">;
  keptCommits?: KeptCommits | undefined;
  log: (text: string) => void;
}

/**
 * Stores the last commit of a turn's job, which is not pushed, for other machines, unless it may have a secret.
 *
 * @param refused - why the turn failed; `undefined` if it has not
 * @returns why it is lost with this machine; `undefined` if its clone keeps it, or it is stored
 */
export async function keepForOthers(
  turn: RunningTurn,
  refused: unknown,
  { repository, keptCommits, log }: KeepPorts,
): Promise<string | undefined> {
  if (keptCommits === undefined) return undefined;
  try {
    if (isForSecret(refused)) {
      // It may be stored since its agent ended.
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

/** Brings back the commit that is stored for a turn, or another one of its job; `undefined` if there is none that can be used. @throws KeptUnreadable */
export async function loadKept(
  { job, ...turn }: Pick<Turn, "job" | "identity">,
  { repository, keptCommits, log }: Pick<TurnPorts, "repository" | "keptCommits"> & Pick<KeepPorts, "log">,
): Promise<JobCommit | undefined> {
  const packed = await keptCommits?.load(job, turn).catch((error: unknown) => {
    throw isStoreOutage(error) ? error : new KeptUnreadable(errorMessage(error));
  });
  const found = packed && (await repository.unpackCommit(job, packed));
  if (packed && !found)
    log(`The commit that is stored for ${job} is damaged, or its start is gone: it is passed over.`);
  return found;
}
