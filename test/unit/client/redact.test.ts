import { expect, test } from "vitest";
import { createRedactor } from "../../../src/client/redact.ts";

test("replaces the key in every encoding in which it could be echoed", () => {
  const key = "mint_a+b/c=0123456789";
  const redact = createRedactor(key);
  expect(redact(`${key} and ${key}`)).toBe("*** and ***");
  expect(redact(`?key=${encodeURIComponent(key)}`)).toBe("?key=***");
  expect(redact(Buffer.from(key).toString("base64"))).toMatch(/^\*\*\*=*$/);
});

test("does not replace a short key, which would match words by accident", () => {
  expect(createRedactor("key")("monkey")).toBe("monkey");
});
