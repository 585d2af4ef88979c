import type { IdempotencyKey } from "../../src/client/contract.ts";
import type { ListedTurn, Members } from "./record.ts";
import type { JobResult, Scenario } from "./scenario.ts";
import type { Timeline } from "./timeline.ts";

/** The job that exists before the first attempt. */
export const existingJobId = "job_existing";

const link = "https://github.com/acme/docs/pull/7";
const earlierLink = "https://github.com/acme/docs/pull/3";

/** How long a running turn takes to stop, in milliseconds. */
const stopMs = 400;

/** One turn of a job: the create or a message. Times of the timeline. */
export interface Turn {
  id: string;
  jobId: string;
  kind: "create" | "message";
  /** Only if the service knows keys, and one arrived. */
  key: IdempotencyKey | undefined;
  acceptedAt: number;
  visibleAt: number;
  endsAt: number;
  result: JobResult;
  link: string;
  /** When its job was archived or lost; `Infinity` until then. */
  goneAt: number;
  /** Somebody asked to stop it before it ended. */
  isStopped: boolean;
}

/** What a create or message led to: a turn, which an earlier request with the same key may have started. */
export interface Accepted {
  turn: Turn;
  isReplay: boolean;
}

/** The simulated service, without its network: it acts on requests and remembers its jobs. */
export class SimulatedService {
  readonly #timeline: Timeline;
  readonly #scenario: Scenario;
  readonly #jobs = new Map<string, Turn[]>();
  #nextNumber = 1;
  #turnCount = 0;

  constructor(timeline: Timeline, scenario: Scenario) {
    this.#timeline = timeline;
    this.#scenario = scenario;
    const { mode, isJobGone, earlierResult } = scenario;
    if (isJobGone) return;
    const isRunning = mode.kind === "plain" && mode.task === "attach";
    const turn = this.#turn({ jobId: existingJobId, kind: "create", key: undefined, lagMs: 0, link });
    const earlier = { acceptedAt: -1e6, visibleAt: -1e6, endsAt: -5e5, result: earlierResult, link: earlierLink };
    this.#jobs.set(existingJobId, [isRunning ? turn : { ...turn, ...earlier }]);
    if (!isRunning) this.#turnCount = 0;
    this.#nextNumber++;
  }

  /** Starts a job, unless the key is known. Returns `reused` if the key belongs to another request. */
  create(key?: IdempotencyKey): Accepted | "reused" {
    const known = this.#find(key);
    if (known) return known.kind === "create" ? { turn: known, isReplay: true } : "reused";
    const number = this.#nextNumber++;
    const jobId = `job_${number}`;
    const link = this.#link(number);
    const turn = this.#turn({ jobId, kind: "create", key, lagMs: 0, link });
    this.#jobs.set(jobId, [turn]);
    return { turn, isReplay: false };
  }

  /** Adds a turn to a job, which stays active if it is. Returns `undefined` if there is no such job. */
  message(jobId: string, key?: IdempotencyKey): Accepted | "reused" | undefined {
    const known = this.#find(key);
    if (known) return known.kind === "message" && known.jobId === jobId ? { turn: known, isReplay: true } : "reused";
    const turns = this.#jobs.get(jobId);
    const last = turns?.at(-1);
    if (!turns || !last) return undefined;
    const newLink = this.#scenario.workflow ? last.link : link;
    const isIdle = last.endsAt <= this.#timeline.now;
    // A service that announces its turns writes the record together with them.
    const lagMs = isIdle && this.#scenario.service !== "announces" ? this.#scenario.lagMs : 0;
    const turn = this.#turn({ jobId, kind: "message", key, lagMs, link: newLink });
    if (!isIdle) turn.endsAt = last.endsAt + this.#scenario.activeMs;
    turns.push(turn);
    return { turn, isReplay: false };
  }

  /** Archives the newest job, which ends it. */
  archive(): void {
    const turns = [...this.#jobs.values()].at(-1);
    const last = turns?.at(-1);
    if (!turns || !last) return;
    const { now } = this.#timeline;
    // Turns that others wait for end, too.
    for (const turn of turns) {
      turn.goneAt = Math.min(turn.goneAt, now);
      turn.visibleAt = Math.min(turn.visibleAt, now);
      turn.endsAt = Math.min(turn.endsAt, now);
    }
    last.result = "archived";
  }

  /** Loses the newest job. */
  forget(): void {
    const [id, turns = []] = [...this.#jobs].at(-1) ?? [];
    for (const turn of turns) turn.goneAt = Math.min(turn.goneAt, this.#timeline.now);
    if (id !== undefined) this.#jobs.delete(id);
  }

  /** Ends a turn soon, and returns its status; `undefined` if there is no such turn. */
  stop(jobId: string, turnId: string): string | undefined {
    const turn = this.#jobs.get(jobId)?.find(({ id }) => id === turnId);
    if (!turn) return undefined;
    const { now } = this.#timeline;
    if (turn.endsAt > now && !turn.isStopped) {
      const isRunning = this.#statusOf(turn) === "running";
      turn.isStopped = true;
      turn.result = "failed";
      turn.endsAt = Math.min(turn.endsAt, now + (isRunning ? stopMs : 0));
      turn.visibleAt = Math.min(turn.visibleAt, turn.endsAt);
    }
    return this.#statusOf(turn);
  }

  /** Returns the numbers of the pull requests that the jobs have opened by now. */
  pullRequests(): number[] {
    const turns = [...this.#jobs.values()].flat();
    const opened = turns.filter(({ result, endsAt }) => result === "pull-request" && endsAt <= this.#timeline.now);
    return opened.map(({ link }) => numberOf(link));
  }

  /** Returns the turns that were sent under a step, the newest first, as the service lists it. */
  turnsOf(step: string): ListedTurn[] {
    const turns = [...this.#jobs.values()].flat().filter(({ key }) => key?.step === step);
    return turns
      .toSorted((one, other) => other.acceptedAt - one.acceptedAt)
      .map((turn) => ({
        job: turn.jobId,
        turn: turn.id,
        request: turn.key?.request ?? "",
        status: this.#statusOf(turn),
      }));
  }

  /** Returns when the last turn of a job ends, of those that count; `undefined` if there is none. */
  endOf(id: string, counts: (turn: Readonly<Turn>) => boolean = () => true): number | undefined {
    const ends =
      this.#jobs
        .get(id)
        ?.filter(counts)
        .map(({ endsAt }) => endsAt) ?? [];
    // A turn that was stopped while it waited ends before the one that runs.
    return ends.length > 0 ? Math.max(...ends) : undefined;
  }

  /** Returns the record of a job as it is now; `undefined` if there is no such job. */
  record(id: string): Members | undefined {
    const turns = this.#jobs.get(id);
    if (!turns) return undefined;
    const { now } = this.#timeline;
    const seen = turns.filter(({ visibleAt }) => visibleAt <= now);
    // A waiting turn that was stopped may be newer than one that runs.
    const visible = seen.at(-1);
    const isActive = visible === undefined || seen.some(({ endsAt }) => endsAt > now);
    // A pull request stays the job's even if a later turn of it fails.
    const hasLink = this.#scenario.workflow
      ? turns.some(({ result, endsAt }) => result === "pull-request" && endsAt <= now)
      : visible?.result === "pull-request";
    return {
      status: isActive ? "active" : statusOf(visible.result),
      source: { repository: "https://github.com/acme/docs", ref: null },
      model: "model-1",
      prLink: !isActive && hasLink ? visible.link : null,
      createdAt: "2026-01-01T00:00:00Z",
      archivedAt: null,
      id,
    };
  }

  #find(key: IdempotencyKey | undefined): Turn | undefined {
    if (!key) return undefined;
    return [...this.#jobs.values()]
      .flat()
      .find((turn) => turn.key?.step === key.step && turn.key.request === key.request);
  }

  #statusOf({ acceptedAt, endsAt, result, goneAt, isStopped, jobId }: Turn): string {
    const { now } = this.#timeline;
    if (endsAt > now) {
      const isWaiting = this.#jobs.get(jobId)?.some((other) => other.acceptedAt < acceptedAt && other.endsAt > now);
      return isWaiting ? "waiting" : "running";
    }
    if (goneAt <= endsAt || isStopped) return "stopped";
    return result === "failed" ? "failed" : "completed";
  }

  #link(number: number): string {
    return this.#scenario.workflow ? pullRequestOf(number) : link;
  }

  #turn({ lagMs, ...turn }: Pick<Turn, "jobId" | "kind" | "key" | "link"> & { lagMs: number }): Turn {
    const acceptedAt = this.#timeline.now;
    const visibleAt = acceptedAt + lagMs;
    const index = this.#turnCount++;
    const { activeMs, result } = this.#scenario.workflow?.turns[index] ?? this.#scenario;
    return {
      ...turn,
      id: `turn_${index}`,
      acceptedAt,
      visibleAt,
      endsAt: visibleAt + activeMs,
      result,
      goneAt: Infinity,
      isStopped: false,
    };
  }
}

/** Returns the number of a pull request. */
export function numberOf(link: string): number {
  return Number(link.split("/").at(-1));
}

function pullRequestOf(number: number): string {
  return `https://github.com/acme/docs/pull/${10 + number}`;
}

function statusOf(result: JobResult): string {
  return result === "failed" || result === "archived" ? result : "completed";
}
