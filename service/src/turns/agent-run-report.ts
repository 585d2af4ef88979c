import type { Agent } from "../agents/agent.ts";
import type { AgentReport, SessionCost } from "../agents/agent-report.ts";
import { dollars, knownCost } from "../cost.ts";
import { type Metrics, noMetrics } from "../metrics/metrics.ts";
import type { RunningTurn, StoredTurn } from "../model.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";
import type { StoredReport } from "../store/running-turns.ts";
import { storable } from "../store/sql.ts";

export interface ReportPorts {
  /** The job's turns when this one started. */
  turns: readonly StoredTurn[];
  agent: Pick<Agent, "kind">;
  /** Removed from the agent's messages. Default: none. */
  secrets?: Iterable<Secret> | undefined;
  metrics?: Pick<Metrics, "agentCost"> | undefined;
  log: (text: string) => void;
}

/** In characters: an agent can print any name. */
const maxModelLength = 200;

/** A completed agent run. */
export interface AgentRun {
  /** Includes the run before it if the session could not be continued. */
  report: AgentReport & { refused?: (AgentReport & { hasWorked?: boolean | undefined }) | undefined };
  project: string;
  /** Whether it continued the session of an earlier turn. */
  isFollowUp: boolean;
  /** What earlier attempts cost, in US dollars; `undefined` if unknown. */
  earlierUsd: number | undefined;
}

/** Counts and logs the cost of an agent run, and returns its stored report, without secrets of the service. */
export async function reportOf(turn: RunningTurn, run: AgentRun, ports: ReportPorts): Promise<StoredReport> {
  const { turns, agent, secrets = [], metrics = noMetrics, log } = ports;
  const { report, project, isFollowUp, earlierUsd } = run;
  const { message, sessionCost, usedModel } = report;
  const costOfRun = (one: AgentReport, continues: boolean): number | undefined =>
    continues && one.sessionCost ? costOfTurn(turn, one.sessionCost, turns) : costOf(one);
  const { refused } = report;
  // An agent that did no work may report no cost.
  const refusedUsd =
    refused === undefined ? 0 : (costOfRun(refused, true) ?? (refused.hasWorked === false ? 0 : undefined));
  const ownUsd = costOfRun(report, isFollowUp);
  const costUsd = ownUsd === undefined || refusedUsd === undefined ? undefined : knownCost(ownUsd + refusedUsd);
  metrics.agentCost({ project, agent: agent.kind, costUsd });
  const withoutSecrets = async (text: string): Promise<string> =>
    storable(await new SecretPatterns(secrets).remove(text));
  const stored = {
    answer: message === undefined ? undefined : await withoutSecrets(message),
    usedModel: usedModel === undefined ? undefined : (await withoutSecrets(usedModel)).slice(0, maxModelLength),
    costUsd: costUsd === undefined || earlierUsd === undefined ? undefined : knownCost(earlierUsd + costUsd),
    sessionCost: sessionCost && JSON.stringify(sessionCost),
  };
  if (costUsd !== undefined) log(`Cost, by the agent's own estimate: ${dollars(costUsd)}.`);
  return stored;
}

const costOf = ({ costUsd, sessionCost }: AgentReport): number | undefined =>
  knownCost(sessionCost?.totalUsd ?? costUsd);

/** Returns the cost since the last turn that recorded a total for the same session; `undefined` if there is none. */
function costOfTurn(
  turn: RunningTurn,
  { session, totalUsd }: SessionCost,
  turns: readonly StoredTurn[],
): number | undefined {
  const earlier = turns
    .filter(({ id }) => id <= turn.id)
    .map(({ sessionCost }) => parseSessionCost(sessionCost ?? ""))
    .findLast((one) => one?.session === session);
  return earlier && knownCost(totalUsd - earlier.totalUsd);
}

/** A copied job can contain any text. */
function parseSessionCost(text: string): SessionCost | undefined {
  try {
    return (JSON.parse(text) as SessionCost | null) ?? undefined;
  } catch {
    return undefined;
  }
}
