import { stripVTControlCharacters } from "node:util";
import { unknownCost } from "../cost.ts";
import { errorMessage } from "../error-message.ts";
import type { Worktree } from "../git/commit-worktree.ts";
import type { Start } from "../git/find-start.ts";
import { GitError } from "../git/git.ts";
import { copyIgnored } from "../git/ignored-files.ts";
import type { JobCommit } from "../git/job-commits.ts";
import { thisMachine } from "../machine.ts";
import { jobBranch, type RunningTurn, type StoredJob, type Turn, type TurnResult } from "../model.ts";
import { isResourceExhausted, ResourceExhausted } from "../processes/resource-exhausted.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { findInstructions } from "../pulls/protected-files.ts";
import { JobDirectory, jobLogFile } from "../service-folder.ts";
import type { StoredReport } from "../store/running-turns.ts";
import { KeptUnreadable, LeaseLost } from "../store-errors.ts";
import { reportOf } from "./agent-run-report.ts";
import { commitChange } from "./commit-change.ts";
import { classOfError } from "./failure-class.ts";
import { untilStoreIsBack } from "./keep-lease.ts";
import type { Outcome } from "./kept-outcomes.ts";
import { type LastPullRequest, readLastPullRequest } from "./last-pull-request.ts";
import { noChangeNote, startNote } from "./log-notes.ts";
import { type AgentWords, openPullRequest } from "./open-pull-request.ts";
import { isRemoteOutage, isStoreOutage } from "./outages.ts";
import { checkAgain, checkCommit, prepareWorktree, Stopped, toldCheck, unchecked } from "./project-commands.ts";
import {
  ClosedSince,
  findKeptTurn,
  keepForOthers,
  lastOnBranch,
  publishKept,
  restoreOwn,
  type TurnStart,
} from "./publish-kept.ts";
import {
  ConflictError,
  findPushedCommit,
  findUnpushedCommit,
  type PushPorts,
  type PushProgress,
  pushCommit,
  undoPush,
} from "./push-commit.ts";
import { describeRefusal, HostRefused, PushRefused } from "./refusal.ts";
import { runAttempt } from "./run-attempt.ts";
import { SecretPatterns } from "./secret-patterns.ts";
import { startDeadline, timeLeft, untilStopped } from "./turn-deadline.ts";
import { turnHost } from "./turn-host.ts";
import { turnName } from "./turn-name.ts";
import type { TurnContext, TurnPorts } from "./turn-ports.ts";
import { removeUncounted } from "./uncounted-commits.ts";

/** An interrupted attempt is repeated only once, because the agent may be what kills the service. */
const maxAttempts = 2;

/** What a run of a turn has done so far. */
interface RunProgress extends PushProgress {
  start: Start | undefined;
  /** Where the job's branch was created to try whether it can be; `undefined` if it is not there for that alone. */
  tried: string | undefined;
}

/** What a turn depends on while it runs, before its agent's home directory is there. */
interface RunContext extends Omit<TurnContext, "isNewHome" | "turns">, PushPorts {
  store: TurnContext["store"];
  repository: TurnContext["repository"];
  progress: RunProgress;
  /** Aborts when the service stops, or another worker has taken the turn over. */
  signal: AbortSignal;
}

type PreparedContext = RunContext & Pick<TurnContext, "isNewHome">;

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
  const { folder, store, worktrees, host = turnHost, machine = thisMachine } = ports;
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
  const confirmOwner = (): Promise<void> => store.runningTurns.confirmLease(turn);
  const progress: RunProgress = {
    start: undefined,
    push: undefined,
    isRecorded: false,
    kept: undefined,
    tried: undefined,
  };
  const context: RunContext = { ...ports, host, machine, directory, logFile, log, signal, job, confirmOwner, progress };
  try {
    const run = () => processTurn(turn, job, context);
    // Another worker would run the agent again, of which only this one knows how it ended.
    const hasRun = ports.outcomes?.find(turn) !== undefined;
    const result = await (hasRun ? untilStoreIsBack(run, signal, machine) : run()).catch((error: unknown) =>
      resultOf(error, turn, context),
    );
    await cleanBranch(turn, result, context);
    return result;
  } finally {
    const cleaned = worktrees
      .release(directory)
      .then(() => host.clean(directory))
      .finally(() => host.hideSecrets(logFile, ports.secrets ?? []));
    await cleaned.catch((error: unknown) => log(`Cannot clean the job's directory: ${errorMessage(error)}`));
  }
}

/** Returns how a turn ends that cannot go on. */
async function resultOf(error: unknown, turn: RunningTurn, context: RunContext): Promise<TurnResult> {
  const { onFailure, log, signal, progress } = context;
  // It can have the name of a file, or what Git says.
  const reason = await new SecretPatterns(context.secrets ?? []).remove(errorMessage(error));
  const isUnreadable = error instanceof KeptUnreadable;
  const kept = error instanceof ConflictError || isUnreadable ? "push" : progress.kept;
  if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) return "taken-over";
  if (signal.aborted || error instanceof Stopped) return "stopped";
  if (isRemoteOutage(error)) {
    onFailure?.({ reason, failureClass: "transient", kept, isRemote: true });
    // It may fail later, after an hour, and a runner may be gone by then. Once, not each time that the turn is tried.
    if (kept === "push" && context.outcomes?.find(turn) === undefined)
      await keepForOthers(turn, error, context).catch(() => undefined);
    log(`The repository's host cannot be reached now. The turn waits and goes on later: ${reason}`);
    return "postponed";
  }
  onFailure?.({ reason, failureClass: classOfError(error), kept });
  // No agent has run: what comes after it waits for the store.
  if (isStoreOutage(error)) return "postponed";
  if (isResourceExhausted(error)) {
    log(`The machine lacks something that the turn needs, so it waits and is started again: ${reason}`);
    return "postponed";
  }
  const fail = (why: string): TurnResult => {
    log(`The turn failed: ${why}`);
    return "failed";
  };
  // What an earlier turn or attempt has made is stored.
  if (kept !== "push" || isUnreadable || error instanceof ClosedSince) return fail(reason);
  try {
    const refused = error instanceof Error ? (error.cause ?? error) : error;
    const lost = await untilStoreIsBack(() => keepForOthers(turn, refused, context), signal, context.machine);
    if (lost === undefined) return fail(reason);
    const isTold = error instanceof PushRefused || error instanceof ConflictError;
    const why = isTold ? error.whenLost(lost) : reason;
    onFailure?.({ reason: why, failureClass: classOfError(error) });
    return fail(why);
  } catch {
    return signal.reason instanceof LeaseLost || !signal.aborted ? "taken-over" : "stopped";
  }
}

async function processTurn(turn: RunningTurn, job: StoredJob, run: RunContext): Promise<TurnResult> {
  const { homes, host, directory, logFile, log } = run;
  await homes?.bring(turn, directory, log);
  const isNewHome = await host.prepare(directory, logFile);
  log(startNote(turn));
  return processPrepared(turn, job, { ...run, isNewHome });
}

/** @param isPublished - whether what was kept of an earlier turn has been published */
async function processPrepared(
  turn: RunningTurn,
  job: StoredJob,
  run: PreparedContext,
  isPublished = false,
): Promise<TurnResult> {
  const { store, outcomes, log, signal, machine, progress } = run;
  const patiently = <T>(use: () => Promise<T>): Promise<T> => untilStoreIsBack(use, signal, machine);
  const turns = await store.turns.ofJob(turn.job);
  const onRecorded = (): void => {
    progress.isRecorded = true;
    progress.kept = "pull-request";
  };
  const begin = await findBegin(job, turn, { ...run, job, turns });
  const { start, last, pullRequest } = begin;
  const context = { ...run, job, turns, committer: run.committers?.of(start) };
  // An earlier attempt has tried it: the job has never pushed anything, and nothing on it is missing on the target branch.
  if (!start.isContinued && job.head === null) progress.tried = start.remoteHead;
  let head = await patiently(() => findPushedCommit(turn, start, last, context));
  const isUnpushed = head === undefined;
  const made = isUnpushed ? await patiently(async () => (await restoreOwn(turn, last, context)) ?? last) : last;
  const unpushed = isUnpushed ? await findUnpushedCommit(turn, start, made, context.repository) : undefined;
  const isMade = head !== undefined || unpushed !== undefined;
  const found = outcomes?.find(turn);
  const keptTurn = !isMade && found === undefined ? findKeptTurn(turn, turns) : undefined;
  if (keptTurn !== undefined && !isPublished) {
    const check = (commit: string, before: string) =>
      checkAgain(turn, { ...start, head: before, instructed: undefined }, commit, context, signal);
    const done = await publishKept(keptTurn, turn, job, begin, onRecorded, check, context);
    if (done.end !== "nothing") {
      store.runningTurns.endEarlier(turn, keptTurn, done.checked);
      if (keptTurn.promptHash === hashPrompt(turn.prompt)) {
        log(`${turnName(keptTurn.id)} had the same prompt, so no agent is run.`);
        const report = { answer: keptTurn.answer ?? undefined, ...done.checked };
        await patiently(() => store.runningTurns.setReport(turn, report));
        return "completed";
      }
    }
    // The agent starts from what is published.
    progress.kept = undefined;
    return processPrepared(turn, (await store.jobs.find(job.id)) ?? job, run, true);
  }
  // The commit of the other ones was found in the clone.
  const kept = isMade || found?.commit === undefined ? found : undefined;
  // The worker has lost its lease since, so it may not have been stored.
  if (kept !== undefined) await store.runningTurns.setReport(turn, kept.report);
  let words = wordsOf(
    kept?.report ?? {},
    turns.find(({ id }) => id === turn.id),
  );
  const checkIt = async (commit: string, from: Start): Promise<void> => {
    const checked = await checkAgain(turn, from, commit, context, signal);
    await patiently(() => store.runningTurns.setReport(turn, checked));
    context.onChecked?.();
    words = wordsOf(checked, words);
  };
  const onMoved = async (commit: string, onto: string): Promise<void> => {
    if (run.commands?.check === undefined && !words.checkResult) return;
    log(`The commit was moved onto what others have pushed, as ${commit}. What its check showed no longer counts.`);
    await patiently(() => store.runningTurns.forgetCheck(turn));
    outcomes?.forgetCheck(turn);
    words = { ...words, checkResult: null, checkOutput: null };
    context.onChecked?.();
    await checkIt(commit, { ...start, head: onto, instructed: undefined });
  };
  if (unpushed !== undefined) {
    // The agent has run: the turn goes on with the check.
    progress.kept = "push";
    if (made?.parent !== start.head) await onMoved(unpushed, start.head);
    else if (kept?.report.checkResult === undefined) await checkIt(unpushed, start);
    head = await patiently(() => pushCommit(unpushed, turn, start, made, { ...context, onMoved }));
  } else if (head !== undefined && words.checkResult === null && run.keptCommits?.isOnlyPlace) {
    // A runner that was lost after its push has taken what the check showed with it.
    const before = (await context.repository.commits(start.base, head)).at(-2)?.commit ?? start.base;
    await checkIt(head, { ...start, head: before, instructed: undefined });
  }
  if (head === undefined) {
    const { reason, failureClass, commit, report } = kept ?? (await runAgentOnce(turn, job, begin, context));
    const pushed = { ...start, remoteHead: progress.tried ?? start.remoteHead };
    if (reason !== undefined) {
      context.onFailure?.({ reason, failureClass });
      return "failed";
    }
    if (kept === undefined) words = wordsOf(report);
    const said = report.answer === undefined ? "" : `The agent's last words:\n${report.answer}`;
    if (commit === undefined) log(`${noChangeNote} ${said}`);
    else {
      head = await patiently(() => pushCommit(commit, turn, pushed, last, { ...context, onMoved }));
      if (said !== "") log(said);
    }
  }
  const isUnopened = start.isContinued && job.pullRequest === null;
  if (head !== undefined || isUnopened) {
    const own = { ...turn, ...(head === undefined ? beforeReport : words) };
    const madeBy = (head === undefined ? await lastOnBranch(start, context) : undefined) ?? own;
    const work = { start, head: head ?? start.head, madeBy, pullRequest, onRecorded };
    await patiently(() => openPullRequest(turn, job, work, context));
  }
  await logEarlierFailures(turn, context);
  return "completed";
}

/** Returns the words and the cost of a turn's agent, as they are stored after its report. */
function wordsOf(report: StoredReport, before: AgentWords = beforeReport): AgentWords {
  return {
    answer: report.answer ?? before.answer,
    costUsd: report.costUsd ?? before.costUsd,
    checkResult: report.checkResult ?? before.checkResult ?? null,
    checkOutput: report.checkOutput ?? before.checkOutput ?? null,
  };
}

/** What is stored while an agent runs. */
const beforeReport: AgentWords = { answer: null, costUsd: unknownCost, checkResult: null, checkOutput: null };

/** Returns what the turn starts with. */
async function findBegin(job: StoredJob, turn: RunningTurn, context: TurnContext & RunContext): Promise<TurnStart> {
  const pullRequest = await readLastPullRequest(job, context);
  return { ...(await findStart(job, pullRequest, turn, context)), pullRequest };
}

/** Finds where the turn starts, after removing what does not count from the job's branch. */
async function findStart(
  job: StoredJob,
  { isMerged, mergedHead, bases }: LastPullRequest,
  turn: RunningTurn,
  context: TurnContext & RunContext,
): Promise<{ start: Start; last: JobCommit | undefined }> {
  const { repository, turns, targetBranch, log, progress } = context;
  const own = new Set(turns.flatMap(({ head }) => head ?? []));
  const lastPushed = job.head;
  const options = { isMerged, mergedHead, lastPushed, own, targetBranch, bases, instructions: findInstructions };
  for (let isFirst = true; ; isFirst = false) {
    // Others may share its fetch, so it is not killed, only waited for no longer. A turn whose agent has run may have a commit that
    // counts, and then it is too late to stop it.
    const [start, last] = await untilStopped(
      Promise.all([repository.findStart(jobBranch(job.id), options), repository.lastCommitOf(job.id)]),
      turn.attempts === 0 ? context.stop : undefined,
    );
    progress.start = start;
    try {
      const removed = await removeUncounted(start, context);
      if (removed.length === 0) return { start, last };
      log(
        `The commit of ${removed.map(turnName).join(", ")} is removed from ${start.branch}, because the turn ended without it.`,
      );
    } catch (error) {
      // Somebody may have pushed to the branch meanwhile.
      if (!isFirst || !(error instanceof GitError)) throw error;
    }
  }
}

/**
 * The part of the time limit that an agent leaves for the check of its commit. With less than this left after a check that failed, the
 * agent gets no second go.
 */
const checkRatio = 1 / 4;

/** Runs the agent of a turn, commits what it changed, and checks that. Waits for the store once the agent has run. */
async function runAgentOnce(
  turn: RunningTurn,
  job: StoredJob,
  begin: TurnStart,
  context: TurnContext & RunContext & { job: StoredJob },
): Promise<Outcome> {
  const { start } = begin;
  const { store, worktrees, homes, outcomes, directory, machine, stop, log, signal, commands } = context;
  const against = reasonAgainst(turn, stop, context.turns.find(({ id }) => id === turn.id)?.reason);
  if (against !== undefined) {
    log(stop?.aborted ? `No agent is run. ${against}` : against);
    return { reason: against, report: {}, commit: undefined };
  }
  for (const note of start.notes) log(note);
  await checkFreeSpace(context);
  await context.committer?.prepare();
  await tryBranch(start, context);
  const begunAt = machine.now();
  const leftMs = (): number => context.timeLimitMs - (machine.now() - begunAt);
  const worktree = await prepareWorktree(turn, start, context, { timeLimitMs: leftMs(), signal });
  const earlierUsd = await store.runningTurns.countAttempt(turn);
  await homes?.begin?.(turn, directory);
  // Of `setup` and the agent, for whoever has none.
  const startedAt = commands?.setup === undefined ? machine.now() : begunAt;
  const agentMs = (): number => {
    const limit = commands?.setup === undefined ? context.timeLimitMs : leftMs();
    return Math.max(1, commands?.check === undefined ? limit : limit * (1 - checkRatio));
  };
  const attempt = await runAttempt(turn, start, { ...context, timeLimitMs: agentMs() }, signal);
  const { end, isFollowUp, reason } = attempt;
  if (end === "stopped") throw new Stopped();
  context.onAgentEnd?.();
  const run = { report: attempt, project: job.project, isFollowUp, earlierUsd };
  const report = await untilStoreIsBack(() => reportOf(turn, run, context), signal, machine);
  // A lost lease shows again when the turn goes on. The worker may take the turn again, so what the agent did is kept first.
  await ignoringLoss(homes?.keep?.(turn, directory, log));
  await ignoringLoss(store.runningTurns.setReport(turn, report));
  const outcome: Outcome = { reason, failureClass: attempt.failureClass, report, commit: undefined };
  if (end === "completed") {
    await worktrees.takeBack(directory);
    const begin = () => startDeadline(machine, context.timeLimitMs, machine.now() - startedAt, stop);
    outcome.commit = await commitChange(turn, worktree, start, attempt, context, begin);
  }
  outcomes?.keep(turn, outcome);
  if (outcome.commit === undefined || commands?.check === undefined) return outcome;
  return checkOutcome(turn, begin, worktree, { ...outcome, commit: outcome.commit }, leftMs, { ...context, job });
}

/**
 * Checks the commit of a turn. If it has broken what was good, its agent gets one more go, on top of what it did. The first commit is
 * kept before, and is what the turn made unless the second go makes another one.
 */
async function checkOutcome(
  turn: RunningTurn,
  { start, last }: TurnStart,
  worktree: Worktree,
  first: Outcome & { commit: string },
  leftMs: () => number,
  context: TurnContext & RunContext & { job: StoredJob },
): Promise<Outcome> {
  const { store, repository, worktrees, homes, outcomes, directory, machine, stop, log, signal, progress, commands } =
    context;
  const patiently = <T>(use: () => Promise<T>): Promise<T> => untilStoreIsBack(use, signal, machine);
  const keep = async (commit: string): Promise<void> => {
    const earlier = last === undefined || last.commit === start.head ? undefined : last.commit;
    await repository.keep(commit, turn.job, earlier);
    progress.kept = "push";
    // A check can take minutes, in which a runner may be lost with its clone.
    if (context.keptCommits?.isOnlyPlace)
      await ignoringLoss(patiently(async () => void (await keepForOthers(turn, undefined, context))));
  };
  const check = async (outcome: Outcome, commit: string): Promise<Outcome> => {
    const limits = { timeLimitMs: Math.max(leftMs(), timeLeft(context.timeLimitMs, context.timeLimitMs)), signal };
    const checked = await checkCommit(turn, start, commit, context, limits).catch((error) => unchecked(error, log));
    const done = { ...outcome, report: { ...outcome.report, ...checked } };
    await ignoringLoss(patiently(() => store.runningTurns.setReport(turn, checked)));
    context.onChecked?.();
    outcomes?.keep(turn, done);
    return done;
  };
  await keep(first.commit);
  const done = await check(first, first.commit);
  const { checkResult, checkOutput = "" } = done.report;
  const minMs = context.timeLimitMs * checkRatio;
  if (checkResult !== "failed" || commands?.check === undefined || stop?.aborted || leftMs() < minMs) return done;
  log("The agent gets one more go, with the output of the check.");
  const again = { prompt: toldCheck(commands.check, checkOutput, "your change"), answer: first.report.answer ?? null };
  const turns = await patiently(() => store.turns.ofJob(turn.job));
  const told = { ...context, turns, timeLimitMs: leftMs() * (1 - checkRatio) };
  await ignoringLoss(patiently(() => store.runningTurns.setReport(turn, { costUsd: unknownCost })));
  // Those that nothing ignored any longer were removed.
  if (commands.setup !== undefined) await copyIgnored(directory.setup.files, directory.tree, stop);
  await commands.worktrees.lend(directory);
  const attempt = await runAttempt(turn, start, told, signal, again);
  if (attempt.end === "stopped") throw new Stopped();
  const run = { report: attempt, project: context.job.project, isFollowUp: true, earlierUsd: first.report.costUsd };
  const report = await patiently(() => reportOf(turn, run, told));
  const both = { ...done, report: { ...done.report, costUsd: report.costUsd ?? unknownCost } };
  await ignoringLoss(homes?.keep?.(turn, directory, log));
  await worktrees.takeBack(directory);
  let commit: string | undefined;
  if (attempt.end === "completed")
    try {
      const begin = () => startDeadline(machine, context.timeLimitMs, context.timeLimitMs - leftMs(), stop);
      commit = await commitChange(turn, worktree, start, attempt, context, begin);
    } catch (error) {
      log(`The second change cannot be committed: ${errorMessage(error)}`);
    }
  const isOther = commit !== undefined && (await repository.changedFiles(first.commit, commit)).length > 0;
  const { answer, sessionCost } = report;
  const outcome: Outcome =
    commit === undefined || !isOther
      ? both
      : { ...both, commit, report: { ...both.report, ...(answer !== undefined && { answer }), sessionCost } };
  await ignoringLoss(patiently(() => store.runningTurns.setReport(turn, { ...outcome.report, sessionCost })));
  if (commit === undefined || !isOther) {
    log("The second go is not used: it changed nothing more, or did not complete.");
    outcomes?.keep(turn, outcome);
    return outcome;
  }
  await keep(commit);
  // What the first check found is not what this commit is.
  return check(outcome, commit);
}

/**
 * Creates the job's branch before its agent runs, unless it is there, so that a rule that forbids it costs nothing.
 *
 * @throws with why the turn fails as the message, or the error of an outage
 */
async function tryBranch({ branch, head, remoteHead }: Start, context: RunContext): Promise<void> {
  const { repository, progress, confirmOwner, log } = context;
  if (remoteHead !== undefined) return;
  await confirmOwner();
  try {
    await repository.push(head, branch, undefined);
  } catch (error) {
    if (!(error instanceof GitError) || isRemoteOutage(error)) throw error;
    await repository.fetch([branch]);
    const found = await repository.branchHead(branch);
    if (found === undefined) {
      log(errorMessage(error));
      throw new HostRefused(describeRefusal(error, branch, "branch"), { cause: error });
    }
    // Others have pushed to it, which shows as well that it can be there.
    if (found !== head) return;
  }
  progress.tried = head;
}

/** Returns why no agent is run for a turn; `undefined` if one may be. @param known - why, if a copy of its job says so */
function reasonAgainst({ attempts }: Turn, stop?: AbortSignal, known?: string | null): string | undefined {
  if (attempts >= maxAttempts) return known ?? `The agent was interrupted ${attempts} times and is not run again.`;
  return stop?.aborted ? String(stop.reason) : undefined;
}

async function ignoringLoss(use: Promise<void> | undefined): Promise<void> {
  await use?.catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}

/**
 * Takes from the job's branch what this run pushed and what does not count, if the turn ended otherwise: see `findCounted`. Removes a branch
 * that was only tried.
 */
async function cleanBranch(turn: RunningTurn, result: TurnResult, context: RunContext): Promise<void> {
  const { store, repository, progress, log } = context;
  const { start, push, isRecorded, tried } = progress;
  try {
    if (result === "taken-over" && push !== undefined && !isRecorded) {
      // It may have been recorded although this was reported as failed, and never will be from now on.
      await undoPush(push, (await store.jobs.find(turn.job))?.head ?? null, repository);
      return;
    }
    const hasEnded = result === "completed" || result === "failed";
    // What is recorded counts. A push that was refused may have left the branch as it was tried.
    if (!hasEnded || start === undefined || (push !== undefined && (isRecorded || tried === undefined))) return;
    const { branch } = start;
    if (push === undefined && turn.attempts === 0) {
      if (tried !== undefined) await repository.push(undefined, branch, tried);
      return;
    }
    // An earlier attempt may have pushed since: a worker that lost the turn, or a push that was reported as failed.
    await repository.fetch([branch]);
    const remoteHead = await repository.branchHead(branch);
    if (remoteHead !== undefined && remoteHead === tried) await repository.push(undefined, branch, tried);
    else if (push === undefined) await removeUncounted({ ...start, remoteHead }, context, turn);
  } catch (error) {
    log(
      `A commit that does not count may be on the job's branch. The next turn removes it, or the service within an hour: ${errorMessage(error)}`,
    );
  }
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
async function logEarlierFailures(
  turn: Turn,
  { turns, log, secrets = [] }: Pick<TurnContext, "turns" | "log" | "secrets">,
): Promise<void> {
  const failed = turns.filter(({ id, state }) => id < turn.id && state === "failed");
  const patterns = new SecretPatterns(secrets);
  const told = failed.map(async (one) => `${turnName(one.id)} (${commitTitle(await patterns.remove(one.prompt))})`);
  const list = (await Promise.all(told)).join(", ");
  if (failed.length > 0) log(`The turn completed, but earlier turns of the job failed: ${list}.`);
}
