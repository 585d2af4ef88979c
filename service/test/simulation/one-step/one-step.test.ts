import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../../test/support/metadata.ts";
import { isThorough } from "../../../../test/support/thorough.ts";
import { plantedFaults } from "./planted.ts";

/** In a process of its own, which is not shared with tests. */
function simulate(...parameters: string[]): Promise<string> {
  const file = resolve(root, "service/test/simulation/one-step/cli.ts");
  return new Promise((done) => {
    execFile(process.execPath, ["--stack-trace-limit=0", file, ...parameters], (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
}

/** CI runs others. */
const runs = isThorough ? 500 : 40;

test(`${runs} histories of the action with its own agent violate no invariant`, async () => {
  expect(await simulate("--runs", String(runs), "--seed", "20261127")).toContain("no invariant was violated");
});

test.each(plantedFaults)("$name: its place is still in the sources, once", ({ edits }) => {
  for (const { file, from } of edits)
    expect(readFileSync(resolve(root, "service", file), "utf8").split(from), `${file}: ${from}`).toHaveLength(2);
});
