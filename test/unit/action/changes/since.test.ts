import { expect, test } from "vitest";
import { parseSince } from "../../../../src/action/changes/since.ts";

test.each<[string, number]>([
  ["1m", 60_000],
  ["24h", 86_400_000],
  ["7d", 604_800_000],
  ["2w", 1_209_600_000],
  ["0.5h", 1_800_000],
  ["0.25h", 900_000],
  ["3650d", 315_360_000_000],
])("%s is a duration", (text, ms) => {
  expect(parseSince(text)).toEqual({ kind: "duration", ms });
});

test.each([
  "v1.0.0",
  "main",
  "feature/x",
  "0123456789abcdef0123456789abcdef01234567",
  "7days",
  "24H",
  "été",
  "a.b",
  "a@b",
])("%s is a ref", (ref) => {
  expect(parseSince(ref)).toEqual({ kind: "ref", ref });
});

test("auto is neither", () => {
  expect(parseSince("auto")).toEqual({ kind: "auto" });
});

test.each([
  "0h",
  "0.0d",
  "3651d",
  "9999999999999w",
  "",
  "a b",
  "a..b",
  "a...b",
  "-x",
  "/x",
  "x/",
  "x.",
  ".x",
  "a/.b",
  "a//b",
  "x.lock",
  "x.lock/y",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "[a",
  "a\\b",
  "a@{1}",
  "@",
  "a\u007f",
  "a\nb",
  "x".repeat(256),
])("%j is invalid", (text) => {
  expect(parseSince(text)).toBeUndefined();
});
