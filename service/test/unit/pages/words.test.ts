import { expect, test } from "vitest";
import { clockTime, duration, plural, spentWords, startOfDay, time } from "../../../src/pages/words.ts";

test("a time is shown to the minute, and has an exact one for programs", () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  expect(String(time(at, "UTC"))).toBe('<time datetime="2026-01-02T03:04:05.006Z">2026-01-02 03:04 UTC</time>');
  expect(String(time(at, "America/New_York"))).toContain(">2026-01-01 22:04 EST<");
  expect(String(clockTime(at, "Asia/Kolkata"))).toContain(">08:34:05<");
});

test.each([
  ["2026-03-29", "UTC", "2026-03-29T00:00:00Z"],
  ["2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z"],
  ["2026-03-30", "Europe/Berlin", "2026-03-29T22:00:00Z"],
  ["2026-01-01", "Pacific/Kiritimati", "2025-12-31T10:00:00Z"],
  ["2026-01-01", "Pacific/Pago_Pago", "2026-01-01T11:00:00Z"],
  ["2026-01-01", "Asia/Kathmandu", "2025-12-31T18:15:00Z"],
])("%s in %s begins at %s", (date, zone, iso) => {
  expect(startOfDay(date, zone)).toBe(Date.parse(iso));
});

test.each(["", "today", "2026-13-01", "2026-1-1"])("%j is no day", (date) => {
  expect(startOfDay(date, "UTC")).toBeUndefined();
});

test.each([
  [{ tookMs: 0, costUsd: 0, unknownCosts: 0 }, undefined],
  [{ tookMs: 61_000, costUsd: 0, unknownCosts: 1 }, "1 min 1 s"],
  [{ tookMs: 61_000, costUsd: 0.5, unknownCosts: 0 }, "1 min 1 s · $0.5000"],
  [{ tookMs: 61_000, costUsd: 1234.5, unknownCosts: 2 }, "1 min 1 s · at least $1234.50"],
])("%j is %s", (spent, words) => {
  expect(
    spentWords(spent)
      ?.toString()
      .replace(/<[^>]*>/g, ""),
  ).toBe(words);
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
