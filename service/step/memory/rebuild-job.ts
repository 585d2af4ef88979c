import type { DatedCommit } from "../../src/git/history.ts";
import type { JobCopy, TurnCopy } from "../../src/model.ts";
import { readNotes } from "../../src/pulls/commit-message.ts";
import { commitTitle } from "../../src/pulls/commit-title.ts";
import type { OwnPullRequest } from "../../src/pulls/github/own-pull-request.ts";
import { readFailedCheck, readTurns, type ToldTurn } from "../../src/pulls/pull-request-body.ts";
import { type NamedTurn, namedTurns } from "../../src/pulls/turn-trailers.ts";
import { newTurnIdentity } from "../../src/store/job-state.ts";
import { asksForSame, type Facts } from "../../src/turns/standing.ts";
import { maxTurnId } from "./job-entry.ts";
import { turnRow } from "./turn-row.ts";

/** A job, reconstructed from its branch and pull request. */
export interface RebuiltJob {
  /** With the turns whose commits are on the branch, oldest first; none if the branch was rewritten. */
  job: JobCopy;
  /** What GitHub and the refs say about each of them. */
  facts: ReadonlyMap<number, Facts>;
  /** The branch that its pull request targets by now, which people can change; `undefined` without one. */
  target?: string | undefined;
  /** A placeholder for a job without identifiable turns: a job has at least one. */
  unnamedTurn: TurnCopy;
}

/** For a branch without a pull request. */
const noPull = { link: null, createdAt: undefined, closedAt: null, head: null, body: "", target: undefined };

/** Returns the branch that a job was created for, as its commits say; `undefined` if none does. */
export const namedBase = (jobId: string, commits: readonly DatedCommit[]): string | undefined =>
  commits.flatMap(({ message }) => namedTurns(message)).find(({ job, base }) => job === jobId && base !== undefined)
    ?.base;

export interface JobSources {
  jobId: string;
  branch: string;
  projectId: string;
  /** The sender of all requests of the step. */
  caller: string;
  /** The project's own branch. */
  targetBranch: string;
  /** `undefined` if there is none yet. */
  pull: OwnPullRequest | undefined;
  /** Whether the branch was merged without a pull request. */
  isMerged: boolean;
  /** The steps that are being re-run. */
  reRun: ReadonlySet<string>;
  /** Newest first. */
  commits: readonly DatedCommit[];
  /** Kept commits that were not pushed. Default: none. */
  kept?: readonly DatedCommit[] | undefined;
}

/** In characters; the service's own are shorter. */
const maxSubjectLength = 200;
/** Enough attempts that the turn never runs again: its prompt comes from text that others can write. */
export const allAttempts = 2;

/**
 * Rebuilds a job from its branch and pull request on GitHub. Only the state of its pull request is trusted. Texts are data: prompts and
 * messages for the agent to read, never prompts of a turn that will run.
 *
 * @returns `undefined` without a pull request or commit
 */
export function rebuildJob({
  jobId,
  branch,
  projectId,
  caller,
  targetBranch,
  pull,
  isMerged,
  reRun,
  commits,
  kept = [],
}: JobSources): RebuiltJob | undefined {
  const own = commits.filter(({ message }) => namedTurns(message).some(({ job }) => job === jobId));
  const isReRun = namedTurns(own[0]?.message ?? "").some(({ key }) => key !== undefined && reRun.has(key.step));
  // The turn adopts a pull request that another account opened. That does not tell the check's result: the commit is checked again.
  const counted = pull?.isOthers && isReRun ? undefined : pull;
  const { link, closedAt, body, target, ...known } = counted ?? noPull;
  const ofCreate = namedBase(jobId, [...own, ...kept]);
  const base = target ?? ofCreate ?? targetBranch;
  const told = readTurns(body);
  const [first] = told;
  const unpublished = unpublishedCommits(counted, isMerged, commits);
  const facts = new Map<number, Facts>();
  const named = new Map<number, TurnCopy>();
  const add = (one: NamedTurn, commit: DatedCommit, said: Facts): void => {
    const text = isChange(one) ? takeTold(told, commit) : { prompt: "", answer: null };
    const found = { ...turnOf(one, commit, text), ...(one.key && { caller, ...one.key }) };
    facts.set(one.turn, said);
    named.set(one.turn, turnRow(said, found, undefined));
  };
  const turnsIn = ({ message }: DatedCommit): NamedTurn[] =>
    namedTurns(message).filter((one) => one.job === jobId && one.turn > 0 && one.turn <= maxTurnId);
  // Oldest first, so that a prompt that was sent twice matches the first commit.
  for (const commit of own.toReversed())
    for (const one of turnsIn(commit)) add(one, commit, { github: unpublished.has(commit) ? "pushed" : "published" });
  for (const commit of kept.toReversed())
    for (const one of turnsIn(commit)) {
      const { github, kept: said } = facts.get(one.turn) ?? {};
      // A commit on the branch is no longer only kept, and a turn that has begun may have ended.
      if (github === undefined && (said === undefined || said === "begun"))
        add(one, commit, { kept: one.left === undefined ? "made" : one.left === "stopped" ? "failed" : one.left });
    }
  const turns = [...named.values()].sort((a, b) => a.id - b.id);
  const createdAt = known.createdAt ?? own.at(-1)?.at ?? kept.at(-1)?.at;
  if (createdAt === undefined) return undefined;
  const hasUnpublished = turns.some(({ kept }) => kept === "pull-request");
  // A later turn passes what is kept, as `findKeptTurn` says, unless its runner was lost.
  const isKept = turns.findLast(({ attempts }) => attempts > 0)?.kept === "push";
  // The body describes the last commit. Otherwise, a re-run would pass although its check failed.
  const check = hasUnpublished ? undefined : readFailedCheck(body);
  const done = turns.filter(({ state, made }) => state === "completed" && made === undefined);
  const newest = done.at(-1);
  const ofHead = done.findLast(({ id }) => facts.get(id)?.github !== undefined);
  // The newest one may have only published the same.
  for (const turn of check && newest ? [newest, ofHead] : [])
    if (turn && asksForSame(turn, newest ?? turn))
      Object.assign(turn, { checkResult: check?.result, checkOutput: check?.output });
  const job: JobCopy = {
    id: jobId,
    project: projectId,
    createdAt,
    branch,
    // As a permanently running service does.
    archivedAt: hasUnpublished || isKept ? null : closedAt,
    // A merged pull request lacks these commits, and would make the next turn start over. What was never pushed can start over.
    pullRequest: hasUnpublished && counted?.state === "merged" ? null : link,
    head: own[0]?.commit ?? known.head,
    base: ofCreate === undefined && base === targetBranch ? null : base,
    session:
      [...own, ...kept].flatMap(({ message }) => namedTurns(message)).find(({ session }) => session)?.session ?? null,
    turns,
  };
  const unnamedTurn: TurnCopy = {
    id: createdAt * 1000,
    identity: newTurnIdentity(),
    prompt: first?.prompt ?? "",
    state: "completed",
    attempts: allAttempts,
    startedAt: null,
    endedAt: createdAt,
    answer: first?.answer ?? null,
  };
  return { job, facts, target, unnamedTurn };
}

/** Returns commits without a pull request: the service ended before it opened one, or GitHub rejected it. */
function unpublishedCommits(
  pull: OwnPullRequest | undefined,
  isMerged: boolean,
  commits: readonly DatedCommit[],
): ReadonlySet<DatedCommit> {
  if (pull === undefined) return new Set(isMerged ? [] : commits);
  const { closedAt, head, mergeCommit } = pull;
  if (closedAt === null) return new Set();
  const ofHead = commits.findIndex(({ commit }) => commit === head);
  // The branch may begin anew at the target branch. Its commits may be of the second in which the pull request was merged.
  const newest = ofHead >= 0 ? ofHead : commits.findIndex(({ commit }) => commit === mergeCommit);
  return new Set(newest >= 0 ? commits.slice(0, newest) : commits.filter(({ at }) => at > closedAt));
}

/** Returns whether a turn is named by the commit of its change, whose title is its prompt's. */
const isChange = ({ left }: NamedTurn): boolean => left === undefined || left === "unfinished" || left === "stopped";

/** Removes the turn that made a commit from the told turns, and returns it. */
function takeTold(told: ToldTurn[], { message }: DatedCommit): ToldTurn {
  const subject = (message.split("\n", 1)[0] ?? "").slice(0, maxSubjectLength);
  const index = told.findIndex(({ prompt }) => {
    const title = commitTitle(prompt);
    // GitHub appends the pull request's number to a squash commit.
    return subject === title || subject.startsWith(`${title} (#`) || isPrefixed(subject, title);
  });
  const [taken] = index === -1 ? [] : told.splice(index, 1);
  return taken ?? { prompt: subject, answer: null };
}

/** In characters: a title of this length is distinctive. */
const minTitleLength = 40;

/** Returns whether a subject consists of a prefix and a title, whose first letter may be lowercased and whose end may be cut off. */
function isPrefixed(subject: string, title: string): boolean {
  const start = title.toLowerCase().slice(0, title.endsWith("…") ? minTitleLength : undefined);
  return subject.toLowerCase().includes(`: ${start}`);
}

/** Returns a turn that a commit names, as failed: `turnRow` knows better. */
function turnOf(
  { turn, identity, promptHash, covers, left }: NamedTurn,
  { at, message }: DatedCommit,
  { prompt, answer }: ToldTurn,
): TurnCopy {
  const [reason] = left === undefined || left === "begun" ? [] : (readNotes(message).notes ?? []);
  return {
    id: turn,
    identity,
    prompt,
    promptHash,
    covers: covers ?? null,
    state: "failed",
    attempts: allAttempts,
    startedAt: null,
    endedAt: at,
    answer,
    reason,
    // Its agent has ended, so that it decides on what is kept of earlier turns, or has made it.
    ...((left === undefined || left === "failed" || left === "stopped") && { stage: "made" }),
  };
}
