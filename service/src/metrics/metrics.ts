import type { Census, CheckResult, DiskUse, KeptWork, TurnResult } from "../model.ts";

/**
 * How an agent ended. `reported-failure`: its exit code was 0, but it said that it failed; `stopped`: the service stopped it;
 * `memory-limit` and the like: it was killed, because it exceeded that limit.
 */
export type AgentExit =
  | "completed"
  | "exit-code"
  | "reported-failure"
  | "time-limit"
  | "memory-limit"
  | "process-limit"
  | "disk-limit"
  | "stopped";

/**
 * Whether a create or message was accepted: yes; yes, when it was sent with the same key before; rejected for one of three
 * reasons; or unknown.
 */
export type PromptResult = "accepted" | "replayed" | "rate-limited" | "key-reused" | "store-unavailable" | "unknown";

/** What an agent cost. */
export interface AgentCost {
  project: string;
  /** The kind of the agent: a preset's name, `command` or `built-in`. */
  agent: string;
  /** In US dollars, as the agent says; undefined if it does not. */
  costUsd: number | undefined;
}

/** An HTTP request that was answered, or whose client left before. */
export interface AnsweredRequest {
  method: string;
  /** The template of its path, of which there are few: `/pull/{number}`. */
  route: string;
  /** 499 if the client left before the answer. */
  status: number;
  seconds: number;
}

/** A response of GitHub's API. */
export interface GitHubResponseNumbers {
  /** Undefined if GitHub did not respond. */
  status: number | undefined;
  /** How many requests the rate limit still allows; undefined if GitHub does not say. */
  remaining: number | undefined;
  /** When the rate limit starts over, in seconds since 1970; undefined if GitHub does not say. */
  resetAt: number | undefined;
}

/** Counts events in the service. Its methods never throw. */
export interface Metrics {
  promptAnswered(kind: "create" | "message", result: PromptResult): void;
  /** Receives how many turns the worker of this process runs at a time: 0 when it takes no more. */
  workerTakes(turns: number): void;
  /** Returns a function to call when the turn has ended. */
  turnStarted(): (result: TurnResult) => void;
  agentExited(exit: AgentExit): void;
  agentCost(cost: AgentCost): void;
  checkEnded(result: CheckResult): void;
  /** @param what - what is kept of a turn that failed; `laid-out`: an agent begins in what was left unfinished */
  workKept(what: KeptWork | "laid-out"): void;
  requestAnswered(request: AnsweredRequest): void;
  gitHubAnswered(response: GitHubResponseNumbers): void;
  storeOutageBegan(): void;
  diskMeasured(use: DiskUse): void;
  /** @param since - in seconds since 1970; `undefined` when the problem has ended */
  problemChanged(problem: string, since: number | undefined): void;
}

/** Counts nothing. */
export const noMetrics: Metrics = {
  promptAnswered: () => {},
  workerTakes: () => {},
  turnStarted: () => () => {},
  agentExited: () => {},
  agentCost: () => {},
  checkEnded: () => {},
  workKept: () => {},
  requestAnswered: () => {},
  gitHubAnswered: () => {},
  storeOutageBegan: () => {},
  diskMeasured: () => {},
  problemChanged: () => {},
};

/** Metrics that can be read. */
export interface ReadableMetrics extends Metrics {
  readonly contentType: string;
  /**
   * Returns all of them as text.
   *
   * @param census - undefined if the store cannot be read now
   */
  render(census: Census | undefined): Promise<string>;
}
