import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../test/support/metadata.ts";
import { isThorough, rows } from "../../../test/support/thorough.ts";
import { plantedFaults } from "./planted.ts";

/** In a process of its own, which loads the sources again for each planted fault. */
function simulate(...parameters: string[]): Promise<string> {
  const file = resolve(root, "service/test/simulation/cli.ts");
  return new Promise((done) => {
    execFile(process.execPath, [file, ...parameters], (_error, stdout, stderr) => done(stdout + stderr));
  });
}

test("200 simulated histories violate no invariant", async () => {
  expect(await simulate("--runs", "200", "--seed", "20261122")).toContain("no invariant was violated");
});

test("planted faults are found", async () => {
  const names = rows(plantedFaults, 11).map(({ name }) => name);
  // The seeds with which they are found soon.
  const [runs, seed] = isThorough ? ["3000", "7"] : ["2000", "18"];
  const found = await simulate(...names.flatMap((name) => ["--plant", name]), "--runs", runs, "--seed", seed);
  for (const name of names) expect(found).toMatch(new RegExp(`^${name}: found after \\d+ runs?:`, "m"));
});
