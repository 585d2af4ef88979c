import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { gitEnvironment } from "../../../src/git/git-environment.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { docsRepository } from "../../support/agent-service.ts";

/** A commit as `git fast-import` reads it, committed some days ago. */
function commit(branch: string, message: string, daysAgo: number, from = "refs/heads/main^0"): string {
  const at = Math.floor(Date.now() / 1000) - daysAgo * 86_400;
  return `commit refs/heads/${branch}\ncommitter A <a@b.c> ${at} +0000\ndata ${message.length}\n${message}\nfrom ${from}\n\n`;
}

/** Adds commits with dates of their own. */
function importDated(docs: DocsRepository, commands: string): void {
  execFileSync("git", ["-C", docs.path, "fast-import", "--quiet"], { input: commands, env: gitEnvironment() });
}

const text = "Agent-Request: s1.";

test("finds what commits say on the branches of jobs and on the target branch, and nowhere else", async () => {
  const docs = docsRepository();
  importDated(
    docs,
    [
      commit("agent/job_1", `One\n\n${text}r1`, 2),
      commit("agent/job_2", "Two\n\nAgent-Request: s12.r1\nAgent-Request: xs1.", 1),
      commit("agent/job_3", `Old\n\n${text}r0`, 90),
      commit("feature", `Elsewhere\n\n${text}r2`, 1),
      commit("main", `Merged\n\n${text}r3`, 0),
    ].join(""),
  );
  const repository = new GitRepository({ url: docs.path, folder: temporaryFolder() });
  await repository.open();
  const found = await repository.commitsOfJobs(text, 31);
  expect(found.map(({ message }) => message.trim())).toEqual([`Merged\n\n${text}r3`, `One\n\n${text}r1`]);
  expect(found.map(({ commit: id }) => id)).toEqual([docs.head("main"), docs.head("agent/job_1")]);
  expect(Math.abs((found[1]?.at ?? 0) - (Date.now() - 2 * 86_400_000))).toBeLessThan(60_000);
  expect(await repository.commitsOfJobs("--all", 31)).toEqual([]);
});

test("reads the commits of a branch, without what was merged into it, also after the branch was deleted", async () => {
  const docs = docsRepository();
  importDated(docs, commit("agent/job_1", "One", 3) + commit("main", "Meanwhile", 2));
  const one = docs.head("agent/job_1");
  const merge = commit("agent/job_1", "Merge main", 1, one);
  importDated(docs, merge.replace(/\n\n$/, "\nmerge refs/heads/main^0\n\n"));
  importDated(docs, commit("agent/job_1", "Two", 0, "refs/heads/agent/job_1^0"));
  const head = docs.head("agent/job_1");
  docs.git("update-ref", "refs/pull/1/head", head);
  docs.git("update-ref", "-d", "refs/heads/agent/job_1");
  docs.git("config", "uploadpack.allowReachableSHA1InWant", "true");
  const repository = new GitRepository({ url: docs.path, folder: temporaryFolder() });
  await repository.open();
  const subjects = async (count: number) =>
    (await repository.commitsOfBranch(head, count)).map((c) => c.message.trim());
  expect(await subjects(3)).toEqual(["Two", "Merge main", "One"]);
  expect(await subjects(1)).toEqual(["Two"]);
  expect(await repository.commitsOfBranch("0".repeat(40), 3)).toEqual([]);
});
