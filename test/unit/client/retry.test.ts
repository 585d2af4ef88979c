import { expect, test } from "vitest";
import { HttpError, InvalidResponseError } from "../../../src/client/errors.ts";
import { backoffMs, classifySubmissionFailure, isTransientPollFailure } from "../../../src/client/retry.ts";
import { NetworkError } from "../../../src/runner-kit/transport.ts";

function httpError(status: number, retryAfterMs?: number): HttpError {
  return new HttpError({ status, serviceMessage: "", location: "", retryAfterMs, sentAt: 0 });
}

function networkError(phase: NetworkError["phase"], reason: NetworkError["reason"]): NetworkError {
  return new NetworkError("x", { phase, reason });
}

test("a create or message is only retried if it was provably not accepted", () => {
  expect(classifySubmissionFailure(networkError("connecting", "network"))).toBe("unreachable");
  expect(classifySubmissionFailure(networkError("connecting", "timeout"))).toBe("unreachable");
  expect(classifySubmissionFailure(networkError("connecting", "certificate"))).toBe("rejected");
  expect(classifySubmissionFailure(networkError("connecting", "aborted"))).toBe("rejected");
  for (const phase of ["sending", "waiting", "reading"] as const) {
    for (const reason of ["network", "timeout", "aborted"] as const) {
      expect(classifySubmissionFailure(networkError(phase, reason))).toBe("unknown");
    }
  }
  expect(classifySubmissionFailure(httpError(429))).toBe("throttled");
  expect(classifySubmissionFailure(httpError(503, 1000))).toBe("throttled");
  for (const status of [42, 199, 408, 500, 501, 502, 503, 504, 520, 599]) {
    expect(classifySubmissionFailure(httpError(status))).toBe("unknown");
  }
  for (const status of [408, 500, 502, 504]) {
    expect(classifySubmissionFailure(httpError(status, 1000))).toBe("unknown");
  }
  for (const status of [300, 301, 400, 401, 403, 404, 409, 422, 425]) {
    expect(classifySubmissionFailure(httpError(status))).toBe("rejected");
  }
  expect(classifySubmissionFailure(new InvalidResponseError("x", ""))).toBe("unknown");
});

test("a failed poll is repeated, except after a permanent HTTP error or an abort", () => {
  for (const status of [408, 429, 500, 502, 503, 504]) expect(isTransientPollFailure(httpError(status))).toBe(true);
  for (const status of [300, 301, 308, 400, 401, 403, 404, 410])
    expect(isTransientPollFailure(httpError(status))).toBe(false);
  for (const reason of ["network", "timeout", "certificate"] as const)
    expect(isTransientPollFailure(networkError("waiting", reason))).toBe(true);
  expect(isTransientPollFailure(networkError("waiting", "aborted"))).toBe(false);
  expect(isTransientPollFailure(new InvalidResponseError("x", ""))).toBe(true);
});

test("the backoff doubles from a second to half a minute, with full jitter", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) => backoffMs(attempt, 1))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ]);
  expect(backoffMs(5, 0)).toBe(0);
});
