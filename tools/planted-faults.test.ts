import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { plantedFaults } from "../service/test/simulation/planted.ts";
import { isThorough, rows } from "../test/support/thorough.ts";

test("the simulation of several machines finds planted faults", async () => {
  const names = rows(plantedFaults, 11).map(({ name }) => name);
  // The seeds with which they are found soon.
  const [runs, seed] = isThorough ? ["3000", "7"] : ["2000", "18"];
  const planted = names.flatMap((name) => ["--plant", name]);
  // In a process of its own, which loads the sources again for each of them.
  const file = resolve(import.meta.dirname, "../service/test/simulation/cli.ts");
  const found = await new Promise<string>((done) => {
    execFile(process.execPath, [file, ...planted, "--runs", runs, "--seed", seed], (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
  for (const name of names) expect(found).toMatch(new RegExp(`^${name}: found after \\d+ runs?:`, "m"));
});
