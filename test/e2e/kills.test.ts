import { expect, test } from "vitest";
import { runKills } from "../kills/kills.ts";
import { hasSignals, temporaryFolder } from "../support/step.ts";

test.skipIf(!hasSignals)("steps that are killed at drawn moments are re-run without a second job", async () => {
  const wrong: string[] = [];
  const log = (line: string): void => void wrong.push(line);
  const { counts } = await runKills({ runs: 1, cancellations: 0, seed: 30, folder: temporaryFolder(), log });
  expect(wrong).toEqual([]);
  expect(counts.get("own service, requests of a run: 1")).toBe(1);
});
