import { stripVTControlCharacters } from "node:util";
import { errorMessage } from "../error-message.ts";
import { thisMachine } from "../machine.ts";
import type { EndedState, KeptWork, RunningTurn, StoredJob, StoredTurn, TurnResult } from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { type CommitNotes, commitMessage, isCommitOf } from "../pulls/commit-message.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { SecretPatterns } from "../secret-patterns.ts";
import { JobDirectory, jobLogFile } from "../service-folder.ts";
import { madeNothing } from "../store/made.ts";
import { tellEnd } from "./begin-and-end.ts";
import { untilStoreIsBack } from "./keep-lease.ts";
import { startNote } from "./log-notes.ts";
import { moveIfMerged } from "./merged-since.ts";
import type { Checked } from "./project-commands.ts";
import { check } from "./stages/check.ts";
import { make } from "./stages/make.ts";
import { publish } from "./stages/publish.ts";
import { push } from "./stages/push.ts";
import { asksForSame } from "./standing.ts";
import { findPosition, takeUp } from "./take-up.ts";
import { cleanBranch } from "./trial-branch.ts";
import { endOf, keptEarlier } from "./turn-end.ts";
import { turnHost } from "./turn-host.ts";
import { turnName } from "./turn-name.ts";
import type { Failure, TurnPorts } from "./turn-ports.ts";
import { unfinishedBefore } from "./unfinished.ts";
import { type Position, type RunContext, reasonWhenKept, type Work } from "./work.ts";

/**
 * Runs a turn stage by stage, from where it stands to the pull request. Completed stages are not repeated, no matter which worker completed
 * them.
 */
export async function runTurn(
  turn: RunningTurn,
  job: StoredJob,
  ports: TurnPorts,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { folder, store, worktrees, homes, host = turnHost, machine = thisMachine } = ports;
  const logFile = jobLogFile(folder, job.id);
  const log = (text: string): void => {
    // The agent's output must not control the reader's terminal.
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
  const confirmOwner = (): Promise<void> => store.runningTurns.confirmLease(turn);
  const patiently: RunContext["patiently"] = (use) => untilStoreIsBack(use, signal, machine);
  let kept: KeptWork | undefined;
  const onFailure = (failure: Failure): void => {
    kept = failure.kept ?? undefined;
    ports.onFailure?.(failure);
  };
  const own = { host, machine, directory, logFile, log, signal, confirmOwner, patiently, onFailure };
  const run = { ...ports, ...own, isNewHome: false };
  let work: Work | undefined;
  let isFound = false;
  try {
    const walk = async (): Promise<EndedState> => {
      await homes?.bring(turn, directory, log);
      run.isNewHome = await host.prepare(directory, logFile);
      log(startNote(turn));
      let ofJob = job;
      for (let isPublished = false; ; isPublished = true) {
        isFound = false;
        work = await takeUp(turn, ofJob, run);
        work = await findPosition(work, isPublished);
        isFound = true;
        const result = await walkStages(work);
        if (result !== "completed" || work.isOwn || (await isSame(work))) return result;
        // The agent starts from the published commit.
        ofJob = (await store.jobs.find(job.id)) ?? job;
        // Should this turn fail now, that is kept of no turn.
        work = undefined;
      }
    };
    const result = await walk().catch(async (error: unknown) =>
      endOf(error, turn, work, run, isFound ? undefined : await keptEarlier(turn, run)),
    );
    if (work !== undefined) await cleanBranch(work, result);
    if (result === "failed" && work?.hasBegun && kept === undefined) await tellFailure(work);
    return result;
  } finally {
    const cleaned = worktrees
      .release(directory)
      .then(() => host.clean(directory))
      .finally(() => host.hideSecrets(logFile, ports.secrets ?? []));
    await cleaned.catch((error: unknown) => log(`Cannot clean the job's directory: ${errorMessage(error)}`));
  }
}

/** Runs a turn's stages until it ends. */
async function walkStages(work: Work): Promise<EndedState> {
  const { context, isOwn } = work;
  while (work.at.stage !== "published") {
    if (work.at.stage === "failed") {
      const { reason = "", failureClass, isUnfinished = false } = work.at.made;
      const kept = isUnfinished ? ("unfinished" as const) : undefined;
      context.onFailure?.({ reason: isUnfinished ? reasonWhenKept(reason) : reason, failureClass, kept });
      return "failed";
    }
    work.at = await next(work, work.at);
  }
  const left = madeNothing(work.maker) ? "nothing" : "pushed";
  const doneAgain = work.conflicting && left === "pushed" ? [work.conflicting.maker] : [];
  await context.patiently(async () => {
    const forget = async (one: StoredTurn, how: CommitNotes): Promise<void> =>
      context.keptCommits?.forget?.(one, commitMessage(one, [], context.job, how, "Ended"));
    // Their requests stay failed, which a re-run of their steps has to know.
    for (const one of [...(work.begunIn ?? []), ...doneAgain]) await forget(one, { left: "failed" });
    await forget(work.maker, { left });
  });
  if (isOwn) await logEarlierFailures(work);
  return "completed";
}

/** A turn that leaves what is kept of an earlier one, as `leavesKept` says, leaves no ref: that could not say so. */
async function tellFailure(work: Work): Promise<void> {
  const { turn, context, at, conflicting } = work;
  const isLeaving = at.stage === "begun" || (at.stage === "failed" && at.made.isUntouched === true);
  const isKept = conflicting !== undefined || unfinishedBefore(turn, context.turns).inRow.length > 0;
  if (!isLeaving || !isKept) return tellEnd(work, { left: "failed" });
  await context.keptCommits?.end?.(turn, undefined).catch(() => undefined);
}

function next(work: Work, at: Exclude<Position, { stage: "published" | "failed" }>): Promise<Position> {
  const { patiently } = work.context;
  switch (at.stage) {
    case "begun":
      return make(work);
    case "made":
      return check(work, at.placed, at.go);
    case "checked":
      return patiently(async () => (await moveIfMerged(work, at.placed)) ?? push(work, at.placed));
    case "pushed":
      return patiently(() => publish(work, at.head, at.isEarlier));
  }
}

/**
 * Ends the earlier turn whose work was published, or is there already by another commit. Returns whether it had the same request, which is
 * complete then.
 */
async function isSame(work: Work): Promise<boolean> {
  const { turn, context, maker } = work;
  const { store, log, patiently } = context;
  const { checkResult, checkOutput } = maker;
  const checked: Checked = { checkResult: checkResult ?? undefined, checkOutput: checkOutput ?? undefined };
  const isUnchanged = madeNothing(maker);
  store.runningTurns.endEarlier(turn, maker, { checked: checkResult === null ? undefined : checked, isUnchanged });
  const asked = { ...turn, promptHash: hashPrompt(turn.prompt) };
  const isAsked = (one: StoredTurn): boolean => asksForSame(asked, one);
  const same = isAsked(maker) ? maker : await findBelow(work, isAsked);
  if (same === undefined) return false;
  log(`${turnName(same.id)} had the same prompt, so no agent is run.`);
  const report = { answer: same.answer ?? undefined, ...checked };
  await patiently(() => store.runningTurns.setReport(turn, report));
  if (madeNothing(same)) store.runningTurns.endUnchanged(turn);
  // What is published names only the turn that made it.
  await tellEnd({ turn, context }, { left: madeNothing(same) ? "nothing" : "pushed" });
  return true;
}

/** Returns an earlier turn whose commit was published with the maker's, on top of which it is: both worked on the job at once. */
async function findBelow(
  { context, maker, start }: Work,
  isAsked: (one: StoredTurn) => boolean,
): Promise<StoredTurn | undefined> {
  const found = context.turns.find((one) => one.id < maker.id && one.kept === "pull-request" && isAsked(one));
  // Its own commit may have been taken out of the branch since.
  const commits = found === undefined ? [] : await context.repository.commits(start.base, start.head);
  return commits.some(({ message }) => found && isCommitOf(found, message)) ? found : undefined;
}

/** Logs which earlier turns failed, because the job's state only shows the last turn. */
async function logEarlierFailures({ turn, context }: Work): Promise<void> {
  const { turns, log, secrets = [] } = context;
  const failed = turns.filter(({ id, state }) => id < turn.id && state === "failed");
  const patterns = new SecretPatterns(secrets);
  // Of a turn that another machine ran, the prompt may be unknown here.
  const told = failed.map(async ({ id, prompt }) =>
    prompt === "" ? turnName(id) : `${turnName(id)} (${commitTitle(await patterns.remove(prompt))})`,
  );
  const list = [...new Set(await Promise.all(told))].join(", ");
  if (failed.length > 0) log(`The turn completed, but earlier turns of the job failed: ${list}.`);
}
