import { unknownCost } from "../cost.ts";
import type { Worktree } from "../git/commit-worktree.ts";
import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { KeptWork, Made, RunningTurn, StoredJob, StoredTurn } from "../model.ts";
import type { Committer } from "../pulls/committers.ts";
import type { StoredReport } from "../store/running-turns.ts";
import { LeaseLost } from "../store-errors.ts";
import type { LastPullRequest } from "./last-pull-request.ts";
import type { Facts } from "./standing.ts";
import type { TurnContext } from "./turn-ports.ts";
import type { Push } from "./uncounted-commits.ts";

/** A turn's commit, and its place on the job's branch. */
export interface Placed {
  /** In the clone. */
  commit: string;
  parent: string;
  /** The turn's own commit, if there is more on top of it; this one is checked. Default: `commit`. */
  own?: string | undefined;
  /** The commit to compare a failed check with. */
  before: string;
  /** The branch head that it replaces; `undefined` if there is no branch. */
  expected: string | undefined;
  /** The counted part of `expected`; `undefined` if nothing counts. */
  counted: string | undefined;
  /** Whether it is on the branch, possibly below other commits. Default: no. */
  isPushed?: boolean | undefined;
  /** Whether the clone keeps it as the job's last commit, and whether it is pushed unmodified. Default: unknown. */
  isKept?: boolean | undefined;
  isFinal?: boolean | undefined;
  /** How often it was moved to a new branch head. Default: never. */
  moves?: number | undefined;
}

/** An agent run in this process, which allows a second one. */
export interface Go {
  worktree: Worktree;
  report: StoredReport;
  /** Returns the rest of the turn's time in milliseconds; negative if it is over. */
  leftMs: () => number;
  /** Whether this was the second run, which is the last. */
  isSecond: boolean;
}

/** A turn's stage, with what the next stage needs. */
export type Position =
  | { stage: "begun" }
  | { stage: "made"; placed: Placed; go?: Go | undefined }
  | { stage: "checked"; placed: Placed }
  /** `isEarlier`: everything on the branch was made by earlier turns. */
  | { stage: "pushed"; head: string; isEarlier?: boolean | undefined }
  | { stage: "published" }
  | { stage: "failed"; made: Made };

/** The work that a turn completes: its own agent's, or first an earlier turn's kept work. */
export interface Work {
  turn: RunningTurn;
  context: WorkContext;
  /** The turn that made the work, as stored. */
  maker: StoredTurn;
  isOwn: boolean;
  start: Start;
  /** The job's last commit before this turn. */
  last: JobCommit | undefined;
  /** As of when the turn was taken. */
  pullRequest: LastPullRequest;
  at: Position;
  /** An earlier turn's commit that conflicts with the branch. Default: none. */
  conflicting?: { maker: StoredTurn; found: JobCommit } | undefined;
  /** Whether other machines were told that its agent begins. Default: no. */
  hasBegun?: boolean | undefined;
  /** The turns whose unfinished work its agent started from. Default: none. */
  begunIn?: readonly StoredTurn[] | undefined;
  /** The head of a branch that was created only to test branch rules; otherwise `undefined`. */
  tried: string | undefined;
  /** The last push, set before it starts: it can arrive even if it is reported as failed. */
  pushed: Push | "recorded" | undefined;
}

/** What a source says about a turn, and how its commit is placed on the branch, if it is to be published. */
export interface Evidence extends Facts {
  /** Returns the turn's work with its position; `undefined` if it conflicts with the branch. */
  place?: () => Promise<Work | undefined>;
}

/** Returns whether the turn's own agent has run in this process. */
export const isMadeHere = ({ turn, maker, isOwn }: Work): boolean => isOwn && maker.attempts > turn.attempts;

/** A turn's dependencies before it is known where it stands. */
export interface RunContext extends Omit<TurnContext, "turns"> {
  /** Aborts when the service stops, or another worker has taken the turn over. */
  signal: AbortSignal;
  confirmOwner: () => Promise<void>;
  /** Retries a repeatable store operation until the store is available, to keep paid work. */
  patiently: <T>(use: () => Promise<T>) => Promise<T>;
}

export interface WorkContext extends RunContext, TurnContext {
  job: StoredJob;
  /** Turns the clone's commit into the pushed one. Default: it is pushed unmodified. */
  committer: Committer | undefined;
}

/** Appended to a failure reason if the agent's changes are kept. */
export const keptSentence =
  "What its agent changed is kept: the job's next request continues from there, unless three in a row did not complete.";

export const reasonWhenKept = (reason: string): string => `${reason.replace(/[^.!?]$/, "$&.")} ${keptSentence}`;

/** An interrupted attempt is repeated only once, because the agent may be what kills the service. */
export const maxAttempts = 2;

/** No check result counts. */
export const unchecked = { checkResult: null, checkOutput: null };

/** A turn's report while its agent runs. */
const beforeReport = { answer: null, costUsd: unknownCost, ...unchecked };

/** The row of a turn that is not stored yet. */
export const begunTurn = (maker: StoredTurn): StoredTurn => ({ ...maker, ...beforeReport, stage: "begun", made: null });

/** Applies a report to a turn's row; missing values stay unchanged. */
export function withReport(maker: StoredTurn, report: StoredReport): StoredTurn {
  return {
    ...maker,
    answer: report.answer ?? maker.answer,
    costUsd: report.costUsd ?? maker.costUsd,
    checkResult: report.checkResult ?? maker.checkResult,
    checkOutput: report.checkOutput ?? maker.checkOutput,
  };
}

/** Returns the agent's last message for the log. */
export const lastWords = ({ answer }: Pick<StoredTurn, "answer">): string =>
  answer === null ? "" : `The agent's last words:\n${answer}`;

/** Returns the kind of work that is kept if the turn fails now. */
export function keptOf({ at, pushed }: Work): KeptWork | undefined {
  if (at.stage === "made" || at.stage === "checked") return at.placed.isPushed ? "pull-request" : "push";
  if (at.stage === "pushed") return typeof pushed === "object" ? "push" : "pull-request";
  return at.stage === "published" ? "pull-request" : undefined;
}

/** Records a turn's result. */
export async function setMade(work: Work, made: Made, report?: StoredReport): Promise<void> {
  const { turn, context, isOwn } = work;
  work.maker = {
    ...withReport(work.maker, report ?? {}),
    ...unchecked,
    stage: "made",
    made: JSON.stringify(made),
  };
  if (!isOwn) return;
  const store = (): Promise<void> => context.store.runningTurns.setMade(turn, work.maker.attempts, made, report);
  await context.patiently(store).catch((error: unknown) => {
    // The store is back: recording it lets the next worker, possibly this one, skip the agent.
    if (error instanceof LeaseLost && context.signal.aborted) return store();
    throw error;
  });
}
