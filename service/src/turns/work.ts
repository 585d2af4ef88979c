import { unknownCost } from "../cost.ts";
import type { Worktree } from "../git/commit-worktree.ts";
import type { Start } from "../git/find-start.ts";
import type { JobCommit } from "../git/job-commits.ts";
import type { KeptWork, Made, RunningTurn, StoredJob, StoredTurn } from "../model.ts";
import type { Committer } from "../pulls/committers.ts";
import type { StoredReport } from "../store/running-turns.ts";
import { LeaseLost } from "../store-errors.ts";
import type { LastPullRequest } from "./last-pull-request.ts";
import type { TurnContext } from "./turn-ports.ts";
import type { Push } from "./uncounted-commits.ts";

/** A commit of a turn, and its place on the job's branch. */
export interface Placed {
  /** In the clone. */
  commit: string;
  parent: string;
  /** The turn's own commit, which is checked, if there is more on top of it. Default: `commit`. */
  own?: string | undefined;
  /** What its check is compared with, if that fails. */
  before: string;
  /** The head of the branch that it takes the place of; `undefined` if there is no branch. */
  expected: string | undefined;
  /** What of that counts; `undefined` if nothing does. */
  counted: string | undefined;
  /** Whether it is on the branch, perhaps below what others have pushed. Default: no. */
  isPushed?: boolean | undefined;
  /** Whether the clone keeps it as the last one of the job, and whether it is pushed as it is. Default: that is unknown. */
  isKept?: boolean | undefined;
  isFinal?: boolean | undefined;
  /** How often it was moved because the branch had moved. Default: never. */
  moves?: number | undefined;
}

/** The run of an agent in this process, after which it can have another go. */
export interface Go {
  worktree: Worktree;
  report: StoredReport;
  /** Returns what is left of the turn's time, in milliseconds. Negative if it is over. */
  leftMs: () => number;
  /** Whether it was the second one, which is the last. */
  isSecond: boolean;
}

/** Where a turn stands, with what the next stage needs. */
export type Position =
  | { stage: "begun" }
  | { stage: "made"; placed: Placed; go?: Go | undefined }
  | { stage: "checked"; placed: Placed }
  /** `isEarlier`: only earlier turns have made what is on the branch. */
  | { stage: "pushed"; head: string; isEarlier?: boolean | undefined }
  | { stage: "published" }
  | { stage: "failed"; made: Made };

/** What a turn brings to its end: what its own agent makes, or before that, what is kept of an earlier turn. */
export interface Work {
  turn: RunningTurn;
  context: WorkContext;
  /** The turn whose work it is, with what is stored of it. */
  maker: StoredTurn;
  isOwn: boolean;
  start: Start;
  /** The last commit made for the job before. */
  last: JobCommit | undefined;
  /** The job's last pull request, when the turn was taken. */
  pullRequest: LastPullRequest;
  at: Position;
  /** A commit of an earlier turn that conflicts with what others have pushed since. Default: there is none. */
  conflicting?: { maker: StoredTurn; found: JobCommit } | undefined;
  /** Whether what its agent changed is kept although the turn fails. Default: no. */
  hasUnfinished?: boolean | undefined;
  /** Whether other machines were told that its agent begins. Default: no. */
  hasBegun?: boolean | undefined;
  /** The turns whose unfinished work its agent began in. Default: none. */
  begunIn?: readonly StoredTurn[] | undefined;
  /** Where the job's branch was created to try whether it can be; `undefined` if it is not there for that alone. */
  tried: string | undefined;
  /** The last push, from before it begins: it can arrive even if it is reported as failed. */
  pushed: Push | "recorded" | undefined;
}

/** Returns whether the turn's own agent has run in this process. */
export const isMadeHere = ({ turn, maker, isOwn }: Work): boolean => isOwn && maker.attempts > turn.attempts;

/** What a turn depends on while it runs, before it is known where it stands. */
export interface RunContext extends Omit<TurnContext, "turns"> {
  /** Aborts when the service stops, or another worker has taken the turn over. */
  signal: AbortSignal;
  /** Throws if another worker has taken the turn over. */
  confirmOwner: () => Promise<void>;
  /** Does what can be repeated with the store, again while that cannot be used. For what an agent was paid for. */
  patiently: <T>(use: () => Promise<T>) => Promise<T>;
}

export interface WorkContext extends RunContext, TurnContext {
  job: StoredJob;
  /** Makes the commit that is pushed of the one in the clone. Default: that is pushed. */
  committer: Committer | undefined;
}

/** Follows why a turn failed, if what its agent changed is kept. */
export const keptSentence = "What its agent changed is kept: the job's next request goes on from there.";

/** Returns why a turn failed, with that if something is kept. */
export const reasonWhenKept = (reason: string): string => `${reason.replace(/[^.!?]$/, "$&.")} ${keptSentence}`;

/** What is stored of a turn while its agent runs. */
const beforeReport = { answer: null, costUsd: unknownCost, checkResult: null, checkOutput: null };

/** The row of a turn of which the store has none yet. */
export const begunTurn = (maker: StoredTurn): StoredTurn => ({ ...maker, ...beforeReport, stage: "begun", made: null });

/** Returns the row of a turn with a report; what that does not say stays as it is. */
export function withReport(maker: StoredTurn, report: StoredReport): StoredTurn {
  return {
    ...maker,
    answer: report.answer ?? maker.answer,
    costUsd: report.costUsd ?? maker.costUsd,
    checkResult: report.checkResult ?? maker.checkResult,
    checkOutput: report.checkOutput ?? maker.checkOutput,
  };
}

/** Returns what the agent of a turn said last, for the log. */
export const lastWords = ({ answer }: Pick<StoredTurn, "answer">): string =>
  answer === null ? "" : `The agent's last words:\n${answer}`;

/** Returns what is kept of work if its turn fails now. */
export function keptOf({ at, pushed }: Work): KeptWork | undefined {
  if (at.stage === "made" || at.stage === "checked") return at.placed.isPushed ? "pull-request" : "push";
  if (at.stage === "pushed") return typeof pushed === "object" ? "push" : "pull-request";
  return at.stage === "published" ? "pull-request" : undefined;
}

/** Records what a turn has made. */
export async function setMade(work: Work, made: Made, report?: StoredReport): Promise<void> {
  const { turn, context, isOwn } = work;
  work.maker = {
    ...withReport(work.maker, report ?? {}),
    checkResult: null,
    checkOutput: null,
    stage: "made",
    made: JSON.stringify(made),
  };
  if (!isOwn) return;
  const store = (): Promise<void> => context.store.runningTurns.setMade(turn, work.maker.attempts, made, report);
  await context.patiently(store).catch((error: unknown) => {
    // The store is back, and whoever takes the turn now, perhaps this worker, need not run its agent again.
    if (error instanceof LeaseLost && context.signal.aborted) return store();
    throw error;
  });
}
