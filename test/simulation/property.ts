import fc from "fast-check";
import { type HistoryScenario, histories } from "./history.ts";
import { findViolations } from "./invariants.ts";
import { type Scenario, scenarios } from "./scenario.ts";
import { simulate } from "./simulate.ts";

/** How many runs to simulate, from which seed, and at which of its runs to begin. A failure prints the last two. */
export interface SimulationOptions {
  runs: number;
  seed?: number;
  path?: string;
}

/**
 * Simulates runs of the whole action until one violates an invariant, then shrinks it to the smallest scenario that does.
 *
 * @returns a report with the command that reproduces the violation; `undefined` if no run violates an invariant
 */
export async function findViolation({ runs, seed, path }: SimulationOptions): Promise<string | undefined> {
  const property = fc.asyncProperty(scenarios, histories, async (scenario, history) => {
    const violations = [...findViolations(await simulate(scenario)), ...findViolations(await simulate(history))];
    if (violations.length > 0) throw new Error(violations.join("; "));
  });
  const details = await fc.check<[Scenario, HistoryScenario]>(property, {
    numRuns: runs,
    ...(seed !== undefined && { seed }),
    ...(path !== undefined && { path }),
  });
  if (!details.failed) return undefined;
  const reason = details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance);
  return [
    `Violated after ${details.numRuns} runs, shrunk in ${details.numShrinks} steps: ${reason}`,
    ...(details.counterexample ?? []).map((scenario) => JSON.stringify(scenario)),
    `To reproduce: npm run simulate -- --seed ${details.seed} --path ${details.counterexamplePath}`,
  ].join("\n");
}
