import { expect, test } from "vitest";
import { rateLimitSeconds } from "../../../src/pulls/github/rate-limit.ts";

const now = Date.UTC(2026, 0, 1);
const secondsSince1970 = now / 1000;

type Headers = Record<string, string | number | undefined>;

/** What Octokit throws after a response. */
function failure(status: number, headers: Headers = {}, message = "Forbidden"): Error {
  return Object.assign(new Error(message), { status, response: { headers } });
}

const noneLeft = (reset: string | number, more: Headers = {}): Headers => ({
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": reset,
  ...more,
});

test.each<[string, Error, number]>([
  ["a time to wait", failure(403, { "retry-after": "3" }), 3],
  ["a time to wait as a number", failure(429, { "retry-after": 3 }), 3],
  ["no time to wait", failure(429, { "retry-after": "0" }), 60],
  ["a time in the past", failure(429, { "retry-after": "-5" }), 1],
  ["a time that is no number", failure(403, { "retry-after": "soon" }), 60],
  ["a time to wait, whatever else it says", failure(403, { "retry-after": "3", ...noneLeft(secondsSince1970) }), 3],
  ["no requests left, with a second more", failure(403, noneLeft(secondsSince1970 + 100)), 101],
  [
    "no requests left, as a number",
    failure(429, { ...noneLeft(secondsSince1970 + 9), "x-ratelimit-remaining": 0 }),
    10,
  ],
  ["no requests left until a time in the past", failure(403, noneLeft(secondsSince1970 - 100)), 1],
  ["no requests left until a time that is no number", failure(403, noneLeft("later")), 60],
  ["no requests left, by its own clock", failure(403, noneLeft(110, { date: "Thu, 01 Jan 1970 00:01:40 GMT" })), 11],
  ["a clock that is none", failure(403, noneLeft(secondsSince1970 + 100, { date: "noon" })), 101],
  ["429 without a time", failure(429), 60],
  ["a secondary limit without a time", failure(403, {}, "You exceeded a Secondary Rate limit"), 60],
])("waits after a rate limit: GitHub's answer has %s", (_name, error, seconds) => {
  expect(rateLimitSeconds(error, now)).toBe(seconds);
});

test.each<[string, unknown]>([
  ["a denial", failure(403)],
  ["a denial with requests left", failure(403, { ...noneLeft(secondsSince1970 + 100), "x-ratelimit-remaining": "10" })],
  ["an outage, even if it says when to come back", failure(503, { "retry-after": "3" })],
  ["an outage when no requests are left", failure(500, noneLeft(secondsSince1970 + 100))],
  ["an error without a response", new Error("secondary rate limit")],
  ["an error with an empty response", Object.assign(new Error("fetch failed"), { status: 429, response: undefined })],
  ["something that is no error", { status: 429, response: { headers: {} }, message: "" }],
])("takes nothing else for a rate limit: %s", (_name, error) => {
  expect(rateLimitSeconds(error, now)).toBeUndefined();
});
