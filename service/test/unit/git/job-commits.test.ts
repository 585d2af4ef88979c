import { expect, test } from "vitest";
import { Git } from "../../../src/git/git.ts";
import { bundle } from "../../../src/git/job-commits.ts";

test("a commit that is too large is not packed in part", async () => {
  const git = new Git({ cwd: "/" });
  let size = 20_000_000;
  git.run = async (_args, { maxBytes = 0 } = {}) => "x".repeat(Math.min(size, maxBytes));
  const pack = async (): Promise<number> => (await bundle(git, "job_1")).length;
  expect(await pack()).toBe(size);
  size++;
  await expect(pack()).rejects.toThrow("more than 20 MB");
});
