import { expect, test } from "vitest";
import { commitTitle } from "../../../../src/service/jobs/commit-title.ts";

test("shortens a prompt to the subject line of a commit", () => {
  expect(commitTitle("\n  \u0007Fix\u202e the links \nand more")).toBe("Fix the links");
  expect(commitTitle(" \n")).toBe("Change the documentation");
  const long = commitTitle(`Bring ${"the pages ".repeat(20)}up to date`);
  expect(long.length).toBeLessThanOrEqual(72);
  expect(long).toMatch(/ (the|pages)…$/);
});
