import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";
import { isThorough } from "../support/thorough.ts";

/**
 * Runs it in a process of its own: in one of Vitest's, an `import()` takes real time, for which simulated time does not
 * wait.
 */
function simulate(runs: number, seed: number): Promise<string> {
  const parameters = [resolve(root, "test/simulation/cli.ts"), "--runs", String(runs), "--seed", String(seed)];
  return new Promise((done) => {
    execFile(process.execPath, parameters, (_error, stdout, stderr) => done(stdout + stderr));
  });
}

/** As many as find each fault that `test/README.md` says was planted, and twice as many. */
const runs = isThorough ? 2500 : 1250;

test.each([
  ["the seed that finds each planted fault", 113, runs],
  ["a fresh seed", Date.now() % 1_000_000_000, 2 * runs],
])("simulated runs from %s, %i, violate no invariant: %i", async (_name, seed, count) => {
  expect(await simulate(count, seed)).toContain("no invariant was violated");
});
