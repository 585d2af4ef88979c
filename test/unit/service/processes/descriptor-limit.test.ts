import { expect, test } from "vitest";
import { checkDescriptors, descriptorLimit } from "../../../../src/service/processes/descriptor-limit.ts";

test("the service starts only with enough descriptors", () => {
  expect(() => checkDescriptors(127)).toThrow("can have only 127 files and connections open, and needs 128");
  expect(() => checkDescriptors(128)).not.toThrow();
  expect(() => checkDescriptors()).not.toThrow();
  expect(descriptorLimit()).toBeGreaterThanOrEqual(128);
});
