import { expect, test } from "vitest";
import { createRedactor } from "../../../src/client/redact.ts";

test("the key is taken out, as it is and as it could be handed back", () => {
  const key = "mint_a+b/c=0123456789";
  const redact = createRedactor(key);
  expect(redact(`${key} and ${key}`)).toBe("*** and ***");
  expect(redact(`?key=${encodeURIComponent(key)}`)).toBe("?key=***");
  expect(redact(Buffer.from(key).toString("base64"))).toMatch(/^\*\*\*=*$/);
});

test("a key too short to be one is left alone, since words would hold it by accident", () => {
  expect(createRedactor("key")("monkey")).toBe("monkey");
});
