import { expect, test } from "vitest";
import { duration, plural, time } from "../../../src/pages/words.ts";

test("a time is shown to the minute, and has an exact one for programs", () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  expect(String(time(at))).toBe('<time datetime="2026-01-02T03:04:05.006Z">2026-01-02 03:04 UTC</time>');
});

test.each([
  [0, "0 s"],
  [-5, "0 s"],
  [59_400, "59 s"],
  [59_600, "1 min 0 s"],
  [3_599_000, "59 min 59 s"],
  [3_600_000, "1 h 0 min"],
  [90_061_000, "25 h 1 min"],
])("%d ms are %s", (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test("a number of things is in the plural, unless it is one", () => {
  expect([0, 1, 2].map((count) => plural(count, "turn"))).toEqual(["0 turns", "1 turn", "2 turns"]);
});
