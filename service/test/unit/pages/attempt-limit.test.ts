import { expect, test } from "vitest";
import { AttemptLimit } from "../../../src/pages/attempt-limit.ts";

test("forgets those that failed first if there are too many clients", () => {
  const limit = new AttemptLimit(1, 1000, { now: () => 5000 });
  for (let client = 0; client <= 10_000; client++) limit.addFailure(String(client));
  expect([limit.waitMs("0"), limit.waitMs("1"), limit.waitMs("10000")]).toEqual([undefined, 1000, 1000]);
});
