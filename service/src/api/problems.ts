import { type Machine, thisMachine } from "../machine.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Census } from "../model.ts";

/** What keeps jobs from going on although this process can serve. A restart would not help, nor would another process do better. */
export type ProblemName = "github" | "model" | "repositories" | "turns" | "leases";

export interface Problem {
  problem: string;
  /** As an ISO date and time. */
  since: string;
}

type LogProblem = (line: string, level?: "warn") => void;

const intervalMs = 60_000;

/** How long turns may wait while none runs, in seconds: a worker takes a turn at once. */
const longWaitSeconds = 300;

/** Knows the problems of now. Each is logged once when it begins and once when it ends, and is a metric as long as it lasts. */
export class Problems {
  readonly #log: LogProblem;
  readonly #metrics: Pick<Metrics, "problemChanged"> | undefined;
  readonly #machine: Pick<Machine, "wallTime" | "sleep">;
  readonly #current = new Map<ProblemName, Problem>();
  #away: readonly string[] | undefined;
  /** What is wrong with each GitHub and each model: that one of them works says nothing about the others. */
  readonly #refused = { github: new Map<string, string>(), model: new Map<string, string>() };

  constructor(
    log: LogProblem,
    metrics?: Pick<Metrics, "problemChanged"> | undefined,
    machine: Pick<Machine, "wallTime" | "sleep"> = thisMachine,
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#machine = machine;
  }

  /** In words that anyone may read. */
  get current(): Partial<Record<ProblemName, Problem>> {
    return Object.fromEntries(this.#current);
  }

  /** The projects whose repositories cannot be used now: empty if the projects of one are not known, `undefined` if there is none. */
  get awayProjects(): readonly string[] | undefined {
    return this.#away;
  }

  /**
   * @param status - of an answer of GitHub's API; `undefined` if there was none
   * @param repository - that it was asked about
   */
  gitHubAnswered(status: number | undefined, repository: string): void {
    const isAway = status === undefined || status >= 500;
    const problem = isAway ? "GitHub's API does not answer, or with an error of its own" : undefined;
    this.#note("github", repository, status === 401 ? "GitHub's API refuses the token" : problem);
  }

  /**
   * @param status - of an answer of a model to an agent whose key is added by this process
   * @param key - its variable
   */
  modelAnswered(status: number, key: string): void {
    if (status === 401 || status === 403) this.#note("model", key, "a model's API refuses the key of an agent");
    else if (status < 400) this.#note("model", key, undefined);
  }

  /** @param projects - those whose repositories cannot be used now; `undefined` if there is none */
  repositoriesAway(projects: readonly string[] | undefined): void {
    this.#away = projects;
    const of = projects?.length ? ` of ${projects.join(", ")}` : "";
    this.#set("repositories", projects && `turns${of} wait for their repository; the log says why`);
  }

  /** Looks every minute for problems that only the store knows, until `signal` aborts. @param read - may fail, while the store is away */
  async watch(read: () => Promise<Census>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const census = await read().catch(() => undefined);
      if (census !== undefined) this.#look(census);
      await this.#machine.sleep(intervalMs, signal);
    }
  }

  #look({ takeableTurns, oldestWaitingSeconds, turns, expiredLeases }: Census): void {
    const isLeft = takeableTurns > 0 && turns.running === 0 && oldestWaitingSeconds > longWaitSeconds;
    this.#set("turns", isLeft ? "turns wait that no worker takes" : undefined);
    this.#set("leases", expiredLeases > 0 ? "turns run whose workers do not respond" : undefined);
  }

  #note(name: "github" | "model", of: string, problem: string | undefined): void {
    const refused = this.#refused[name];
    if (problem === undefined) refused.delete(of);
    else refused.set(of, problem);
    this.#set(name, refused.values().next().value);
  }

  #set(name: ProblemName, problem: string | undefined): void {
    const known = this.#current.get(name);
    if (known?.problem === problem) return;
    const at = this.#machine.wallTime();
    if (known !== undefined) this.#log(`No longer, since ${known.since}: ${known.problem}`);
    if (problem === undefined) this.#current.delete(name);
    else {
      this.#current.set(name, { problem, since: new Date(at).toISOString() });
      this.#log(`A problem that is not of this process: ${problem}`, "warn");
    }
    this.#metrics?.problemChanged(name, problem === undefined ? undefined : at / 1000);
  }
}
