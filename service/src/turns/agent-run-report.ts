import type { Agent } from "../agents/agent.ts";
import type { AgentReport, SessionCost } from "../agents/agent-report.ts";
import { dollars, knownCost } from "../cost.ts";
import { type Metrics, noMetrics } from "../metrics/metrics.ts";
import type { RunningTurn, StoredTurn } from "../model.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";
import type { StoredReport } from "../store/running-turns.ts";
import { storable } from "../store/sql.ts";

/** What a report depends on. */
export interface ReportPorts {
  /** The turns of the job as they were when this one was started. */
  turns: readonly StoredTurn[];
  agent: Pick<Agent, "kind">;
  /** Secrets of the service, which are removed from the agents' messages. Default: none are known. */
  secrets?: Iterable<Secret> | undefined;
  metrics?: Pick<Metrics, "agentCost"> | undefined;
  log: (text: string) => void;
}

/** An agent prints what it likes. In characters. */
const maxModelLength = 200;

/** The run of an agent that has ended. */
export interface AgentRun {
  /** With that of its run before, if its session could not be continued then. */
  report: AgentReport & { refused?: (AgentReport & { hasWorked?: boolean | undefined }) | undefined };
  project: string;
  /** Whether it continued the session of an earlier turn. */
  isFollowUp: boolean;
  /** What the agents of earlier attempts cost, in US dollars; `undefined` if that is unknown. */
  earlierUsd: number | undefined;
}

/**
 * Counts and logs what an agent cost, and returns what is stored of its run.
 *
 * @returns with its last message, without secrets of the service
 */
export async function reportOf(turn: RunningTurn, run: AgentRun, ports: ReportPorts): Promise<StoredReport> {
  const { turns, agent, secrets = [], metrics = noMetrics, log } = ports;
  const { report, project, isFollowUp, earlierUsd } = run;
  const { message, sessionCost, usedModel } = report;
  const costOfRun = (one: AgentReport, continues: boolean): number | undefined =>
    continues && one.sessionCost ? costOfTurn(turn, one.sessionCost, turns) : costOf(one);
  const { refused } = report;
  // What has not worked need not say that it cost nothing.
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

/** Returns the cost of a session since the last turn that says what it had cost by then; `undefined` if none does. */
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

/** The copy of a job can have any text. */
function parseSessionCost(text: string): SessionCost | undefined {
  try {
    return (JSON.parse(text) as SessionCost | null) ?? undefined;
  } catch {
    return undefined;
  }
}
