import { expect, test } from "vitest";
import { findViolation } from "./property.ts";

test("3,000 simulated runs violate no invariant", async () => {
  expect(await findViolation({ runs: 3000 })).toBeUndefined();
}, 120_000);
