import { expect, test } from "vitest";
import { delay, duration, elapsed, shortRef, size } from "../../../../src/action/report/format.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  [0, "0 s"],
  [999, "0 s"],
  [59_999, "59 s"],
  [minute, "1 min"],
  [4 * minute + 12 * second, "4 min 12 s"],
  [hour - 1, "59 min 59 s"],
  [hour, "1 h"],
  [hour + 59 * second, "1 h"],
  [26 * hour + 5 * minute, "26 h 5 min"],
])("a duration of %i ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [0, "0.0 s"],
  [7449, "7.4 s"],
  [minute - second, "59.0 s"],
  [minute, "1 min"],
  [90 * second, "1 min 30 s"],
])("a delay of %i ms is %s", (ms, text) => {
  expect(delay(ms)).toBe(text);
});

test.each([
  [0, "00:00"],
  [9999, "00:09"],
  [4 * minute + 12 * second, "04:12"],
  [hour - 1, "59:59"],
  [hour, "1:00:00"],
  [hour + 4 * minute + 12 * second, "1:04:12"],
])("%i ms since the start are %s", (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});

test.each([
  ["", "0 characters"],
  ["x", "1 character"],
  ["😀", "1 character"],
  ["x".repeat(999), "999 characters"],
  ["x".repeat(1000), "1,000 characters"],
  ["x".repeat(1_234_567), "1,234,567 characters"],
])("the size of %.5j… is %s", (text, expected) => {
  expect(size(text)).toBe(expected);
});

test("shortens a commit id, and no other ref that contains one", () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  expect(shortRef(commit)).toBe("0123456");
  for (const ref of [`backup/${commit}`, `${commit}-backup`, "v1.2.3"]) expect(shortRef(ref)).toBe(ref);
});
