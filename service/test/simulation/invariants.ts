import { jobBranch } from "../../src/model.ts";
import { isCommitOf } from "../../src/pulls/commit-message.ts";
import { hourlyLimit } from "../../src/store/hourly-limit.ts";
import { hourMs } from "../../src/time.ts";
import { isOpen, isStopped, madeBy, type TurnRow } from "./audit.ts";
import { firstRequest } from "./client.ts";
import type { MachineProcess } from "./machine-process.ts";
import { type Commit, contains, historyOf, isForeign, targetBranch } from "./remote.ts";
import { type History, usesBefore } from "./simulate.ts";

/** Returns the violated guarantees of a history. */
export function findViolations(history: History): string[] {
  const turns = [...history.audit.turns.values()];
  return [
    ...history.audit.violations,
    ...(history.hasEnded ? [] : ["it does not come to an end"]),
    ...turns.filter(isOpen).map(({ id, state }) => `turn ${id} is ${state} forever`),
    ...falseAnswers(history, turns),
    ...turns.flatMap((turn) => wrongEnds(history, turn)),
    ...wrongCommits(history, turns),
    ...leftCommits(history, turns),
    ...wrongPages(history),
    ...wrongRuns(history, turns),
    ...repeatedRuns(history, turns),
    ...wrongLimits(history, turns),
    ...history.log.filter(
      (line) =>
        /Error: (?!Git was stopped|git (fetch|push) |the connection broke)/.test(line) && !isOfLost(line, history),
    ),
  ];
}

function falseAnswers({ answers, audit, faults }: History, turns: readonly TurnRow[]): string[] {
  return answers.flatMap(({ kind, isSent, error }, index) => {
    const stored = turns.filter(({ request }) => request === firstRequest(index)).length;
    const name = `request ${index}`;
    if (kind === "error") return [`${name} was answered with ${error}`];
    if (kind === "not-found") return faults.losses > 0 ? [] : [`${name} did not find its job`];
    if (kind === "accepted" && stored === 0 && audit.lost.has(firstRequest(index))) return [];
    if (kind === "accepted" && stored !== 1) return [`${name} was accepted, and has ${stored} turns`];
    const mayBeStored = isSent && (kind === "accepted" || kind === "unknown" || kind === "none");
    if (stored > (mayBeStored ? 1 : 0)) return [`${name} was answered with ${kind}, and has ${stored} turns`];
    return [];
  });
}

function wrongEnds(history: History, turn: TurnRow): string[] {
  const { runs, remote, audit, faults, stopped } = history;
  const { id, job, state, attempts, request, kept } = turn;
  const commits = [...historyOf(remote.branches.get(jobBranch(job)))].filter(({ message }) =>
    isCommitOf(turn, message),
  );
  if (commits.length > 1) return [`turn ${id} has ${commits.length} commits`];
  const own = runs.filter((run) => run.request === request && run.end !== "stopped");
  const changes = own.filter(({ isChanging }) => isChanging);
  if (changes.length === 0 && commits.length > 0) return [`turn ${id} changed nothing, and has a commit`];
  if (state === "completed" && own.length === 0) return wrongPublication(history, turn);
  if (state === "completed") {
    if (own.every(({ end }) => end === "failed")) return [`turn ${id} completed, although its agent fails`];
    if (changes.length === own.length && commits.length === 0) return [`turn ${id} completed without its commit`];
  }
  if (isStopped(turn)) return stopped.has(id) ? [] : [`turn ${id} was stopped, although nobody asked for it`];
  if (state !== "failed" || faults.has("git-down")) return [];
  // A push is tried five times. Others may be faster each time.
  const others = remote.pushes.filter(({ branch, commit }) => branch === jobBranch(job) && commit && isForeign(commit));
  if (others.length > 4) return [];
  const isRefused = faults.refusedBetween(audit.takenAt.get(id) ?? 0, audit.ended.get(id)?.at ?? 0);
  const mayConflict = faults.has("foreign-push");
  if (kept !== null)
    return isRefused || mayConflict ? [] : [`something of turn ${id} is kept, although nothing was refused`];
  const hasChanged = changes.some(({ end }) => end === "completed");
  // A store that was restored has lost the count of the agent before.
  const hasFailedLast = runs.findLast((run) => run.request === request)?.end === "failed";
  if (isRefused && hasChanged && attempts < 2 && !hasFailedLast) return [`nothing is kept of turn ${id}`];
  if (isRefused && !hasChanged) return [];
  const hasFailed = runs.some((run) => run.request === request && run.end === "failed");
  return hasFailed || attempts >= 2 ? [] : [`turn ${id} failed, although its agent did not`];
}

/** Judges a turn that completed without an agent: it has published what was kept of an earlier one with its prompt. */
function wrongPublication({ remote, audit }: History, turn: TurnRow): string[] {
  const { id, job, prompt } = turn;
  const turns = [...audit.turns.values()];
  const maker = madeBy({ job, id: id - 1 }, turns);
  const isKept = maker !== undefined && (maker.kept !== null || audit.published.has(maker.id));
  if (maker?.prompt !== prompt || !isKept) return [`turn ${id} completed without an agent`];
  const { head = null, pullRequest } = audit.jobs.get(job) ?? {};
  const published = [...historyOf(remote.commits.get(head ?? ""))];
  return pullRequest !== null && published.some(({ message }) => isCommitOf(maker, message))
    ? []
    : [`turn ${id} completed without what was kept of turn ${maker.id}`];
}

/** Finds agents that have run for a prompt again although what the first one did was kept. */
function repeatedRuns({ runs, jobLog, faults }: History, turns: readonly TurnRow[]): string[] {
  if (faults.losses > 0) return [];
  return turns.flatMap(({ id, job, prompt, request }) => {
    const maker = madeBy({ job, id: id - 1 }, turns);
    const isRepeated = maker?.prompt === prompt && runs.some((run) => run.request === request);
    // Those after it may have failed without an agent, too.
    const isKept = maker !== undefined && maker.kept !== null;
    const isExcused = (line: string): boolean =>
      line.includes("The commit is only on this machine") ||
      (line.includes("conflicts with what others have pushed since") && faults.has("foreign-push"));
    const isSaid = jobLog.some((line) => line.includes(job) && isExcused(line));
    return isRepeated && isKept && !isSaid ? [`an agent ran for turn ${id}, although turn ${maker.id} is kept`] : [];
  });
}

function wrongCommits({ remote, audit, faults }: History, turns: readonly TurnRow[]): string[] {
  const violations: string[] = [];
  for (const { branch, commit, before, at } of remote.pushes)
    for (const removed of historyOf(before)) {
      if (commit !== undefined && contains(commit, removed.id)) break;
      if (isForeign(removed) || at > (audit.recorded.get(removed.id) ?? at))
        violations.push(`a push removed a commit from ${branch}`);
    }
  for (const { head } of audit.jobs.values())
    for (let commit = remote.commits.get(head ?? ""), isForeignOnTop = false; commit; commit = commit.parent) {
      const { id, message } = commit;
      // A person who pushed on top of a commit wants it. What was recorded on top of one was lost with it, and comes later then.
      const mayCount =
        faults.losses > 0 ||
        isForeignOnTop ||
        audit.recorded.has(id) ||
        !turns.some((turn) => isCommitOf(turn, message));
      if (!mayCount) violations.push("a commit counts that no owner of its turn has recorded");
      isForeignOnTop = isForeign(commit);
    }
  for (const { id: job, pullRequest } of audit.jobs.values()) {
    const own = turns.filter((turn) => turn.job === job);
    const messages = [...historyOf(remote.branches.get(jobBranch(job)))].map(({ message }) => message).reverse();
    const positions = own.map((turn) => messages.findIndex((message) => isCommitOf(turn, message)));
    const found = positions.filter((position) => position >= 0);
    if (faults.losses === 0 && found.some((position, index) => position < (found[index - 1] ?? 0)))
      violations.push("the commits of a job are not in the order of its turns");
    const last = own.at(-1);
    // A push of an earlier turn that arrives later is not seen by the last one.
    const takenAt = audit.takenAt.get(last?.id ?? 0) ?? 0;
    const isSeen = remote.pushes.some(
      ({ commit, at }) =>
        commit !== undefined &&
        audit.recorded.has(commit.id) &&
        own.some((turn) => isCommitOf(turn, commit.message) && (turn === last || at < takenAt)),
    );
    if (last?.state === "completed" && isSeen && pullRequest === null)
      violations.push("a job with a commit has no pull request");
  }
  return violations;
}

/** Finds commits that do not count and that are left on a branch, or that a turn should have removed. */
function leftCommits(
  { remote, uncleaned, audit, runs, jobLog, machines, faults }: History,
  turns: readonly TurnRow[],
): string[] {
  const hasLived = (process: MachineProcess | undefined): boolean => machines.some((one) => one.process === process);
  const turnOf = (head: Commit | undefined): TurnRow | undefined =>
    audit.recorded.has(head?.id ?? "") ? undefined : turns.find((one) => head && isCommitOf(one, head.message));
  /** Whether the worker that ended the last turn of a job had to remove the branch that was only tried. */
  const isLeft = (job: string): boolean => {
    const last = turns.findLast((one) => one.job === job);
    const ended = audit.ended.get(last?.id ?? 0);
    const created = remote.pushes.findLast(({ branch, commit }) => branch === jobBranch(job) && commit)?.at ?? 0;
    if (last === undefined || ended === undefined || isStopped(last)) return false;
    return hasLived(ended.by) && created < ended.at;
  };
  return [...audit.jobs.values()].flatMap(({ id: job }) => {
    const last = remote.branches.get(jobBranch(job));
    const main = remote.branches.get(targetBranch);
    if (last && main && contains(main, last.id)) return ["a branch without a commit of its own is never removed"];
    const left = turnOf(last);
    if (left !== undefined) return [`a commit of turn ${left.id} that does not count is never removed`];
    const head = uncleaned.get(jobBranch(job));
    const turn = turnOf(head);
    // Whoever cannot remove one says so.
    const isSaid = jobLog.some((line) => line.includes(job) && line.includes("The next turn removes it"));
    const isExcused = isSaid || faults.losses > 0;
    const isTried = head !== undefined && main !== undefined && contains(main, head.id);
    if (isTried && !isExcused && isLeft(job)) return ["a branch without a commit of its own is left"];
    // Whoever has ended it in a lost second looks no more.
    if (turn === undefined || isExcused) return [];
    const push = remote.pushes.findLast(({ commit }) => commit === head);
    const isNoticed = runs.some(
      ({ request, process, end, endedAt = 0 }) =>
        request === turn.request &&
        (end === "completed" || end === "failed") &&
        process !== push?.by &&
        hasLived(process) &&
        endedAt > (push?.at ?? 0),
    );
    return hasLived(push?.by) || isNoticed
      ? [`a commit of turn ${turn.id} that does not count is left on its branch`]
      : [];
  });
}

/** A worker says so if the store has lost the job whose turn it has just taken. */
const isOfLost = (line: string, { audit }: History): boolean =>
  audit.lost.size > 0 && line.includes("Error: the store does not have the job of this turn");

function wrongPages({ audit, pages }: History): string[] {
  return [...audit.jobs.values()].flatMap(({ id, head, pullRequest }) => {
    const page = pages.findLast(({ job }) => job === id);
    if (page === undefined || pullRequest === null) return [];
    if (!pullRequest.endsWith(`/pull/${page.number}`))
      return ["a job has a page of a pull request that it does not link"];
    return page.head === head ? [] : ["the page of a pull request shows another head than its job"];
  });
}

function wrongRuns({ runs, audit, faults }: History, turns: readonly TurnRow[]): string[] {
  return turns.flatMap(({ id, request }) => {
    const own = runs.filter((run) => run.request === request);
    const requeues = audit.requeues.get(id) ?? [];
    // What was counted in a lost second is forgotten.
    const allowed = 2 + requeues.length + faults.losses;
    const isUncounted = own
      .filter(({ end }) => end === "completed" || end === "failed")
      .some(({ startedAt, endedAt = 0, process }) =>
        requeues.some(
          (one) => one.process === process && one.takenAt <= startedAt && endedAt < one.at && !one.isCounted,
        ),
      );
    if (isUncounted) return [`turn ${id} was requeued after its agent had run as if it had not`];
    if (own.length > allowed) return [`agents ran ${own.length} times for turn ${id}, more than ${allowed}`];
    // What the store does makes no worker run an agent again, or give up a turn whose agent has run. Git and a full disk can.
    if (faults.has("git-down") || faults.has("no-space") || faults.has("foreign-push") || faults.losses > 0) return [];
    return own.flatMap(({ end, startedAt, endedAt = 0, process }, index) => {
      if (end !== "completed" && end !== "failed") return [];
      const isStopping = process.stoppedAt !== undefined;
      const later = own.slice(index + 1);
      const again = later.find((run) => run.process === process);
      const isBetween = later.some((run) => run.process !== process);
      if (again !== undefined && !isBetween && !isStopping)
        return [`a worker ran the agent of turn ${id} again that had run`];
      const next = later[0]?.startedAt ?? 0;
      const returns = requeues.filter((one) => one.process === process && one.at > endedAt && !isStopping);
      if (returns.some(({ takenAt }) => takenAt <= startedAt))
        return [`turn ${id} was requeued after its agent had run`];
      return returns.some(({ at }) => next > at)
        ? [`turn ${id} was requeued after its agent had run, and run again`]
        : [];
    });
  });
}

/** How late a client learns that a limit was reached. */
const lateMs = 120_000;

function wrongLimits({ scenario, audit, answers, faults }: History, turns: readonly TurnRow[]): string[] {
  const violations: string[] = [];
  const before = usesBefore(scenario);
  for (const project of ["p0", "p1"])
    for (const isMessage of [false, true]) {
      const uses = turns
        .filter(
          ({ job, acceptedAs }) => audit.jobs.get(job)?.project === project && (acceptedAs === "message") === isMessage,
        )
        .map(({ id }) => audit.acceptedAt.get(id) ?? 0);
      const used = [...before, ...uses];
      const countIn = (from: number, to: number) => used.filter((at) => at > from && at <= to).length;
      if (uses.some((at) => countIn(at - hourMs, at) > hourlyLimit))
        violations.push(`${project} has more ${isMessage ? "messages" : "creates"} in an hour than are allowed`);
      for (const [index, { kind, answeredAt = 0, project: of, isMessage: is }] of answers.entries())
        if (kind === "limited" && faults.losses === 0 && of === project && is === isMessage)
          if (countIn(answeredAt - hourMs - lateMs, answeredAt) < hourlyLimit)
            violations.push(`request ${index} was rejected, although its project has not used up its limit`);
    }
  return violations;
}
