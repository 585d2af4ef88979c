import fc from "fast-check";
import { brokenPromises } from "./invariants.ts";
import { type Scenario, scenarios } from "./scenario.ts";
import { simulate } from "./simulate.ts";

/** How many runs, from which seed, and at which of its runs to begin: a failure names all three. */
export interface SimulationOptions {
  runs: number;
  seed?: number;
  path?: string;
}

/**
 * Simulates runs of the whole action until one breaks a promise, then shrinks that to the smallest history that does.
 *
 * @returns what was broken and how to see it again; nothing where all promises were kept
 */
export async function findBrokenPromise({ runs, seed, path }: SimulationOptions): Promise<string | undefined> {
  const property = fc.asyncProperty(scenarios, async (scenario) => {
    const broken = brokenPromises(scenario, await simulate(scenario));
    if (broken.length > 0) throw new Error(broken.join("; "));
  });
  const details = await fc.check<[Scenario]>(property, {
    numRuns: runs,
    ...(seed !== undefined && { seed }),
    ...(path !== undefined && { path }),
  });
  if (!details.failed) return undefined;
  const reason = details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance);
  return [
    `Broken after ${details.numRuns} runs and ${details.numShrinks} steps of shrinking: ${reason}`,
    JSON.stringify(details.counterexample?.[0], null, 2),
    `To see it again: npm run simulate -- --seed ${details.seed} --path ${details.counterexamplePath}`,
  ].join("\n");
}
