import { isObject, isUsableJobId, keptIn, textOf } from "./contract.ts";

/** A create or message that was sent under a step, as the service lists it. */
export interface SentTurn {
  jobId: string;
  turnId: string;
  /** The second part of its idempotency key. */
  request: string;
  status: TurnStatus;
  /** The agent's last message; empty if the service says nothing. */
  message: string;
  /** Why the turn failed or was stopped; empty if the service says nothing. */
  reason: string;
  /** The kind of the failure, which decides what helps; empty if the service says nothing. */
  failureClass: FailureClass | "";
  /** What the turn cost in US dollars, as the agent's own output says; `undefined` if the service says nothing. */
  costUsd: number | undefined;
  /** Whether something of its work is kept, to be published or to be gone on with; it failed then. */
  isKept: boolean;
  isUnfinished: boolean;
  /** Whether the service says that the agent completed the turn, and changed nothing. */
  isUnchanged: boolean;
  /** What the check of its commit showed; empty if the service says nothing. */
  check: CheckResult | "";
}

const checkResults = ["passed", "failed", "failed-before"] as const;

/** `failed-before`: the check fails without the commit, too, and shows nothing. */
export type CheckResult = (typeof checkResults)[number];

const failureClasses = ["transient", "agent", "limit", "credit", "model", "setting", "refused"] as const;

/** The kind of a turn's failure. */
export type FailureClass = (typeof failureClasses)[number];

const endedStatuses = ["completed", "failed", "stopped"] as const;

/** The state of a turn. One that this version does not know counts as `running`: it is not a proof of success. */
export type TurnStatus = "waiting" | "running" | (typeof endedStatuses)[number];

/** What a service says that can be asked what was sent under a step. */
export interface Announcement {
  /** What it offers beyond the specification. */
  features: ReadonlySet<string>;
  /** What was sent under the step, the newest first. */
  turns: readonly SentTurn[];
  /** The job that the session continues; `undefined` if there is none, or it was not asked for. */
  sessionJobId: string | undefined;
  /** Until when at most another machine works on that job, in milliseconds since 1970; `undefined` if none does. */
  sessionBusyUntil: number | undefined;
  /** The session's last jobs, archived or not. */
  sessionJobs: readonly string[];
  /** The last commits up to which its completed turns were told of changes, the newest first; `undefined` if the service says nothing. */
  sessionCovers: readonly string[] | undefined;
}

/** Far longer than any id of a turn. */
const maxTurnIdLength = 200;
/** In characters. A service that keeps to its limits sends no more. */
const maxMessageLength = 4000;
const maxReasonLength = 1000;
/** Of a session, as many as our own service lists. */
const maxSessionJobs = 20;
const maxCovers = 10;
/** In US dollars. More is no estimate of a single turn. */
const maxCostUsd = 1000;

/**
 * Parses what was sent under a step. `unusable`: it does not repeat the step, or has a turn that cannot be read, which hides what was sent. `keyless`: the service
 * did not receive the key, so it would not recognize a request that is repeated.
 */
export function parseAnnouncement(data: unknown, step: string): Announcement | "keyless" | "unusable" {
  if (!isObject(data) || data.step !== step || !Array.isArray(data.turns)) return "unusable";
  if (data.key === null) return "keyless";
  const turns = data.turns.map(parseTurn);
  if (!turns.every((turn) => turn !== undefined)) return "unusable";
  const features = Array.isArray(data.features) ? data.features.filter((feature) => typeof feature === "string") : [];
  const session = isObject(data.session) ? data.session : {};
  const { job, jobs, covers } = session;
  const sessionJobId = [job].find(isJobId);
  const busyUntil = Date.parse(textOf(session.busyUntil));
  const sessionBusyUntil = sessionJobId !== undefined && busyUntil > 0 ? busyUntil : undefined;
  const sessionJobs = Array.isArray(jobs) ? jobs.filter(isJobId).slice(0, maxSessionJobs) : [];
  const isCommit = (one: unknown): one is string => /^[0-9a-f]{40,64}$/.test(textOf(one));
  const sessionCovers = Array.isArray(covers) ? covers.filter(isCommit).slice(0, maxCovers) : undefined;
  return { features: new Set(features), turns, sessionJobId, sessionBusyUntil, sessionJobs, sessionCovers };
}

const isJobId = (id: unknown): id is string => typeof id === "string" && isUsableJobId(id);

function parseTurn(data: unknown): SentTurn | undefined {
  if (!isObject(data)) return undefined;
  const { job, turn, request } = data;
  if (typeof job !== "string" || typeof turn !== "string" || typeof request !== "string") return undefined;
  const isUsable = isUsableJobId(job) && isUsableJobId(turn) && turn.length <= maxTurnIdLength;
  const known = parseTurnStatus(data);
  if (!isUsable || known === undefined) return undefined;
  return {
    jobId: job,
    turnId: turn,
    request,
    status: known,
    message: textOf(data.message).slice(0, maxMessageLength).toWellFormed(),
    reason: textOf(data.reason).slice(0, maxReasonLength).toWellFormed(),
    failureClass: failureClasses.find((one) => one === data.class) ?? "",
    costUsd: costIn(data.usage),
    ...keptIn(data),
    isUnchanged: known === "completed" && data.change === "none",
    check: checkResults.find((result) => result === data.check) ?? "",
  };
}

/** Returns the status of a turn; `undefined` if there is none. */
export function parseTurnStatus(data: unknown): TurnStatus | undefined {
  if (!isObject(data) || typeof data.status !== "string") return undefined;
  const { status } = data;
  return status === "waiting" ? status : (endedStatuses.find((ended) => ended === status) ?? "running");
}

function costIn(usage: unknown): number | undefined {
  const cost = isObject(usage) ? usage.costUsd : undefined;
  return typeof cost === "number" && cost >= 0 && cost <= maxCostUsd ? cost : undefined;
}

/** Returns whether a turn has ended. */
export function hasEnded(status: TurnStatus): boolean {
  return status !== "waiting" && status !== "running";
}
