import { expect, test } from "vitest";
import { hasSignals, temporaryFolder } from "../support/step.ts";
import { runKills } from "./kills.ts";

test.skipIf(!hasSignals)("steps that are killed at drawn moments are re-run without a second job", async () => {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const { counts } = await runKills({ runs: 2, cancellations: 0, seed: 30, folder: temporaryFolder(), log });
  expect(lines.sort()).toEqual([
    expect.stringMatching(/^right: history 0: own/),
    expect.stringMatching(/^right: history 1: keyless/),
  ]);
  expect(counts.get("own service, requests of a run: 1")).toBe(1);
});
