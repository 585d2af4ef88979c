import type { FailureClass } from "../model.ts";

/** What an agent said about its turn. */
export interface AgentReport {
  /** Its final message. Undefined if its output does not tell which text that is. */
  message: string | undefined;
  /** What went wrong, if it reported a failure, whatever its exit code is. */
  error: string | undefined;
  /**
   * Whether it said itself how its turn ended, whatever became of its process afterwards. Default: it has no words for that, and
   * its exit code says it.
   */
  hasEnded?: boolean | undefined;
  /** What kind of failure it reported. Default: its words tell. */
  failureClass?: FailureClass | undefined;
  /** The model that it said it uses, and its version. Default: unknown. */
  usedModel?: string | undefined;
  /** What it cost, in US dollars, by its own estimate. Default: unknown. */
  costUsd?: number | undefined;
  /** What its session has cost, in all turns so far. Default: unknown. */
  sessionCost?: SessionCost | undefined;
}

/** What a session of an agent has cost since it was started. */
export interface SessionCost {
  session: string;
  /** In US dollars, by the agent's own estimate. */
  totalUsd: number;
}
