import { expect, test } from "vitest";
import type { JobCopy, RunningTurn } from "../../../src/model.ts";
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
  await expect(copies.keptCommits?.save(turn, Buffer.from("change"))).rejects.toBe(refusal);
  expect(report.unkeptWork.size).toBe(count);
});

test("work that is still being kept when the step ends is in a file, and what was in one before stays if it may not be kept", async () => {
  const report = new Report();
  const turns = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const keptCommits = {
    save: (_: unknown, packed: Uint8Array) => turns[packed[0] ?? 0]?.promise ?? Promise.reject(),
    load: async () => undefined,
  };
  const copies = reportedCopies(report, { save: async () => {}, restore: async () => undefined, keptCommits });
  const left = () => [...report.unkeptWork.values()].map(([first]) => first);
  const saved = copies.keptCommits?.save(turn, Uint8Array.of(0));
  expect(left()).toEqual([0]);
  turns[0]?.reject(new Error("GH013"));
  await expect(saved).rejects.toThrow("GH013");
  const other = copies.keptCommits?.save(turn, Uint8Array.of(1));
  turns[1]?.reject(new MayNotBeKept("the repository is public"));
  await expect(other).rejects.toThrow("public");
  expect(left()).toEqual([0]);
});

const turn = { job: "job_1" } as RunningTurn;

test.each<[what: string, count: number, next: (copies: ReturnType<typeof reportedCopies>) => Promise<unknown>]>([
  ["nothing", 1, async () => {}],
  ["being kept after all", 0, ({ keptCommits }) => keptCommits?.save(turn, Buffer.of()) ?? Promise.reject()],
  ["being published", 0, async ({ keptCommits }) => keptCommits?.forget?.(turn)],
  ["a turn that completes", 0, ({ save }) => save(jobWith({ state: "completed" }), undefined)],
  ["being pushed without a pull request", 0, ({ save }) => save(jobWith({ kept: "pull-request" }), undefined)],
  ["another failure", 1, ({ save }) => save(jobWith({ kept: "push" }), undefined)],
])("work that was kept nowhere is in a file or not after %s", async (_what, count, next) => {
  const report = new Report();
  let refusal: Error | undefined = new Error("GH013");
  const save = async () => {
    if (refusal) throw refusal;
  };
  const keptCommits = { save, load: async () => undefined, forget: async () => {} };
  const copies = reportedCopies(report, { save: async () => {}, restore: async () => undefined, keptCommits });
  await expect(copies.keptCommits?.save(turn, Buffer.from("change"))).rejects.toBe(refusal);
  refusal = undefined;
  await next(copies);
  expect(report.unkeptWork.size).toBe(count);
});

const jobWith = (last: Partial<JobCopy["turns"][number]>): JobCopy =>
  ({ id: "job_1", pullRequest: null, turns: [{ id: 1, state: "failed", kept: null, ...last }] }) as unknown as JobCopy;
