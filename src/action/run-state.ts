import type { ClientOptions } from "../client/client.ts";
import { isKnownStatus, type Job, type KnownStatus } from "../client/contract.ts";
import type { Announcement, SentTurn } from "../client/step-lookup.ts";
import type { Text } from "../runner-kit/text.ts";
import type { Changes } from "./changes/repository.ts";
import {
  type HeadBefore,
  type PullRequest,
  type PullRequestState,
  parsePullRequest,
  type ReadPullRequest,
} from "./pull-request.ts";

/** A status that the job was seen in, and when it was first seen, in milliseconds since the first request. */
export interface ObservedStatus {
  status: string;
  atMs: number;
}

/** `resumed`: the job of an earlier run attempt; `attached`: by the input `job-id`. */
export type JobOrigin = "created" | "continued" | "resumed" | "attached";

/** `asked`: not confirmed; `ended`: the turn had ended before; `unreached`: no answer whether it can be stopped. */
export type StopResult = "stopped" | "asked" | "ended" | "unreached";

/** What a record says of a job besides its state. */
const jobFacts = ["model", "repository", "ref", "createdAt", "archivedAt", "base", "pageUrl"] as const;

/** What the run knows so far: outputs, log and summary are made from it. */
export class RunState {
  /** Monotonic time of the first request; `undefined` until then. */
  startedAt: number | undefined;
  jobId = "";
  /** How the step came by the job; empty until the service has confirmed it. */
  origin: JobOrigin | "" = "";
  /** The last of the four known statuses seen. */
  status: KnownStatus | "" = "";
  pullRequest: PullRequest | undefined;
  /** Whether the last record had a pull request link that must not be published. */
  hasInvalidLink = false;
  model = "";
  repository = "";
  ref = "";
  createdAt = "";
  archivedAt = "";
  /** The branch that the job started from, if the service says it. */
  base = "";
  /** The address of the job's page for people, which may be linked. */
  pageUrl = "";
  readonly timeline: ObservedStatus[] = [];
  /** What changed in the repository, with `changes`; `undefined` if that was not read, or if there is nothing to compare. */
  changes: Changes | undefined;
  /** What the service announced that it offers beyond the specification; `undefined` if it announced nothing, or was not asked. */
  features: ReadonlySet<string> | undefined;
  /** What it announced before anything was sent. */
  announcement: Announcement | undefined;
  /** What the session of the step is known by, once the branch is known that its jobs start from; `undefined` without one. */
  session: string | undefined;
  /** Whether a question about it claims it for this run, which is about to send something. */
  claimsSession = false;
  /** The one that the announcement is about. */
  askedSession: string | undefined;
  /** See `ClientOptions.asked`. */
  readonly asked: ClientOptions["asked"] = {};
  /** Whether it has denied that it can be asked. */
  isMute = false;
  /** What became of the turn when the step was cancelled; `undefined` if the service was not asked to stop it. */
  stop: StopResult | undefined;
  /** The agent's last message, without control characters; empty if the service says nothing. Untrusted text. */
  finalMessage = "";
  /** The transcript of an agent that ran with the step; empty if there is none. */
  logFile = "";
  /** The file with work that is kept nowhere else; empty if there is none. */
  workFile = "";
  /** What the service's check of the turn's commit showed; empty if it says nothing. */
  check: SentTurn["check"] = "";
  /** Whether it is known that the turn changed nothing: the job's pull request has nothing of it. */
  isUnchanged = false;
  /** How the job's pull request ended that has nothing of the turn, which may have changed something; `undefined` if none did. */
  endedWithout: PullRequestState | undefined;
  /** What the turns of this step cost together, in US dollars, as the agents say; `undefined` if one of these costs is unknown. */
  costUsd: number | undefined;
  /** Why the turn has failed or was stopped: untrusted, one line, maybe empty. `undefined` if it has not, or is unknown. */
  failure:
    | ({ isStopped: boolean; reason: string } & Pick<SentTurn, "failureClass" | "isKept" | "isUnfinished">)
    | undefined;
  /** Whether the last record says that work of the job's last turn, which failed, is kept. */
  isKept = false;
  /** Whether it says that something of that turn is kept unfinished. */
  isUnfinished = false;
  /** Whether the message to the job publishes kept work, which has no pull request yet. */
  publishesKept = false;
  /**
   * What is not proven of a job that has ended. `start`: it was not seen to start after a message, so that its state may be the one from
   * before it. `change`: its pull request could not be compared with the one before the message.
   */
  unproven: "start" | "change" | undefined;
  /** The session's pull request before this run, and its state when that was read; `undefined` if there is none, or its job is active. */
  lastPullRequest: ({ url: string } & ReadPullRequest) | undefined;
  /** The job's pull request and its newest commit before the message; `undefined` if that is unknown. */
  before: HeadBefore | undefined;
  /** What is added to the prompt because a person has closed that one without merging it. It is no part of the request's key. */
  refusal = "";
  /** What the reply says of the branch that the job starts from, if that is another one than the workflow asks for. */
  startNote: Text = [];
  /** Comment mode: the login of the account that asked, and the address of the issue or pull request. */
  author = "";
  /** Whether an earlier attempt may have started a job, of which nobody was asked that may know. */
  mayHaveEarlier = false;
  threadUrl = "";

  /** Returns the milliseconds since the first request; 0 before it. */
  elapsedMs(now: number): number {
    return this.startedAt === undefined ? 0 : now - this.startedAt;
  }

  /** Forgets the job, before another one is started. */
  forgetJob(): void {
    this.jobId = "";
    this.origin = "";
    this.status = "";
    this.pullRequest = undefined;
    this.hasInvalidLink = false;
    this.unproven = undefined;
    this.before = undefined;
    this.finalMessage = "";
    this.check = "";
    this.isUnchanged = false;
    this.endedWithout = undefined;
    this.failure = undefined;
    this.isKept = false;
    this.isUnfinished = false;
    for (const fact of jobFacts) this[fact] = "";
    this.timeline.length = 0;
  }

  get hasRecord(): boolean {
    return this.timeline.length > 0;
  }

  /** Takes over what the service says of the step's turns, and of the one that the step waits for. */
  updateTurns(turns: readonly SentTurn[], own: SentTurn | undefined): void {
    // Line ends are kept; other control characters could do harm in a terminal.
    this.finalMessage = (own?.message ?? "").replace(/[^\P{Cc}\n\t]/gu, "").trim();
    this.check = own?.check ?? "";
    this.isUnchanged = own?.isUnchanged ?? false;
    const hasFailed = own?.status === "failed" || own?.status === "stopped";
    this.failure = hasFailed
      ? {
          isStopped: own.status === "stopped",
          isKept: own.isKept,
          isUnfinished: own.isUnfinished,
          failureClass: own.failureClass,
          reason: own.reason.replace(/[\p{Cc}\s]+/gu, " ").trim(),
        }
      : undefined;
    const costs = turns.map(({ costUsd }) => costUsd);
    const isKnown = costs.length > 0 && costs.every((cost) => cost !== undefined);
    // Sums of decimal fractions are not exact.
    this.costUsd = isKnown ? Number(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0).toFixed(6)) : undefined;
  }

  /** Merges a record. Fields it lacks keep their value, except the pull request, which is always the last record's. */
  update(job: Job, now: number): void {
    this.jobId = job.id;
    if (isKnownStatus(job.status)) this.status = job.status;
    if (this.timeline.at(-1)?.status !== job.status)
      this.timeline.push({ status: job.status, atMs: this.elapsedMs(now) });
    this.pullRequest = parsePullRequest(job.prLink);
    this.hasInvalidLink = job.prLink !== "" && !this.pullRequest;
    this.isKept = job.isKept;
    this.isUnfinished = job.isUnfinished;
    for (const fact of jobFacts) this[fact] = job[fact] || this[fact];
  }
}
