import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { SimulationOptions } from "../property.ts";
import { type Plan, plans } from "./plan.ts";
import { World } from "./world.ts";

const property = (folder: string) =>
  fc.asyncProperty(plans, async (plan) => {
    const violations = await violationsOf(plan, folder);
    if (violations.length > 0) throw new Error([...new Set(violations)].join("; "));
  });

/** Lives through a history, and returns what is wrong in it. */
export async function violationsOf(plan: Plan, folder: string): Promise<readonly string[]> {
  const world = new World(plan, folder);
  await world.run();
  return world.judge.violations;
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "one-step-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Lives through histories until one violates an invariant, then shrinks it to the smallest one that does.
 *
 * @returns a report with the command that reproduces the violation; `undefined` if no history violates an invariant
 */
export async function findViolation({ runs, seed, path }: SimulationOptions): Promise<string | undefined> {
  const options = { numRuns: runs, seed, ...(path !== undefined && { path }) };
  const details = await inFolder((folder) => fc.check<[Plan]>(property(folder), options));
  if (!details.failed) return undefined;
  const reason = details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance);
  return [
    `Violated after ${details.numRuns} histories, shrunk in ${details.numShrinks} steps: ${reason}`,
    ...(details.counterexample ?? []).map((plan) => JSON.stringify(plan)),
    `To reproduce: npm run simulate:step -- --seed ${details.seed} --path ${details.counterexamplePath}`,
  ].join("\n");
}

/** Returns after how many histories one violates an invariant, and which; `undefined` if none does. */
export async function countHistories({
  runs,
  seed,
}: SimulationOptions): Promise<{ runs: number; violation: string } | undefined> {
  const options = { numRuns: runs, seed, endOnFailure: true };
  const { failed, numRuns, errorInstance } = await inFolder((folder) => fc.check(property(folder), options));
  return failed ? { runs: numRuns, violation: String(errorInstance) } : undefined;
}
