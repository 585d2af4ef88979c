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

/** Metrics of the store, which other processes may have open, too. */
function storeGauges(registry: Registry) {
  const registers = [registry];
  return {
    up: new Gauge({
      name: "agent_service_store_up",
      help: "Whether the store could be read (1) or not (0).",
      registers,
    }),
    jobs: new Gauge({
      name: "agent_service_jobs",
      help: "Jobs in the store, by status.",
      labelNames: ["state"],
      registers,
    }),
    turns: new Gauge({
      name: "agent_service_turns",
      help: "Turns in the store that wait or run, of all workers.",
      labelNames: ["state"],
      registers,
    }),
    takeable: new Gauge({
      name: "agent_service_takeable_turns",
      help: "Turns that a worker with a free place would take now.",
      registers,
    }),
    wanted: new Gauge({
      name: "agent_service_wanted_places",
      help: "Turns that run, and those that a worker with a free place would take now.",
      registers,
    }),
    oldest: new Gauge({
      name: "agent_service_oldest_waiting_turn_age_seconds",
      help: "How long the oldest turn has waited that only waits for a free agent.",
      registers,
    }),
    expired: new Gauge({
      name: "agent_service_expired_leases",
      help: "Running turns whose worker is late to renew its lease, and that nobody has taken over.",
      registers,
    }),
    outages: new Counter({
      name: "agent_service_store_outages_total",
      help: "How often the store began to be unusable for this process.",
      registers,
    }),
  };
}

function workerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    places: new Gauge({
      name: "agent_service_worker_places",
      help: "How many turns this process runs at a time: 0 if it takes none.",
      registers,
    }),
    running: new Gauge({
      name: "agent_service_worker_running_turns",
      help: "Turns that this process runs.",
      registers,
    }),
    durations: new Histogram({
      name: "agent_service_turn_duration_seconds",
      help: "How long turns took in this process, by how they ended.",
      labelNames: ["result"],
      buckets: turnBuckets,
      registers,
    }),
    exits: new Counter({
      name: "agent_service_agent_exits_total",
      help: "Agents that have ended, by how.",
      labelNames: ["result"],
      registers,
    }),
    checks: new Counter({
      name: "agent_service_checks_total",
      help: "Checks of commits that have ended, by what they showed.",
      labelNames: ["result"],
      registers,
    }),
    kept: new Counter({
      name: "agent_service_kept_work_total",
      help: "Failed turns of which work is kept, by its kind, and agents that began in unfinished work (laid-out).",
      labelNames: ["what"],
      registers,
    }),
    costs: new Counter({
      name: "agent_service_agent_cost_usd_total",
      help: "What agents cost in US dollars, by their own estimate.",
      labelNames: ["project", "agent"],
      registers,
    }),
    unknownCosts: new Counter({
      name: "agent_service_agent_unknown_costs_total",
      help: "Agents that have ended without saying what they cost.",
      labelNames: ["project", "agent"],
      registers,
    }),
  };
}

function httpMetrics(registry: Registry) {
  const registers = [registry];
  return {
    prompts: new Counter({
      name: "agent_service_prompts_total",
      help: "Creates and messages, by what became of them.",
      labelNames: ["kind", "result"],
      registers,
    }),
    requests: new Counter({
      name: "agent_service_http_requests_total",
      help: "HTTP requests, by route and status.",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    durations: new Histogram({
      name: "agent_service_http_request_duration_seconds",
      help: "How long requests took until they were answered completely.",
      labelNames: ["method", "route"],
      buckets: requestBuckets,
      registers,
    }),
  };
}

/** Measured by a process with a worker, every 15 minutes; the free space every minute. */
function diskGauges(registry: Registry) {
  const registers = [registry];
  return {
    clones: new Gauge({
      name: "agent_service_clone_bytes",
      help: "Size of the clones on the disk of this process, by repository.",
      labelNames: ["repository"],
      registers,
    }),
    jobs: new Gauge({
      name: "agent_service_files_bytes",
      help: "Size of what jobs have on the disk of this process: worktrees, homes of agents, logs.",
      labelNames: ["kind"],
      registers,
    }),
    free: new Gauge({
      name: "agent_service_disk_free_bytes",
      help: "Free space on the disk with the clones, worktrees, homes and logs of this process.",
      registers,
    }),
  };
}

function gitHubMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: "agent_service_github_requests_total",
      help: "Requests to GitHub's API with their retries, by class of status.",
      labelNames: ["status"],
      registers,
    }),
    remaining: new Gauge({
      name: "agent_service_github_rate_limit_remaining",
      help: "Requests that GitHub's rate limit still allowed at the last response.",
      registers,
    }),
    reset: new Gauge({
      name: "agent_service_github_rate_limit_reset_timestamp_seconds",
      help: "When GitHub's rate limit starts over.",
      registers,
    }),
  };
}
