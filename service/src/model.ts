/*
 * Terms of the project:
 *
 * job      what a client creates: work on one project, with a branch and at most one open pull request
 * turn     one prompt of a job: the create's or a message's; the turns of a job run one after another
 * attempt  one run of an agent for a turn; a turn has a second one only if the first was interrupted
 * worker   a process that takes turns and runs them
 * step     the action's run in a workflow; it creates a job or sends a message, and polls
 * run      GitHub's workflow run, which the step is part of
 *
 * Times are milliseconds since 1970, unless a comment says otherwise.
 */

/** A job's state in the store: `active` while a turn of the job is waiting or running, otherwise its last turn's result. */
export type JobState = "active" | "completed" | "failed";

/** A job's status in the API. Specification: "States and transitions". */
export type JobStatus = JobState | "archived";

export type TurnState = "waiting" | "running" | "completed" | "failed";

/** The state of a turn that has ended. */
export type EndedState = Extract<TurnState, "completed" | "failed">;

/**
 * How a turn ended. `stopped`: the signal aborted it, run it again. `postponed`: it cannot run now; run it again later, which
 * does not repeat what was pushed. `taken-over`: another worker runs it.
 */
export type TurnResult = EndedState | "stopped" | "postponed" | "taken-over";

/**
 * What is kept of the work of a turn that failed. GitHub refused it: `pull-request`: its commit is on the job's branch, which has no pull
 * request; `push`: its commit is in the clone. `unfinished`: its agent did not complete, or the service refused its change. That is in the
 * clone, and is never published as it is: the job's next agent begins in it.
 */
export type KeptWork = (typeof keptWorks)[number];

export const keptWorks = ["pull-request", "push", "unfinished"] as const;

/** What the check of a turn's commit showed. `failed-before`: it fails on what the turn started with, too. */
export type CheckResult = (typeof checkResults)[number];

export const checkResults = ["passed", "failed", "failed-before"] as const;

/** A job as the API shows it. Specification: "Agent job". */
export interface JobRecord {
  id: string;
  status: JobStatus;
  source: { repository: string; ref: string | null };
  model: string;
  prLink: string | null;
  createdAt: string;
  archivedAt: string | null;
  /** The branch that the create named as its base, or that a rebuilt job's pull request targets by now. Absent if it named none. Not in the specification. */
  base?: string;
  /** What is kept of its last turn, which the next one publishes first or begins in. Absent if nothing is. Not in the specification. */
  kept?: KeptWork;
}

/** A create or a message that was rejected because its project has used up its hourly limit. */
export interface RateLimited {
  /** Milliseconds until the next one is accepted. */
  retryAfterMs: number;
}

/**
 * Identifies a request of a client, so that it adds one turn however often it is sent. Unique in a project. IETF HTTPAPI:
 * "The Idempotency-Key HTTP Header Field".
 */
export interface RequestKey {
  /** Who sent it: the name of the API key, or the id of a workflow's repository. A new API key of the same name is the same caller. */
  caller: string;
  /** What it was sent for, by which the caller finds its turns again. Empty if the caller did not say. Printable ASCII. */
  step: string;
  /** Tells the requests of a step apart. Not empty. Printable ASCII. */
  request: string;
}

/** A request whose key an earlier one had, which has added a turn. Nothing was added. */
export interface Replayed {
  /** The job of that turn as it is now. */
  replayed: StoredJob;
  /** The id of that turn. */
  turn: number;
}

/** A row of `job`. */
export interface StoredJob {
  id: string;
  project: string;
  createdAt: number;
  /** The one that it works on. Ends with its id: see `jobBranch`. */
  branch: string;
  state: JobState;
  /** When its last turn ended; `null` while it is active. */
  idleSince: number | null;
  /** What is kept of its last turn; `null` if nothing is, or while it is active. */
  kept: KeptWork | null;
  archivedAt: number | null;
  /** The link to the job's last pull request, and the last commit pushed to it. `null` before the first one. */
  pullRequest: string | null;
  head: string | null;
  /** The model that it was created for; `null` if that is unknown. */
  model: string | null;
  /** The branch that it starts from, and that its pull request targets; `null`: the project's. */
  base: string | null;
  /** What its caller continues jobs by; `null` if its create did not say. Printable ASCII. */
  session: string | null;
}

/** A job to be stored. */
export type NewJob = Pick<StoredJob, "id" | "project" | "createdAt"> &
  Partial<Pick<StoredJob, "branch" | "model" | "base" | "session">>;

/** What the branches of jobs begin with, unless a project says otherwise. */
export const defaultBranchPrefix = "agent/";

/** Returns the branch of a new job. The service has made the id, so it is valid in a ref name. */
export const jobBranch = (jobId: string, prefix = defaultBranchPrefix): string => `${prefix}${jobId}`;

/** Returns the id of the job that a branch can be the one of, whatever its prefix. */
export const jobOfBranch = (branch: string): string | undefined => /job_[0-9a-f-]{36}$/.exec(branch)?.[0];

/** A job that is neither active nor archived, and has a pull request. */
export type JobWithPullRequest = Pick<StoredJob, "id" | "project" | "branch"> & {
  [key in "idleSince" | "pullRequest" | "head"]: NonNullable<StoredJob[key]>;
};

/** An archived job with a pull request. */
export type JobWithBranch = Omit<JobWithPullRequest, "idleSince"> & {
  base: StoredJob["base"];
  /** When its branch is looked at next. */
  branchDueAt: number;
};

/** A job as pages show it. */
export type PageJob = Pick<
  StoredJob,
  "id" | "project" | "createdAt" | "state" | "archivedAt" | "pullRequest" | "model" | "kept" | "branch"
>;

/** A job in a list. */
export interface ListedJob extends Omit<PageJob, "model" | "kept" | "branch">, Spent {
  /** How many turns it has. */
  turns: number;
  /** The id of its first turn. */
  firstTurn: number | null;
  /** The id of its last turn. */
  lastTurn: number | null;
  /** The number of its last pull request that is a page. */
  lastPage: number | null;
}

/** A position in a list of jobs: the next page begins after this job. */
export type JobPosition = Pick<StoredJob, "createdAt" | "id">;

/** What turns that have ended took and cost. */
export interface Spent {
  /** In milliseconds, from when they were first taken. */
  tookMs: number;
  /** In US dollars, as far as it is known. */
  costUsd: number;
  /** How many of them have not said what they cost, or not all of it. */
  unknownCosts: number;
}

/** What the turns of a project spent that ended in some time. */
export interface ProjectSpent extends Spent {
  project: string;
  turns: number;
}

export interface JobQuery {
  projects: readonly string[];
  /** Has words, or their beginnings, that a turn of the job has in its prompt, or in why it failed. Default: any. */
  text?: string | undefined;
  /** Who asked for a turn of the job. Default: anyone. */
  asker?: string | undefined;
  /** Created from then on, and before then. Default: at any time. */
  from?: number | undefined;
  before?: number | undefined;
  /** Default: any. */
  status?: JobStatus | undefined;
  /** Default: the list begins with the newest job. */
  after?: JobPosition | undefined;
  limit: number;
}

/** A job's progress. It changes whenever a turn of the job is added, starts, or ends. */
export interface JobProgress {
  state: JobState;
  turns: number;
  /** The id of the turn that is running. */
  running: number | null;
}

/** The syntax of a turn's id in paths, commands and trailers. Ids of services that share branches are times, and have 16 digits. */
export const turnIdSyntax = /[1-9]\d{0,15}/;

const turnIdText = new RegExp(`^${turnIdSyntax.source}$`);

/** Returns the id of a turn; `undefined` if no turn can have it. */
export function parseTurnId(text: string): number | undefined {
  const id = turnIdText.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

/** What comes with a prompt. It is no part of it: of no key, no hash and no title. */
export interface PromptContext {
  /** What the agent is told after the prompt, such as what changed; empty if nothing. */
  sections: string;
  /** Who asked for it, where, and in which run: an `Asked` as JSON; `null` if that is unknown. */
  asked: string | null;
  /** The commit up to which the sections tell of changes, after `+` if not of all that the session was not told of; `null` if they tell of none. */
  covers: string | null;
  /** How lists name who asked: as in `asked`, or the API key or repository. Default: that is unknown. */
  asker?: string | undefined;
}

export const noContext: PromptContext = { sections: "", asked: null, covers: null, asker: "" };

/** A turn to run, with the step and request of its key. A turn without a key has an empty step and a request of its own. */
export interface Turn
  extends Pick<RequestKey, "step" | "request">,
    Pick<PromptContext, "sections" | "covers">,
    Partial<Pick<PromptContext, "asked">> {
  /** Counts the turns of a store, or is a time: after a restored backup, another turn can get it. */
  id: number;
  /** Made at random when the turn is added, and kept in all copies. It tells which commits are the turn's. 32 hexadecimal digits. */
  identity: string;
  job: string;
  prompt: string;
  /** Attempts so far, not counting those that a graceful shutdown stopped. */
  attempts: number;
}

/** A turn that a worker took. */
export interface RunningTurn extends Turn {
  /** Proves that the worker took it. Every change of the turn requires it. */
  lease: string;
  /** Whether it was running before, and that worker did not end it. */
  isResumed: boolean;
}

/**
 * How far a turn has come. `begun`: its agent runs, or was interrupted. `made`: its agent has ended, and the clone has the commit of its
 * change, if it made one. `checked`: the check of that commit has ended. `pushed`: the commit is on the job's branch, and counts.
 * `published`: its pull request is open.
 */
export const turnStages = ["begun", "made", "checked", "pushed", "published"] as const;

export type TurnStage = (typeof turnStages)[number];

/** What the agent of a turn has made. */
export interface Made {
  /** The commit of its change, in the clone. Absent if it changed nothing, or failed. */
  commit?: string | undefined;
  /** Why the turn fails. Absent if its agent completed. */
  reason?: string | undefined;
  failureClass?: FailureClass | undefined;
  /** Whether the clone has what its agent changed before it failed. Default: no. */
  isUnfinished?: boolean | undefined;
  /**
   * Whether its agent failed, or was stopped, and nothing is kept of that, so that what is kept of earlier turns still is: it had nothing of
   * that, or that is a completed commit which conflicts. Default: no.
   */
  isUntouched?: boolean | undefined;
}

/** A row of `turn`. */
export interface StoredTurn extends Omit<Turn, "asked">, Pick<RequestKey, "caller">, Omit<PromptContext, "asker"> {
  /** Tells whether another turn has the same prompt, even if only the beginning of this one is known: see `hashPrompt`. */
  promptHash: string;
  state: TurnState;
  /** How far it has come; `null` if no agent was started for it, or that is unknown. */
  stage: TurnStage | null;
  /** What its agent has made, a `Made` as JSON, from the stage `made` on; `null` before. */
  made: string | null;
  /** What the agent said last; `null` if that is unknown. */
  answer: string | null;
  /**
   * What its agents cost, as they say, in US dollars; `null` if none has run, or that is unknown. Negative if one has not said
   * it: see `cost.ts`.
   */
  costUsd: number | null;
  /** What its session had cost until then, for the agent of the next turn: a `SessionCost` as JSON, or `null`. */
  sessionCost: string | null;
  /** When a worker first took it, and when it ended; `null` if that has not happened, or is unknown. */
  startedAt: number | null;
  endedAt: number | null;
  /** Why it failed; `null` if it did not, or that is unknown. */
  reason: string | null;
  /** The kind of its failure; `null` if it did not fail, or that is unknown. */
  failureClass: FailureClass | null;
  /** Its commit, once it is recorded as pushed to the job's branch; `null` before, if it changed nothing, or if that is unknown. */
  head: string | null;
  /** What is kept of its work; `null` if it has not failed, or nothing is. */
  kept: KeptWork | null;
  /** When somebody asked to stop it; `null` if nobody did. A later service stops it instead of running it again. */
  stopRequestedAt: number | null;
  /** What the check of its commit showed, and the end of the check's output; `null` if it was not checked. An output without a result is why. */
  checkResult: CheckResult | null;
  checkOutput: string | null;
}

/**
 * A turn's failure class decides the remedy: `transient` and `agent`: send it again; `limit`: raise the limit; `credit`: pay; `model`:
 * another key, name or address; `setting` and `refused`: change the options, or GitHub's settings.
 */
export const failureClasses = ["transient", "agent", "limit", "credit", "model", "setting", "refused"] as const;

export type FailureClass = (typeof failureClasses)[number];

/** How a turn goes, as its sender sees it. `stopped`: it failed because somebody asked to stop it. */
export type TurnStatus = TurnState | "stopped";

/** A turn in the list of those that a caller has sent for a step. */
export interface StepTurn
  extends Pick<
    StoredTurn,
    "id" | "job" | "request" | "answer" | "costUsd" | "reason" | "failureClass" | "kept" | "made" | "checkResult"
  > {
  status: TurnStatus;
}

/** An earlier turn of the job, as the agent of a later one is told of it. */
export interface EarlierTurn extends Pick<StoredTurn, "prompt" | "answer"> {
  state: EndedState;
}

/** A turn as pages show it, with the beginning of its texts. */
export type TurnExcerpt = TurnWait & { asker: string } & Pick<
    StoredTurn,
    | "state"
    | "asked"
    | "prompt"
    | "answer"
    | "costUsd"
    | "startedAt"
    | "endedAt"
    | "reason"
    | "checkResult"
    | "checkOutput"
  >;

/** Why a turn was put back that still waits, and until when; `null` if it was not. */
export interface TurnWait {
  waitReason: string | null;
  waitUntil: number | null;
}

/** A job with its turns, as another service needs it to continue. */
export interface JobCopy extends Omit<StoredJob, "branch" | "state" | "idleSince" | "kept" | "model" | "session"> {
  /** Default: `jobBranch`. */
  branch?: StoredJob["branch"] | undefined;
  session?: StoredJob["session"] | undefined;
  /** Oldest first, at least one. */
  turns: TurnCopy[];
}

/** What is unknown of a turn if the copy of its job was rebuilt from the job's commits. */
type UncertainTurn = Pick<
  StoredTurn,
  | ("promptHash" | "sections" | "asked" | "covers" | "caller" | "step" | "request" | "startedAt" | "stage" | "made")
  | ("reason" | "failureClass" | "head" | "kept" | "costUsd" | "sessionCost" | "checkResult" | "checkOutput")
  | "stopRequestedAt"
> & {
  asker: string;
};

/** A turn in the copy of its job. */
export type TurnCopy = Pick<StoredTurn, "id" | "identity" | "prompt" | "state" | "attempts" | "endedAt" | "answer"> & {
  [key in keyof UncertainTurn]?: UncertainTurn[key] | undefined;
};

/** The jobs and turns of a store, counted. */
export interface Census {
  jobs: Readonly<Record<JobStatus, number>>;
  /** The turns of all workers. */
  turns: Readonly<Record<Exclude<TurnState, EndedState>, number>>;
  /** The running turns whose worker has not renewed its lease in time, and that nobody has taken over. */
  expiredLeases: number;
  /** The turns that a worker with a free agent would take now: their project is known, and not at its limit of agents. */
  takeableTurns: number;
  /** How long the oldest turn has waited that only waits for a free agent, in seconds; 0 if there is none. */
  oldestWaitingSeconds: number;
}

/** A stored pull request. */
export interface LocalPullRequest {
  job: string;
  title: string;
  branch: string;
  /** The target branch. */
  target: string;
  /** The merge base with the target branch. */
  base: string;
  head: string;
}

/** What a token is for: a session of a browser, a link that starts one once, or a form that was sent. */
export type TokenKind = "session" | "link" | "form";

/** Who a commit is by. */
export interface Identity {
  name: string;
  email: string;
}

/** What the service has on the disk of a machine, in bytes. */
export interface DiskUse {
  clones: readonly { repository: string; bytes: number }[];
  /** Those that jobs keep, and spare ones. */
  worktreeBytes: number;
  /** The homes of jobs, with all else that outlives a turn. */
  homeBytes: number;
  logBytes: number;
  freeBytes: number;
}
