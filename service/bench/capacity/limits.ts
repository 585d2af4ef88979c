import type { Costs } from "./costs.ts";
import { type Fleet, type Simulated, simulate } from "./simulate.ts";

/** What a deployment has. */
export interface Limits {
  /** The `max_connections` of Postgres, less those that it keeps for administrators. */
  connections: number;
  /** Connections of a worker that is used as in the simulation. */
  workerConnections: number;
  /** The same of an API. */
  apiConnections: number;
  /** The share of Postgres's cores that may be in use on average. */
  coreShare: number;
  /** How much more CPU time a real fleet has used than a simulated one. */
  cpuFactor: number;
  /** Requests of a GitHub token in an hour. */
  gitHubRequests: number;
  /** Requests to GitHub of a turn. */
  gitHubRequestsPerTurn: number;
}

/** How much of a limit a fleet uses: from 1 on, it is reached. */
export interface Use {
  name: string;
  use: number;
}

/** Returns what a fleet uses of each limit, the most used first. */
export function usesOf(simulated: Simulated, fleet: Fleet, costs: Costs, limits: Limits): Use[] {
  const { workers, apis, cores } = fleet;
  const direct = workers * limits.workerConnections + apis * limits.apiConnections;
  // Each process has one that waits for notifications.
  const pooled = workers + apis + simulated.busyConnections;
  const uses = [
    { name: "connections", use: direct / limits.connections },
    { name: "connections with PgBouncer", use: pooled / limits.connections },
    { name: "CPU of Postgres", use: (simulated.cores * limits.cpuFactor) / (cores * limits.coreShare) },
    { name: "commits with notifications", use: simulated.notifyingCommitsPerSecond / costs.notifyingCommits },
    {
      name: "requests to GitHub with one token",
      use: (simulated.turnsPerMinute * 60 * limits.gitHubRequestsPerTurn) / limits.gitHubRequests,
    },
  ];
  return uses.sort((one, other) => other.use - one.use);
}

/**
 * Returns the number of workers at which each limit is reached, the first one first.
 *
 * @param most - beyond this many workers, a limit is not looked for, and this is returned
 * @param fleetOf - returns a fleet of a number of workers
 */
export async function findLimits(
  costs: Costs,
  limits: Limits,
  fleetOf: (workers: number) => Fleet,
  most: number,
): Promise<{ name: string; workers: number }[]> {
  const known = new Map<number, Use[]>();
  const usesAt = async (workers: number): Promise<Use[]> => {
    const fleet = fleetOf(workers);
    const uses = known.get(workers) ?? usesOf(await simulate(costs, fleet), fleet, costs, limits);
    known.set(workers, uses);
    return uses;
  };
  const isReached = async (name: string, workers: number) =>
    ((await usesAt(workers)).find((one) => one.name === name)?.use ?? 0) >= 1;
  const found: { name: string; workers: number }[] = [];
  for (const { name } of await usesAt(1)) {
    let high = 1;
    while (high < most && !(await isReached(name, high))) high = Math.min(most, high * 4);
    let low = Math.floor(high / 4);
    // To one part in fifty: the costs are not known better.
    while (high - low > Math.max(1, high / 50)) {
      const middle = Math.floor((low + high) / 2);
      if (await isReached(name, middle)) high = middle;
      else low = middle;
    }
    found.push({ name, workers: high });
  }
  return found.sort((one, other) => one.workers - other.workers);
}
