import { expect, test } from "vitest";
import { readableError } from "../../../src/agents/readable-error.ts";

test.each([
  ["no JSON", "invalid x-api-key", "invalid x-api-key"],
  ["an answer of an API", '{"error":{"message":"scripted failure","type":"x"}}', "scripted failure"],
  [
    "an answer after text",
    'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
    "API Error: 401: invalid x-api-key",
  ],
  [
    "an answer within brackets",
    '[API Error: {"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]',
    "API Error: API key not valid",
  ],
  ["an answer in an answer", JSON.stringify({ message: JSON.stringify({ error: { message: "deep" } }) }), "deep"],
  ["broken JSON", 'failed {"error":', 'failed {"error":'],
  ["JSON without a message", "{}", "{}"],
])("%s is text", (_name, error, readable) => {
  expect(readableError(error)).toBe(readable);
});
