import { expect, test } from "vitest";
import { Git } from "../../../src/git/git.ts";
import { packCommit } from "../../../src/git/job-commits.ts";

test("a commit that is too large is not packed in part", async () => {
  const git = new Git({ cwd: "/" });
  const id = "a".repeat(40);
  // The first line has 54 bytes, and the commit's text none.
  let size = 50_000_000 - 54;
  git.run = async ([command], { maxBytes = 0 } = {}) =>
    command === "log" ? `\0${id}\0\n${"x".repeat(size)}`.slice(0, maxBytes) : "";
  const pack = async (): Promise<number> => (await packCommit(git, "job_1")).length;
  expect(await pack()).toBe(50_000_000);
  size++;
  await expect(pack()).rejects.toThrow("more than 50 MB");
});
