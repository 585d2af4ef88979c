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

test.each([
  ["Update the page", "docs:", "docs: update the page"],
  ["API keys expire", "docs:", "docs: API keys expire"],
  ["GitHub changed", "docs:", "docs: GitHub changed"],
  ["Docs: update the page", "docs:", "Docs: update the page"],
  ["Éditer la page", "docs(fr):", "docs(fr): éditer la page"],
  ["Update the page", "[DOC-1]", "[DOC-1] Update the page"],
  ["Fix #12", "docs:", "docs: fix #\u200b12"],
])("%j begins with %j once: %j", (prompt, prefix, title) => {
  expect(commitTitle(prompt, prefix)).toBe(title);
  expect(commitTitle(title, prefix)).toBe(title);
  expect([...commitTitle("word ".repeat(100), prefix)].length).toBeLessThanOrEqual(72);
});
