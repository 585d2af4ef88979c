import { stripVTControlCharacters } from "node:util";
import { errorMessage } from "../error-message.ts";
import { thisMachine } from "../machine.ts";
import { jobBranch, type RunningTurn, type StoredJob, type Turn, type TurnResult } from "../model.ts";
import { isResourceExhausted, ResourceExhausted } from "../processes/resource-exhausted.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { findInstructions } from "../pulls/protected-files.ts";
import { JobDirectory, jobLogFile } from "../service-folder.ts";
import type { Store } from "../store/store.ts";
import { LeaseLost } from "../store-errors.ts";
import { commitChange } from "./commit-change.ts";
import { confirmLease } from "./keep-lease.ts";
import { readLastPullRequest } from "./last-pull-request.ts";
import { noChangeNote } from "./log-notes.ts";
import { openPullRequest } from "./open-pull-request.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import { findPushedCommit, type PushPorts, pushCommit, pushUnpushedCommit } from "./push-commit.ts";
import { runAttempt } from "./run-attempt.ts";
import { storeReport } from "./store-report.ts";
import { startDeadline, untilStopped } from "./turn-deadline.ts";
import { turnHost } from "./turn-host.ts";
import type { TurnContext, TurnPorts } from "./turn-ports.ts";

/** An interrupted attempt is repeated only once, because the agent may be what kills the service. */
const maxAttempts = 2;

/**
 * Runs a turn, from the checkout to the pull request. A turn that was interrupted or postponed after its commit was made is
 * not repeated, because the commit names its turn.
 */
export async function runTurn(
  turn: RunningTurn,
  job: StoredJob,
  ports: TurnPorts,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { folder, worktrees, onFailure, host = turnHost, machine = thisMachine } = ports;
  const logFile = jobLogFile(folder, job.id);
  const log = (text: string): void => {
    // The agent's words must not control the reader's terminal.
    const printable = stripVTControlCharacters(text)
      .replace(/[^\P{Cc}\t\n]/gu, "")
      .trim();
    try {
      host.appendLog(logFile, `${printable.replace(/^/gm, "[service] ")}\n`);
    } catch {
      // A job must not fail because of its log.
    }
  };
  const directory = new JobDirectory(folder, job.id);
  try {
    await ports.homes?.bring(turn, directory, log);
    const isNewHome = await host.prepare(directory, logFile);
    const context = { ...ports, host, machine, directory, isNewHome, logFile, log };
    const result = await processTurn(turn, job, context, signal);
    if (result === "completed") await logEarlierFailures(turn, ports.store, log);
    return result;
  } catch (error) {
    if (error instanceof LeaseLost) return "taken-over";
    if (signal.aborted) return "stopped";
    if (isRemoteOutage(error)) {
      onFailure?.(errorMessage(error), "remote");
      log(`The repository's host cannot be reached now. The turn waits and goes on later: ${errorMessage(error)}`);
      return "postponed";
    }
    onFailure?.(errorMessage(error));
    // No agent has run since the last commit that was pushed: see `setReport`.
    if (isStoreOutage(error)) return "postponed";
    if (isResourceExhausted(error)) {
      log(`The machine lacks something that the turn needs, so it waits and is started again: ${errorMessage(error)}`);
      return "postponed";
    }
    log(`The turn failed: ${errorMessage(error)}`);
    return "failed";
  } finally {
    const cleaned = worktrees.release(directory).then(() => host.clean(directory));
    await cleaned.catch((error: unknown) => log(`Cannot clean the job's directory: ${errorMessage(error)}`));
  }
}

async function processTurn(
  turn: RunningTurn,
  job: StoredJob,
  context: TurnContext,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { store, repository, worktrees, homes, directory, log, machine } = context;
  const push: PushPorts = { repository, confirmOwner: () => confirmLease(turn, store.runningTurns, signal, machine) };
  log(`Turn ${turn.id} started.`);
  const lastPullRequest = await readLastPullRequest(job, context);
  const { targetBranch } = context;
  const options = { ...lastPullRequest, lastPushed: job.head, targetBranch, instructions: findInstructions };
  // Others may share its fetch, so it is not killed, only waited for no longer.
  const [start, last] = await untilStopped(
    Promise.all([repository.findStart(jobBranch(job.id), options), repository.lastCommitOf(job.id)]),
    context.stop,
  );
  let head = (await findPushedCommit(turn, start, repository)) ?? (await pushUnpushedCommit(turn, start, last, push));
  if (head === undefined) {
    if (turn.attempts >= maxAttempts) {
      const reason = `The agent was interrupted ${turn.attempts} times and is not run again.`;
      log(reason);
      context.onFailure?.(reason);
      return "failed";
    }
    if (context.stop?.aborted) {
      log(`No agent is run. ${context.stop.reason}`);
      context.onFailure?.(String(context.stop.reason));
      return "failed";
    }
    for (const note of start.notes) log(note);
    await checkFreeSpace(context);
    const worktree = await worktrees.checkOut(directory, start, context.stop).catch((error: unknown) => {
      throw context.stop?.aborted ? new Error(String(context.stop.reason), { cause: error }) : error;
    });
    const earlierUsd = await store.runningTurns.countAttempt(turn);
    await homes?.begin?.(turn, directory);
    const startedAt = machine.now();
    const attempted = await runAttempt(turn, start, context, signal);
    const { end, isFollowUp } = attempted;
    if (end === "stopped") return "stopped";
    await homes?.keep?.(turn, directory, log);
    const run = { report: attempted, project: job.project, isFollowUp, earlierUsd };
    const message = await storeReport(turn, run, context);
    if (end !== "completed") return "failed";
    await worktrees.takeBack(directory);
    using deadline = startDeadline(machine, context.timeLimitMs, machine.now() - startedAt, context.stop);
    const commit = await commitChange(turn, worktree, start, attempted, context, deadline);
    const words = message === undefined ? "" : `The agent's last words:\n${message}`;
    if (commit === undefined) log(`${noChangeNote} ${words}`);
    else {
      head = await pushCommit(commit, turn, start, last, push);
      if (words !== "") log(words);
    }
  }
  await openPullRequest(turn, job, { start, head, lastPullRequest, confirmOwner: push.confirmOwner }, context);
  return "completed";
}

/**
 * Checks that the agent's change can be committed, before the agent costs money.
 *
 * @throws ResourceExhausted if the disk is nearly full
 */
async function checkFreeSpace({ folder, machine, minFreeBytes = 100_000_000 }: TurnContext): Promise<void> {
  if ((await machine.freeBytes(folder)) < minFreeBytes)
    throw new ResourceExhausted(`less than ${minFreeBytes / 1_000_000} MB are free in ${folder}`);
}

/** Logs which earlier turns failed, because the job's state only shows the last turn. */
async function logEarlierFailures(turn: Turn, store: Store, log: (text: string) => void): Promise<void> {
  const failed = (await store.turns.ofJob(turn.job)).filter(({ id, state }) => id < turn.id && state === "failed");
  const list = failed.map(({ id, prompt }) => `turn ${id} (${commitTitle(prompt)})`).join(", ");
  if (failed.length > 0) log(`Turn ${turn.id} completed, but earlier turns of the job failed: ${list}.`);
}
