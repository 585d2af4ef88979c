import { expect, test } from "vitest";
import { errorMessage, errorStack } from "../../src/error-message.ts";

test("describes anything that is thrown by its message or its stack", () => {
  const error = new RangeError("too large");
  expect([errorMessage(error), errorMessage("a text")]).toEqual(["too large", "a text"]);
  expect(errorStack(error)).toMatch(/^RangeError: too large\n {4}at /);
  delete error.stack;
  expect([errorStack(error), errorStack("a text")]).toEqual(["too large", "a text"]);
});
