import { expect, test } from "vitest";
import { findBrokenPromise } from "./property.ts";

test("3,000 simulated runs break no promise", async () => {
  expect(await findBrokenPromise({ runs: 3000 })).toBeUndefined();
}, 120_000);
