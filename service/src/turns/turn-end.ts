import { errorMessage } from "../error-message.ts";
import { ChangeRefused } from "../git/commit-worktree.ts";
import type { FailureClass, KeptWork, RunningTurn, TurnResult } from "../model.ts";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { RateLimitError } from "../pulls/github/github-error.ts";
import { SecretPatterns } from "../secret-patterns.ts";
import { parseMade } from "../store/made.ts";
import { KeptUnreadable, LeaseLost } from "../store-errors.ts";
import { keepForOthers } from "./kept-commits.ts";
import { ClosedSince } from "./kept-work.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import { SetupFailed, Stopped } from "./project-commands.ts";
import { HostRefused, PushRefused, TakenAway } from "./refusal.ts";
import { ConflictError } from "./stages/push.ts";
import { keptOf, type RunContext, type Work } from "./work.ts";

/**
 * Returns how a turn ends after a stage threw: postponed, failed, stopped or taken over. Keeps paid work first.
 *
 * @param work - `undefined` if the turn's start was not known yet
 * @param earlier - what an earlier attempt has made, if it is not known yet where that is. Default: nothing
 */
export async function endOf(
  error: unknown,
  turn: RunningTurn,
  work: Work | undefined,
  context: RunContext,
  earlier?: KeptWork,
): Promise<TurnResult> {
  const { onFailure, log, signal } = context;
  // It can contain a file name or Git's output.
  const reason = await new SecretPatterns(context.secrets ?? []).remove(errorMessage(error));
  if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) return "taken-over";
  if (signal.aborted || error instanceof Stopped) return "stopped";
  const kept = keptBy(error, work) ?? (error instanceof TakenAway ? undefined : earlier);
  const maker = work?.maker ?? turn;
  if (isRemoteOutage(error)) {
    const waitMs = error instanceof RateLimitError ? error.waitMs : undefined;
    onFailure?.({ reason, failureClass: "transient", kept, isRemote: true, waitMs });
    const why = waitMs === undefined ? "The repository's host cannot be reached now" : "GitHub's rate limit is reached";
    log(`${why}. The turn waits and continues later: ${reason}`);
    return "postponed";
  }
  const failureClass = classOfError(error);
  onFailure?.({ reason, failureClass, kept });
  // Anything that must be stored after the agent's end has been.
  if (isStoreOutage(error)) return "postponed";
  if (isResourceExhausted(error)) {
    log(`The machine lacks something that the turn needs, so it waits and is started again: ${reason}`);
    return "postponed";
  }
  const fail = (why: string): TurnResult => {
    log(`The turn failed: ${why}`);
    return "failed";
  };
  // Otherwise, a later turn would publish it again.
  if (error instanceof TakenAway)
    await context.patiently(async () => context.keptCommits?.forget?.(maker)).catch(() => undefined);
  // Work of earlier turns or attempts is already stored.
  if (kept !== "push" || error instanceof KeptUnreadable || error instanceof ClosedSince) return fail(reason);
  try {
    const refused = error instanceof Error ? (error.cause ?? error) : error;
    // What another attempt has made is stored already, and this clone may have another turn's commit, or none.
    const last = await context.repository.lastCommitOf(turn.job).catch(() => undefined);
    if (earlier !== undefined && (last === undefined || !isCommitOf(maker, last.message))) return fail(reason);
    const { identity, step } = maker;
    const lost = await context.patiently(() => keepForOthers({ ...turn, identity, step }, refused, context));
    if (lost === undefined) return fail(reason);
    const isTold = error instanceof PushRefused || error instanceof ConflictError;
    const why = isTold ? error.whenLost(lost) : reason;
    onFailure?.({ reason: why, failureClass });
    return fail(why);
  } catch {
    return signal.reason instanceof LeaseLost || !signal.aborted ? "taken-over" : "stopped";
  }
}

/** Returns what is kept of a turn whose work an earlier attempt has made; `undefined` also while the store cannot be used. */
export async function keptEarlier(
  { id, job, attempts }: RunningTurn,
  { store }: Pick<RunContext, "store">,
): Promise<KeptWork | undefined> {
  const turns = attempts === 0 ? [] : await store.turns.ofJob(job).catch(() => []);
  const { stage, made = null } = turns.find((one) => one.id === id) ?? {};
  if (stage === "pushed" || stage === "published") return "pull-request";
  return stage !== "begun" && parseMade(made)?.commit !== undefined ? "push" : undefined;
}

function keptBy(error: unknown, work: Work | undefined) {
  if (error instanceof ConflictError) return "push";
  if (error instanceof KeptUnreadable || error instanceof ClosedSince) return error.kept ?? undefined;
  if (error instanceof TakenAway) return undefined;
  return work && keptOf(work);
}

/** Returns the failure class of an error. Unexpected errors count as transient. */
function classOfError(error: unknown): FailureClass {
  if (error instanceof HostRefused) return "refused";
  if (error instanceof SetupFailed) return "setting";
  return error instanceof ChangeRefused || error instanceof ConflictError ? "agent" : "transient";
}
