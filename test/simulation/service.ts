import type { Members } from "./record.ts";
import type { JobResult, Scenario } from "./scenario.ts";
import type { Timeline } from "./timeline.ts";

/** The job that exists before the first attempt. */
export const existingJobId = "job_existing";

const link = "https://github.com/acme/docs/pull/7";
const earlierLink = "https://github.com/acme/docs/pull/3";

/** One turn of a job: the create or a message. Times of the timeline. */
interface Turn {
  acceptedAt: number;
  visibleAt: number;
  endsAt: number;
  result: JobResult;
  link: string;
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
    const earlier = { acceptedAt: -1e6, visibleAt: -1e6, endsAt: -5e5, result: earlierResult, link: earlierLink };
    this.#jobs.set(existingJobId, isRunning ? [this.#turn(0, link)] : [earlier]);
    this.#nextNumber++;
  }

  /** Starts a job and returns its id. */
  create(): string {
    const number = this.#nextNumber++;
    const id = `job_${number}`;
    this.#jobs.set(id, [this.#turn(0, this.#scenario.workflow ? pullRequestOf(number) : link)]);
    return id;
  }

  /** Adds a turn to a job, which stays active if it is; returns false if there is no such job. */
  message(id: string): boolean {
    const turns = this.#jobs.get(id);
    const last = turns?.at(-1);
    if (!turns || !last) return false;
    const newLink = this.#scenario.workflow ? last.link : link;
    if (last.endsAt <= this.#timeline.now) turns.push(this.#turn(this.#scenario.lagMs, newLink));
    else turns.push({ ...this.#turn(0, newLink), endsAt: last.endsAt + this.#scenario.activeMs });
    return true;
  }

  /** Archives the newest job, which ends it. */
  archive(): void {
    const turns = [...this.#jobs.values()].at(-1);
    const last = turns?.pop();
    if (!turns || !last) return;
    const { now } = this.#timeline;
    turns.push({
      ...last,
      visibleAt: Math.min(last.visibleAt, now),
      endsAt: Math.min(last.endsAt, now),
      result: "archived",
    });
  }

  /** Loses the newest job. */
  forget(): void {
    const newest = [...this.#jobs.keys()].at(-1);
    if (newest !== undefined) this.#jobs.delete(newest);
  }

  /** Returns when the last turn of a job ends, of those that count; `undefined` if there is none. */
  endOf(id: string, counts: (turn: Readonly<Turn>) => boolean = () => true): number | undefined {
    return this.#jobs.get(id)?.findLast(counts)?.endsAt;
  }

  /** Returns the record of a job as it is now; `undefined` if there is no such job. */
  record(id: string): Members | undefined {
    const turns = this.#jobs.get(id);
    if (!turns) return undefined;
    const visible = turns.filter(({ visibleAt }) => visibleAt <= this.#timeline.now).at(-1);
    const isActive = visible === undefined || visible.endsAt > this.#timeline.now;
    return {
      status: isActive ? "active" : statusOf(visible.result),
      source: { repository: "https://github.com/acme/docs", ref: null },
      model: "model-1",
      prLink: !isActive && visible.result === "pull-request" ? visible.link : null,
      createdAt: "2026-01-01T00:00:00Z",
      archivedAt: null,
      id,
    };
  }

  #turn(lagMs: number, link: string): Turn {
    const acceptedAt = this.#timeline.now;
    const visibleAt = acceptedAt + lagMs;
    const { activeMs, result } = this.#scenario.workflow?.turns[this.#turnCount++] ?? this.#scenario;
    return { acceptedAt, visibleAt, endsAt: visibleAt + activeMs, result, link };
  }
}

function pullRequestOf(number: number): string {
  return `https://github.com/acme/docs/pull/${10 + number}`;
}

function statusOf(result: JobResult): string {
  return result === "failed" || result === "archived" ? result : "completed";
}
