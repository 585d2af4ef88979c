import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExchangeError, MalformedAnswerError, RefusalError } from "../../../src/client/errors.ts";
import { backoffMs, isPassing, judgeSubmission, parseRetryAfter } from "../../../src/client/retry.ts";

const now = Date.UTC(2026, 0, 1);

describe("Retry-After", () => {
  test.each([
    ["1", 1000],
    ["3600", 3_600_000],
    [" 7 ", 7000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Thursday, 01-Jan-26 00:00:05 GMT", 5000],
    ["Thu Jan  1 00:00:05 2026", 5000],
  ])("%s", (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms);
  });

  test.each([
    undefined,
    "",
    "0",
    "-1",
    "+5",
    "1.5",
    "1e3",
    "0x10",
    "soon",
    "5 s",
    "5, 6",
    "Thu, 01 Jan 2026 00:00:00 GMT",
    "Wed, 31 Dec 2025 23:59:59 GMT",
    "2026-01-01T00:00:05Z",
    "Thu, 99 Foo 2026 00:00:05 GMT",
  ])("%s says nothing", (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });

  test("whatever it says, a wait is a number above 0, or none", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
          fc.nat().map(String),
        ),
        (value) => {
          const ms = parseRetryAfter(value, now);
          expect(ms === undefined || ms > 0).toBe(true);
        },
      ),
    );
  });
});

function refusal(status: number, retryAfterMs?: number): RefusalError {
  return new RefusalError({ status, serviceMessage: "", location: "", retryAfterMs, body: "" });
}

function broken(delivery: "not-sent" | "unclear", reason: ExchangeError["reason"]): ExchangeError {
  return new ExchangeError("x", { phase: delivery === "not-sent" ? "connecting" : "waiting", reason });
}

test("a create or message is sent again only where it was provably not taken", () => {
  expect(judgeSubmission(broken("not-sent", "network"))).toBe("unreachable");
  expect(judgeSubmission(broken("not-sent", "timeout"))).toBe("unreachable");
  expect(judgeSubmission(broken("not-sent", "certificate"))).toBe("refused");
  expect(judgeSubmission(broken("not-sent", "aborted"))).toBe("refused");
  for (const reason of ["network", "timeout", "aborted"] as const) {
    expect(judgeSubmission(broken("unclear", reason))).toBe("unclear");
  }
  expect(judgeSubmission(refusal(429))).toBe("throttled");
  expect(judgeSubmission(refusal(503, 1000))).toBe("throttled");
  for (const status of [42, 199, 408, 500, 501, 502, 503, 504, 520, 599])
    expect(judgeSubmission(refusal(status))).toBe("unclear");
  for (const status of [301, 400, 401, 403, 404, 409, 422, 425])
    expect(judgeSubmission(refusal(status))).toBe("refused");
  expect(judgeSubmission(new MalformedAnswerError("x", ""))).toBe("unclear");
});

test("a poll is repeated on all but a firm refusal and an abort", () => {
  for (const status of [408, 429, 500, 502, 503, 504]) expect(isPassing(refusal(status))).toBe(true);
  for (const status of [300, 301, 308, 400, 401, 403, 404, 410]) expect(isPassing(refusal(status))).toBe(false);
  for (const reason of ["network", "timeout", "certificate"] as const)
    expect(isPassing(broken("unclear", reason))).toBe(true);
  expect(isPassing(broken("unclear", "aborted"))).toBe(false);
  expect(isPassing(new MalformedAnswerError("x", ""))).toBe(true);
});

test("the backoff doubles from a second to half a minute, with full jitter", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) => backoffMs(attempt, 1))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ]);
  expect(backoffMs(5, 0)).toBe(0);
});
