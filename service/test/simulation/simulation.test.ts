import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../test/support/metadata.ts";
import { isThorough } from "../../../test/support/thorough.ts";
import { plantedFaults } from "./planted.ts";

/** Finding out where each of its errors is from takes a tenth of the time; `npm run simulate` with the seed of a failure shows it. */
const withoutStacks = "--stack-trace-limit=0";

/** In a process of its own, which is not shared with tests. */
function simulate(...parameters: string[]): Promise<string> {
  const file = resolve(root, "service/test/simulation/cli.ts");
  return new Promise((done) => {
    execFile(process.execPath, [withoutStacks, file, ...parameters], (_error, stdout, stderr) => done(stdout + stderr));
  });
}

/** CI runs 1,000 others. */
const runs = isThorough ? 200 : 40;

test(`${runs} simulated histories violate no invariant`, async () => {
  expect(await simulate("--runs", String(runs), "--seed", "20261122")).toContain("no invariant was violated");
});

test.each(plantedFaults)("$name: its place is still in the sources, once", ({ edits }) => {
  for (const { file, from } of edits)
    expect(readFileSync(resolve(root, "service", file), "utf8").split(from), `${file}: ${from}`).toHaveLength(2);
});
