import { expect, test } from "vitest";
import { dollars, knownCost } from "../../src/cost.ts";

test.each([
  [0, 0, "$0.00"],
  [0.000018, 0.000018, "less than $0.0001"],
  [0.1 + 0.2, 0.3, "$0.3000"],
  [0.0123, 0.0123, "$0.0123"],
  [12.345, 12.345, "$12.35"],
  [1000, 1000, "$1000.00"],
  [1000.01, undefined, undefined],
  [-0.01, undefined, undefined],
  [Number.NaN, undefined, undefined],
  [Number.POSITIVE_INFINITY, undefined, undefined],
  ["1", undefined, undefined],
  [null, undefined, undefined],
])("the cost %s is known as %s, for people %s", (cost, known, text) => {
  expect([knownCost(cost), dollars(cost)]).toEqual([known, text]);
});
