import { expect, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import { MayNotBeKept } from "../../../src/store/kept-commits.ts";
import { Report, reportedCopies } from "../../../step/report.ts";

test.each([
  ["a rule", new Error("GH013: Repository rule violations found"), 1],
  ["push protection, because of a secret", new Error("GH013: push protection: Push cannot contain secrets"), 0],
  ["the step, in a public repository", new MayNotBeKept("the repository is public"), 0],
])("work that is refused by %s: a file has it or not", async (_who, refusal, count) => {
  const report = new Report();
  const keptCommits = { save: () => Promise.reject(refusal), load: async () => undefined };
  const copies = reportedCopies(report, { save: async () => {}, restore: async () => undefined, keptCommits });
  const turn = { job: "job_1" } as RunningTurn;
  await expect(copies.keptCommits?.save(turn, Buffer.from("change"))).rejects.toBe(refusal);
  expect(report.unkeptWork.size).toBe(count);
});
