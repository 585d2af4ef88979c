import { expect, test } from "vitest";
import { timeLeft } from "../../../src/turns/turn-deadline.ts";

test.each([
  ["what is left of the limit", 600_000, 100_000, 500_000],
  ["a tenth of it, however long the agent took", 100_000, 100_000, 10_000],
  ["a minute of a long one", 3_600_000, 3_599_000, 60_000],
])("the commit of a change has %s", (_, limit, elapsed, left) => {
  expect(timeLeft(limit, elapsed)).toBe(left);
});
