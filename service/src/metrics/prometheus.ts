import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type Machine, thisMachine } from "../machine.ts";
import type { Census, CheckResult, DiskUse, KeptWork, TurnResult } from "../model.ts";
import type {
  AgentCost,
  AgentExit,
  AnsweredRequest,
  GitHubResponseNumbers,
  PromptResult,
  ReadableMetrics,
} from "./metrics.ts";

/** In seconds, from a turn that changes nothing to the longest ones. */
const turnBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200];
/** In seconds. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Metrics in the text format of Prometheus, including the metrics of the process. */
export class PrometheusMetrics implements ReadableMetrics {
  readonly #registry = new Registry();
  readonly #machine: Pick<Machine, "now">;
  readonly #store = storeGauges(this.#registry);
  readonly #worker = workerMetrics(this.#registry);
  readonly #http = httpMetrics(this.#registry);
  readonly #gitHub = gitHubMetrics(this.#registry);
  readonly #disk = diskGauges(this.#registry);
  readonly #problems = new Gauge({
    name: "agent_service_problem_since_timestamp_seconds",
    help: "Since when something outside of this process keeps jobs from going on. Missing if nothing does.",
    labelNames: ["problem"],
    registers: [this.#registry],
  });

  constructor(machine: Pick<Machine, "now"> = thisMachine) {
    this.#machine = machine;
    collectDefaultMetrics({ register: this.#registry });
    // Missing, not 0, until GitHub has sent them, and until the disk was measured.
    for (const gauge of [this.#gitHub.remaining, this.#gitHub.reset, this.#disk.free]) gauge.remove();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  render(census: Census | undefined): Promise<string> {
    const { up, jobs, turns, takeable, wanted, oldest, expired } = this.#store;
    up.set(census === undefined ? 0 : 1);
    // They are unknown now.
    jobs.reset();
    turns.reset();
    for (const gauge of [takeable, wanted, oldest, expired]) gauge.remove();
    if (census !== undefined) {
      for (const [state, count] of Object.entries(census.jobs)) jobs.set({ state }, count);
      for (const [state, count] of Object.entries(census.turns)) turns.set({ state }, count);
      takeable.set(census.takeableTurns);
      wanted.set(census.turns.running + census.takeableTurns);
      oldest.set(census.oldestWaitingSeconds);
      expired.set(census.expiredLeases);
    }
    return this.#registry.metrics();
  }

  promptAnswered(kind: "create" | "message", result: PromptResult): void {
    this.#http.prompts.inc({ kind, result });
  }

  workerTakes(turns: number): void {
    this.#worker.places.set(turns);
  }

  turnStarted(): (result: TurnResult) => void {
    const startedAt = this.#machine.now();
    this.#worker.running.inc();
    return (result) => {
      this.#worker.running.dec();
      this.#worker.durations.observe({ result }, (this.#machine.now() - startedAt) / 1000);
    };
  }

  agentExited(result: AgentExit): void {
    this.#worker.exits.inc({ result });
  }

  agentCost({ project, agent, costUsd }: AgentCost): void {
    if (costUsd === undefined) this.#worker.unknownCosts.inc({ project, agent });
    else this.#worker.costs.inc({ project, agent }, costUsd);
  }

  checkEnded(result: CheckResult): void {
    this.#worker.checks.inc({ result });
  }

  workKept(what: KeptWork | "laid-out"): void {
    this.#worker.kept.inc({ what });
  }

  requestAnswered({ method, route, status, seconds }: AnsweredRequest): void {
    this.#http.requests.inc({ method, route, status });
    this.#http.durations.observe({ method, route }, seconds);
  }

  gitHubAnswered({ status, remaining, resetAt }: GitHubResponseNumbers): void {
    this.#gitHub.requests.inc({ status: status === undefined ? "none" : `${Math.floor(status / 100)}xx` });
    if (remaining !== undefined) this.#gitHub.remaining.set(remaining);
    if (resetAt !== undefined) this.#gitHub.reset.set(resetAt);
  }

  storeOutageBegan(): void {
    this.#store.outages.inc();
  }

  diskMeasured({ clones, worktreeBytes, homeBytes, logBytes, freeBytes }: DiskUse): void {
    for (const { repository, bytes } of clones) this.#disk.clones.set({ repository }, bytes);
    const ofJobs = { worktrees: worktreeBytes, homes: homeBytes, logs: logBytes };
    for (const [kind, bytes] of Object.entries(ofJobs)) this.#disk.jobs.set({ kind }, bytes);
    this.#disk.free.set(freeBytes);
  }

  problemChanged(problem: string, since: number | undefined): void {
    if (since === undefined) this.#problems.remove({ problem });
    else this.#problems.set({ problem }, since);
  }
}

/** Returns what creates metrics of a registry. @returns functions of a name without its prefix, its help, and the names of its labels */
function metricsOf(registry: Registry) {
  const options = <Label extends string>(name: string, help: string, labelNames: Label[]) => ({
    name: `agent_service_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: <Label extends string>(name: string, help: string, ...labels: Label[]) =>
      new Counter(options(name, help, labels)),
    gauge: <Label extends string>(name: string, help: string, ...labels: Label[]) =>
      new Gauge(options(name, help, labels)),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], ...labels: Label[]) =>
      new Histogram({ ...options(name, help, labels), buckets }),
  };
}

/** Metrics of the store, which other processes may have open, too. */
function storeGauges(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    up: gauge("store_up", "Whether the store could be read (1) or not (0)."),
    jobs: gauge("jobs", "Jobs in the store, by status.", "state"),
    turns: gauge("turns", "Turns in the store that wait or run, of all workers.", "state"),
    takeable: gauge("takeable_turns", "Turns that a worker with a free place would take now."),
    wanted: gauge("wanted_places", "Turns that run, and those that a worker with a free place would take now."),
    oldest: gauge(
      "oldest_waiting_turn_age_seconds",
      "How long the oldest turn has waited that only waits for a free agent.",
    ),
    expired: gauge(
      "expired_leases",
      "Running turns whose worker is late to renew its lease, and that nobody has taken over.",
    ),
    outages: counter("store_outages_total", "How often the store began to be unusable for this process."),
  };
}

function workerMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry);
  return {
    places: gauge("worker_places", "How many turns this process runs at a time: 0 if it takes none."),
    running: gauge("worker_running_turns", "Turns that this process runs."),
    durations: histogram(
      "turn_duration_seconds",
      "How long turns took in this process, by how they ended.",
      turnBuckets,
      "result",
    ),
    exits: counter("agent_exits_total", "Agents that have ended, by how.", "result"),
    checks: counter("checks_total", "Checks of commits that have ended, by what they showed.", "result"),
    kept: counter(
      "kept_work_total",
      "Failed turns of which work is kept, by its kind, and agents that began in unfinished work (laid-out).",
      "what",
    ),
    costs: counter(
      "agent_cost_usd_total",
      "What agents cost in US dollars, by their own estimate.",
      "project",
      "agent",
    ),
    unknownCosts: counter(
      "agent_unknown_costs_total",
      "Agents that have ended without saying what they cost.",
      "project",
      "agent",
    ),
  };
}

function httpMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry);
  return {
    prompts: counter("prompts_total", "Creates and messages, by what became of them.", "kind", "result"),
    requests: counter("http_requests_total", "HTTP requests, by route and status.", "method", "route", "status"),
    durations: histogram(
      "http_request_duration_seconds",
      "How long requests took until they were answered completely.",
      requestBuckets,
      "method",
      "route",
    ),
  };
}

/** Measured by a process with a worker, every 15 minutes; the free space every minute. */
function diskGauges(registry: Registry) {
  const { gauge } = metricsOf(registry);
  return {
    clones: gauge("clone_bytes", "Size of the clones on the disk of this process, by repository.", "repository"),
    jobs: gauge(
      "files_bytes",
      "Size of what jobs have on the disk of this process: worktrees, homes of agents, logs.",
      "kind",
    ),
    free: gauge(
      "disk_free_bytes",
      "Free space on the disk with the clones, worktrees, homes and logs of this process.",
    ),
  };
}

function gitHubMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    requests: counter(
      "github_requests_total",
      "Requests to GitHub's API with their retries, by class of status.",
      "status",
    ),
    remaining: gauge(
      "github_rate_limit_remaining",
      "Requests that GitHub's rate limit still allowed at the last response.",
    ),
    reset: gauge("github_rate_limit_reset_timestamp_seconds", "When GitHub's rate limit starts over."),
  };
}
