import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";
import { isThorough } from "../support/thorough.ts";

/** Finding out where each of its errors is from takes a tenth of the time; `npm run simulate` with the seed of a failure shows it. */
const withoutStacks = "--stack-trace-limit=0";

/**
 * Runs it in a process of its own: in one of Vitest's, an `import()` takes real time, for which simulated time does not
 * wait.
 */
function simulate(runs: number, seed: number): Promise<string> {
  const file = resolve(root, "test/simulation/cli.ts");
  const parameters = [withoutStacks, file, "--runs", String(runs), "--seed", String(seed)];
  return new Promise((done) => {
    execFile(process.execPath, parameters, (_error, stdout, stderr) => done(stdout + stderr));
  });
}

/** CI runs 5,000 others. */
const runs = isThorough ? 2500 : 250;

// Always the same seed, so that nobody's change fails for what it did not do: a weekly workflow searches from fresh ones.
test(`${runs} simulated runs violate no invariant`, async () => {
  expect(await simulate(runs, 113)).toContain("no invariant was violated");
});
