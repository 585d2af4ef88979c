import fc from "fast-check";
import { findViolations } from "./invariants.ts";
import { type Scenario, scenarios } from "./scenario.ts";
import { simulate } from "./simulate.ts";

/** How many histories to simulate, from which seed, and at which of them to begin. A failure prints the last two. */
export interface SimulationOptions {
  runs: number;
  seed: number;
  path?: string | undefined;
}

const property = fc.asyncProperty(scenarios, async (scenario) => {
  const violations = findViolations(await simulate(scenario));
  if (violations.length > 0) throw new Error([...new Set(violations)].join("; "));
});

/**
 * Simulates histories until one violates an invariant, then shrinks it to the smallest one that does.
 *
 * @returns a report with the command that reproduces the violation; `undefined` if no history violates an invariant
 */
export async function findViolation(options: SimulationOptions): Promise<string | undefined> {
  const { runs, seed, path } = options;
  const details = await fc.check<[Scenario]>(property, {
    numRuns: runs,
    seed,
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

/** Returns after how many histories one violates an invariant, and which; `undefined` if none does. */
export async function countHistories({
  runs,
  seed,
}: SimulationOptions): Promise<{ runs: number; violation: string } | undefined> {
  const { failed, numRuns, errorInstance } = await fc.check(property, { numRuns: runs, seed, endOnFailure: true });
  return failed ? { runs: numRuns, violation: String(errorInstance) } : undefined;
}
