import { expect, test } from "vitest";
import { commitTitle } from "../../../src/pulls/commit-title.ts";

test("shortens a prompt to the subject line of a commit", () => {
  expect(commitTitle("\n  \u0007Fix\u202e the links \nand more")).toBe("Fix the links");
  expect(commitTitle(" \n")).toBe("Change the documentation");
  const long = commitTitle(`Bring ${"the pages ".repeat(20)}up to date`);
  expect(long.length).toBeLessThanOrEqual(72);
  expect(long).toMatch(/ (the|pages)…$/);
});

test("uses up to 72 characters, and cuts between words", () => {
  const exact = `${"x".repeat(66)} words`;
  expect(commitTitle(exact)).toBe(exact);
  expect(commitTitle(`${exact}!`)).toBe(`${"x".repeat(66)}…`);
  expect(commitTitle(`${"x".repeat(66)}  words`)).toBe(`${"x".repeat(66)}…`);
  expect(commitTitle("x".repeat(73))).toBe(`${"x".repeat(71)}…`);
  expect(commitTitle("🙂".repeat(72))).toBe("🙂".repeat(72));
});

test.each(["می‌خواهم", "ශ්‍රී ලංකා", "👨‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿"])("keeps the joiners and flags of %s", (text) => {
  expect(commitTitle(text)).toBe(text);
});
