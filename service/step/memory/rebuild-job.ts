import type { DatedCommit } from "../../src/git/history.ts";
import type { JobCopy, TurnCopy } from "../../src/model.ts";
import { readNotes } from "../../src/pulls/commit-message.ts";
import { commitTitle } from "../../src/pulls/commit-title.ts";
import type { OwnPullRequest } from "../../src/pulls/github/own-pull-request.ts";
import { readFailedCheck, readTurns, type ToldTurn } from "../../src/pulls/pull-request-body.ts";
import { type NamedTurn, namedTurns } from "../../src/pulls/turn-trailers.ts";
import { newTurnIdentity } from "../../src/store/job-state.ts";
import { maxTurnId } from "./job-entry.ts";

/** A job as its branch and its pull request tell it. */
export interface RebuiltJob {
  /** With the turns whose commits are on the branch, oldest first: none if others rewrote it. */
  job: JobCopy;
  /** Stands for the turns of a job whose branch names none: a job has at least one. */
  unnamedTurn: TurnCopy;
}

/** The pull request of a branch that has none yet. */
const noPull = { link: null, createdAt: undefined, closedAt: null, head: null, body: "", target: undefined };

export interface JobSources {
  jobId: string;
  branch: string;
  projectId: string;
  /** Who sends all requests of the step. */
  caller: string;
  /** The project's own branch. */
  targetBranch: string;
  /** `undefined` if the branch has none yet. */
  pull: OwnPullRequest | undefined;
  /** Whether somebody has merged the branch without one. */
  isMerged: boolean;
  /** The steps that are run again. */
  reRun: ReadonlySet<string>;
  /** The newest commits of the branch, newest first. */
  commits: readonly DatedCommit[];
  /** Those that are kept, and were not pushed. Default: none. */
  kept?: readonly DatedCommit[] | undefined;
}

const reason = "Its work is on the job's branch, but its pull request was not opened.";
const unfinishedReason = "Its agent did not complete.";
/** Of one that works on another runner, too: this one knows nothing of its end. */
export const lostReason =
  "Its runner was lost, or works still. Its agent is not run again, unless its own workflow run is.";
const keptReason = "Its agent had ended, and its work was not pushed: it is kept.";
/** In characters. Those of the service are shorter. */
const maxSubjectLength = 200;
/** So many attempts that the turn is never run again: its prompt is not what somebody sent, but what others can have written. */
export const allAttempts = 2;

/**
 * Rebuilds a job from its branch and pull request on GitHub. Only the state of its pull request is sure. Texts are data: prompts and messages for
 * the agent to read, never prompts of a turn that will run.
 *
 * @returns `undefined` if nothing names the job: it has no pull request, and no commit
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
  // The turn takes what another account opened for its own. What the check of its commit showed, that does not tell: it is checked again.
  const counted = pull?.isOthers && isReRun ? undefined : pull;
  const { link, closedAt, body, target = targetBranch, ...known } = counted ?? noPull;
  const told = readTurns(body);
  const [first] = told;
  const unpublished = unpublishedCommits(counted, isMerged, commits);
  const named = new Map<number, TurnCopy>();
  // Oldest first, so that a prompt that was sent twice is told by the first one.
  for (const commit of own.toReversed())
    for (const one of namedTurns(commit.message))
      if (one.job === jobId && one.turn > 0 && one.turn <= maxTurnId)
        named.set(one.turn, {
          ...turnOf(one, commit, takeTold(told, commit), !unpublished.has(commit)),
          ...(one.key && { caller, ...one.key }),
        });
  // What the branch has is no longer kept only.
  for (const commit of kept)
    for (const one of namedTurns(commit.message))
      if (one.job === jobId && one.turn > 0 && one.turn <= maxTurnId && !named.has(one.turn))
        named.set(one.turn, {
          ...turnOf(one, commit, takeTold(told, commit), one.left === "nothing"),
          ...endOfKept(one, commit),
          ...(one.key && { caller, ...one.key }),
        });
  const turns = [...named.values()].sort((a, b) => a.id - b.id);
  const createdAt = known.createdAt ?? own.at(-1)?.at ?? kept.at(-1)?.at;
  if (createdAt === undefined) return undefined;
  const isPublished = turns.every(({ kept }) => !kept || kept === "unfinished");
  // The body tells of the last commit. Without it, a re-run would pass that its check has failed.
  const check = isPublished ? readFailedCheck(body) : undefined;
  const newest = turns.findLast(({ kept }) => !kept);
  if (newest && check) Object.assign(newest, { checkResult: check.result, checkOutput: check.output });
  const job: JobCopy = {
    id: jobId,
    project: projectId,
    createdAt,
    branch,
    // As a service does that runs all the time.
    archivedAt: isPublished ? closedAt : null,
    // A merged one does not have them, and would make the next turn start over.
    pullRequest: !isPublished && counted?.state === "merged" ? null : link,
    head: own[0]?.commit ?? known.head,
    base: target === targetBranch ? null : target,
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
  return { job, unnamedTurn };
}

/** Returns how a turn ended whose commit is kept. */
function endOfKept({ left }: NamedTurn, { message }: DatedCommit): Partial<TurnCopy> {
  if (left === "nothing") return { made: "{}", stage: "published" };
  if (left === "failed") return { kept: null, reason: readNotes(message).notes?.[0] ?? unfinishedReason };
  if (left === "begun") return { kept: null, reason: lostReason };
  if (left === "unfinished") return { kept: "unfinished", reason: readNotes(message).notes?.[0] ?? unfinishedReason };
  return { kept: "push", reason: keptReason };
}

/** Returns the commits without a pull request, because the service ended before it opened one, or GitHub did not let it. */
function unpublishedCommits(
  pull: OwnPullRequest | undefined,
  isMerged: boolean,
  commits: readonly DatedCommit[],
): ReadonlySet<DatedCommit> {
  if (pull === undefined) return new Set(isMerged ? [] : commits);
  const { closedAt, head } = pull;
  if (closedAt === null) return new Set();
  const headAt = commits.findIndex(({ commit }) => commit === head);
  return new Set(headAt >= 0 ? commits.slice(0, headAt) : commits.filter(({ at }) => at > closedAt));
}

/** Takes from the told turns the one that made a commit. */
function takeTold(told: ToldTurn[], { message }: DatedCommit): ToldTurn {
  const subject = (message.split("\n", 1)[0] ?? "").slice(0, maxSubjectLength);
  const index = told.findIndex(({ prompt }) => {
    const title = commitTitle(prompt);
    // GitHub adds the number of the pull request when it squashes.
    return subject === title || subject.startsWith(`${title} (#`) || isPrefixed(subject, title);
  });
  const [taken] = index === -1 ? [] : told.splice(index, 1);
  return taken ?? { prompt: subject, answer: null };
}

/** In characters: so many of a title tell it from others. */
const minTitleLength = 40;

/** Returns whether a subject has a title after a prefix, which makes the title's first letter small, and can have cut its end. */
function isPrefixed(subject: string, title: string): boolean {
  const start = title.toLowerCase().slice(0, title.endsWith("…") ? minTitleLength : undefined);
  return subject.toLowerCase().includes(`: ${start}`);
}

/** A turn whose work has no pull request has failed, and what is kept of it is published first if the job gets another one. */
function turnOf(
  { turn, identity, promptHash, covers }: NamedTurn,
  { at }: DatedCommit,
  { prompt, answer }: ToldTurn,
  isPublished: boolean,
): TurnCopy {
  const end = isPublished
    ? { state: "completed" as const }
    : ({ state: "failed", kept: "pull-request", reason } as const);
  return {
    id: turn,
    identity,
    prompt,
    promptHash,
    covers: covers ?? null,
    attempts: allAttempts,
    startedAt: null,
    endedAt: at,
    answer,
    ...end,
  };
}
