import { unknownCost } from "../../cost.ts";
import { errorMessage } from "../../error-message.ts";
import { ChangeRefused, type Worktree } from "../../git/commit-worktree.ts";
import { copyIgnored } from "../../git/ignored-files.ts";
import type { Made, RunningTurn, Turn } from "../../model.ts";
import { namesOf, oneLine } from "../../one-line.ts";
import { ResourceExhausted } from "../../processes/resource-exhausted.ts";
import { findProtected } from "../../pulls/protected-files.ts";
import { SecretPatterns } from "../../secret-patterns.ts";
import type { StoredReport } from "../../store/running-turns.ts";
import { LeaseLost } from "../../store-errors.ts";
import { reportOf } from "../agent-run-report.ts";
import { tellBegin, tellEnd } from "../begin-and-end.ts";
import { type CommittedChange, commitChange, tryForAnHour } from "../commit-change.ts";
import { keepForOthers } from "../kept-commits.ts";
import { noChangeNote } from "../log-notes.ts";
import { mergeTarget } from "../merge-target.ts";
import { isPassing } from "../outages.ts";
import { prepareWorktree, Stopped, toldCheck } from "../project-commands.ts";
import { type Attempt, runAttempt, uncertainSession } from "../run-attempt.ts";
import { tryBranch } from "../trial-branch.ts";
import { reserveOf, startDeadline, type TurnDeadline } from "../turn-deadline.ts";
import { keepUnfinished, layOutEarlier } from "../unfinished.ts";
import {
  begunTurn,
  type Go,
  lastWords,
  maxAttempts,
  type Placed,
  type Position,
  reasonWhenKept,
  setMade,
  type Work,
  type WorkContext,
} from "../work.ts";

/** How long Git may take for what a stopped agent changed, in milliseconds: soon after a cancel, the runner kills the step. */
const stoppedMs = 3000;

const lateReason = "Too little is left of the step's time (timeout-minutes), so no agent was run.";

/** The share of the time limit reserved for the check. With less left after a failed check, there is no second agent run. */
export const checkRatio = 1 / 4;

/**
 * Runs the agent of a turn, and commits its changes. After the agent's end, waits for the store.
 *
 * @throws with the turn's failure as the message, or on an outage
 */
export async function make(work: Work): Promise<Position> {
  const { turn } = work;
  const { timeLimitMs: longestMs, leftMs: leftOfStep = () => longestMs } = work.context;
  // It may have waited for GitHub or for another run.
  const context = { ...work.context, timeLimitMs: Math.min(longestMs, leftOfStep()) };
  work.context = context;
  const { store, worktrees, homes, directory, machine, stop, log, signal, commands } = context;
  const isLate = context.timeLimitMs < reserveOf(longestMs);
  const against = reasonAgainst(turn, stop, work.maker.reason) ?? (isLate ? lateReason : undefined);
  if (against !== undefined) {
    log(stop?.aborted ? `No agent is run. ${against}` : against);
    return { stage: "failed", made: { reason: against, failureClass: stop?.aborted ? undefined : "transient" } };
  }
  for (const note of work.start.notes) log(note);
  await checkFreeSpace(context);
  await context.committer?.prepare();
  await tryBranch(work);
  await mergeTarget(work);
  await warnOfUnused(work);
  const { start } = work;
  const begunAt = machine.now();
  const leftMs = (): number => context.timeLimitMs - (machine.now() - begunAt);
  const prepared = await prepareWorktree(turn, start, context, { timeLimitMs: leftMs(), signal });
  const opening = await layOutEarlier(work, context.agent);
  work.begunIn = opening.turns;
  await tellBegin(work);
  const earlierUsd = await store.runningTurns.countAttempt(turn);
  work.maker = begunTurn({ ...work.maker, attempts: turn.attempts + 1 });
  await homes?.begin?.(turn, directory);
  // With `setup`, the time limit covers it, too.
  const startedAt = commands?.setup === undefined ? machine.now() : begunAt;
  const limit = Math.min(commands?.setup === undefined ? context.timeLimitMs : leftMs(), leftOfStep());
  const timeLimitMs = Math.max(1, commands?.check === undefined ? limit : limit * (1 - checkRatio));
  const ran = await runAttempt(turn, start, { ...context, timeLimitMs, opening: opening.prompt }, signal);
  const attempt = { ...ran, notes: [...opening.notes, ...ran.notes] };
  const worktree = { ...prepared, changedFrom: attempt.changedFrom };
  if (attempt.end === "stopped") throw new Stopped();
  context.onAgentEnd?.();
  const elapsedMs = (): number => machine.now() - startedAt;
  const run = { report: attempt, project: context.job.project, isFollowUp: attempt.isFollowUp, earlierUsd };
  let report = await context.patiently(() => reportOf(turn, run, context));
  const go = (): Go => ({ worktree, report, leftMs, isSecond: false });
  const { reason, failureClass } = attempt;
  const startGitDeadline = (): TurnDeadline => startDeadline(machine, context.timeLimitMs, elapsedMs(), stop);
  const end = AbortSignal.any(stop === undefined ? [signal] : [signal, stop]);
  const keep = (why: string): Promise<boolean> =>
    tryForAnHour(() => keepUnfinished(work, worktree, why, startGitDeadline), context, end);
  /** No agent goes on with the changes of a turn that somebody has stopped, unless a person takes them. */
  const keepStopped = async (why: string): Promise<void> => {
    const startStopped = (): TurnDeadline => startDeadline(machine, stoppedMs, 0, undefined);
    if (await keepUnfinished(work, worktree, why, startStopped, "stopped")) tellStopped(work);
  };
  await tryForAnHour(() => worktrees.takeBack(directory), context);
  if (attempt.end !== "completed" && failureClass === undefined) {
    // Somebody has stopped a turn without a class. Its reason is that of the request, by which it is known as stopped.
    // A ref of it would decide on a completed commit that conflicts.
    const isUntouched = work.conflicting !== undefined;
    if (isUntouched) log("What the agent changed is not kept. The commit that it did again still is.");
    else await keepStopped(reason ?? "");
    return settle(work, { reason, ...(isUntouched && { isUntouched }) }, false, report, go());
  }
  if (attempt.end !== "completed") {
    const isKept = await keep(reason ?? "");
    const left = isKept ? { isUnfinished: true } : !opening.isLaid && { isUntouched: true };
    return settle(work, { reason, failureClass, ...left }, false, report, go());
  }
  let change: CommittedChange;
  try {
    change = await commitMade(work, worktree, attempt, elapsedMs);
  } catch (error) {
    const said = await new SecretPatterns(context.secrets ?? []).remove(errorMessage(error));
    await ignoringLoss(store.runningTurns.setReport(turn, report));
    const isStopped = stop?.aborted === true;
    const isRunAgain = !isStopped && (isPassing(error) || signal.aborted);
    if (isStopped) await keepStopped(said);
    else if (!isRunAgain && (await keep(said))) {
      log(`The turn failed: ${reasonWhenKept(said)}`);
      const kind = error instanceof ChangeRefused ? "agent" : "transient";
      return settle(work, { reason: said, failureClass: kind, isUnfinished: true }, false, report, go());
    }
    if (!isRunAgain) await keepHome(context, turn);
    throw error;
  }
  const { commit, unpublished, isFinal } = change;
  // Appended to the answer: a turn without a change has no commit message.
  const answer = [report.answer, unpublished].filter(Boolean).join("\n\n");
  if (unpublished !== "") report = { ...report, answer };
  return settle(work, { commit }, isFinal, report, go());
}

/**
 * Logs before the agent runs patterns that match no existing file, because a typo could discard all its work, and submodules that `only`
 * leads into.
 */
async function warnOfUnused(work: Work): Promise<void> {
  const { context, start } = work;
  const { only, moreProtected = [], repository, log } = context;
  if (only === undefined && moreProtected.length === 0) return;
  const { paths, submodules } = await repository.paths(start.head);
  const below = submodules.filter((path) => only?.into(path).length);
  if (below.length > 0) {
    const lacks = `These submodules are empty here, and what is written there is not published: ${namesOf(below.map(oneLine))}`;
    log(`${lacks}. To change one, let an agent work on its repository, with --repository.`);
    work.start = { ...start, lacks: [...(start.lacks ?? []), lacks] };
  }
  const into = below.flatMap((path) => only?.into(path) ?? []);
  const unused = {
    "--only": only?.unused(paths).filter((pattern) => !into.includes(pattern)) ?? [],
    "--protect": moreProtected.filter((pattern) => findProtected(paths, [pattern]).length === 0),
  };
  for (const [option, patterns] of Object.entries(unused))
    if (patterns.length > 0)
      log(
        `${option} matches no file that exists: ${patterns.join(", ")}. Check how it is written, unless the agent is to create such files.`,
      );
}

function tellStopped({ turn, context }: Work): void {
  const command = context.keptCommits?.commandFor?.(turn, "unfinished");
  context.log(`No agent goes on with it.${command === undefined ? "" : ` To get it: ${command}`}`);
}

/** Keeps and records an agent's result, and returns the turn's position. */
async function settle(work: Work, made: Made, isFinal: boolean, report: StoredReport, go: Go): Promise<Position> {
  const { turn, context, start, last } = work;
  const { repository, log } = context;
  const { commit, reason } = made;
  if (commit !== undefined) {
    const earlier = last === undefined || last.commit === start.head ? undefined : last.commit;
    await tryForAnHour(() => repository.keep(commit, turn.job, earlier), context);
  }
  await setMade(work, made, report);
  // Not before: if this process is lost, the agent runs again, and must not remember changes that are gone.
  await keepHome(context, turn);
  if (reason !== undefined) return { stage: "failed", made };
  if (commit === undefined) {
    log(`${noChangeNote} ${lastWords(work.maker)}`);
    await tellEnd(work, { left: "nothing" });
    return unchanged(work);
  }
  const placed = { ...placeOn(work, commit), isKept: true, isFinal };
  // From here on, another machine may continue: this one may be lost, be told to stop, or lack space.
  if (context.keptCommits !== undefined)
    await ignoringLoss(context.patiently(async () => void (await keepForOthers(turn, undefined, context))));
  return { stage: "made", placed, go };
}

/** Returns the position of a turn without a change: earlier pushes may still lack a pull request. */
export function unchanged({ start, context }: Pick<Work, "start" | "context">): Position {
  const isUnopened = start.isContinued && context.job.pullRequest === null;
  return isUnopened ? { stage: "pushed", head: start.head, isEarlier: true } : { stage: "published" };
}

/** Returns the place of a commit on top of the turn's start. */
export function placeOn({ start, tried, context }: Pick<Work, "start" | "tried" | "context">, commit: string): Placed {
  const { base, head, isContinued } = start;
  const expected = tried ?? start.remoteHead;
  // If the turn starts over, the counted commits are on the target branch and stay. A first turn has only a trial branch.
  const own = context.job.head === null ? undefined : start.remoteHead;
  const counted = isContinued ? (head === base ? undefined : head) : own;
  return { commit, parent: head, before: head, expected, counted: expected === undefined ? undefined : counted };
}

/**
 * Runs the agent again on top of a commit that broke the check. The first commit stands unless the second run makes another one.
 *
 * @returns `undefined` if the second run is not used
 */
export async function makeAgain(work: Work, first: Placed, go: Go, command: string): Promise<Position | undefined> {
  const { turn, context, start } = work;
  const { store, repository, worktrees, directory, stop, log, signal, commands, patiently } = context;
  const { worktree, leftMs } = go;
  const { checkOutput, answer = null, costUsd } = { ...go.report, checkOutput: work.maker.checkOutput ?? "" };
  log("The agent gets one more go, with the output of the check.");
  const turns = await patiently(() => store.turns.ofJob(turn.job));
  const told = { ...context, turns, timeLimitMs: leftMs() * (1 - checkRatio) };
  await ignoringLoss(patiently(() => store.runningTurns.setReport(turn, { costUsd: unknownCost })));
  // Files that are no longer ignored were removed.
  if (commands?.setup !== undefined) await copyIgnored(directory.setup.files, directory.tree, stop);
  await commands?.worktrees.lend(directory);
  const again = { prompt: toldCheck(command, checkOutput, "your change"), answer };
  const attempt = await runAttempt(turn, start, told, signal, again);
  if (attempt.end === "stopped") throw new Stopped();
  const run = { report: attempt, project: context.job.project, isFollowUp: true, earlierUsd: costUsd };
  const second = await patiently(() => reportOf(turn, run, told));
  await keepHome(context, turn);
  await worktrees.takeBack(directory);
  const elapsedMs = (): number => context.timeLimitMs - leftMs();
  const made =
    attempt.end !== "completed"
      ? undefined
      : await commitMade(work, { ...worktree, changedFrom: attempt.changedFrom }, attempt, elapsedMs).catch(
          (error: unknown) => void log(`The second change cannot be committed: ${errorMessage(error)}`),
        );
  const cost = { costUsd: second.costUsd ?? unknownCost, sessionCost: second.sessionCost };
  const commit = made?.commit;
  if (made && commit !== undefined && (await repository.changedFiles(first.commit, commit)).length > 0) {
    const report = { ...cost, answer: second.answer ?? go.report.answer };
    // The first check's result does not apply to this commit.
    return settle(work, { commit }, made.isFinal, report, { ...go, report, isSecond: true });
  }
  log("The second go is not used: it changed nothing more, or did not complete.");
  work.maker = { ...work.maker, costUsd: cost.costUsd };
  await ignoringLoss(patiently(() => store.runningTurns.setReport(turn, cost)));
  return undefined;
}

function commitMade(
  { turn, context, start }: Work,
  worktree: Worktree,
  attempt: Attempt,
  elapsedMs: () => number,
): Promise<CommittedChange> {
  const { machine, timeLimitMs, stop } = context;
  return commitChange(turn, worktree, start, attempt, context, () =>
    startDeadline(machine, timeLimitMs, elapsedMs(), stop),
  );
}

/**
 * Ensures that the change can be committed before the agent costs money.
 *
 * @throws ResourceExhausted if the disk is nearly full
 */
async function checkFreeSpace({ folder, machine, minFreeBytes = 100_000_000 }: WorkContext): Promise<void> {
  if ((await machine.freeBytes(folder)) < minFreeBytes)
    throw new ResourceExhausted(`less than ${minFreeBytes / 1_000_000} MB are free in ${folder}`);
}

/** Returns why no agent may run; otherwise `undefined`. @param known - the reason in a copy of its job */
function reasonAgainst({ attempts }: Turn, stop: AbortSignal | undefined, known: string | null): string | undefined {
  if (attempts >= maxAttempts) return known ?? `The agent was interrupted ${attempts} times and is not run again.`;
  return stop?.aborted ? String(stop.reason) : undefined;
}

/** Keeps an agent's home. The turn does not depend on it, and a lost lease shows again in its next stage. */
async function keepHome({ homes, directory, log }: WorkContext, turn: RunningTurn): Promise<void> {
  await homes?.keep?.(turn, directory, log).catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) log(`${uncertainSession}: ${errorMessage(error)}`);
  });
}

async function ignoringLoss(use: Promise<void> | undefined): Promise<void> {
  await use?.catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}
