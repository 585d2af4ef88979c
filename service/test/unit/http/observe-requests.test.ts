import { expect, test } from "vitest";
import { listen } from "../../../src/http/listen.ts";
import { knownMethod, observeRequests, routeLabel } from "../../../src/http/observe-requests.ts";
import { logContext } from "../../../src/log/log-context.ts";
import { noMetrics } from "../../../src/metrics/metrics.ts";

test.each([
  ["/", "/"],
  ["/?next=/pull/1", "/"],
  ["/v2/agent/docs/job", "/v2/agent/{project}/job"],
  ["/v2/agent/docs/job/job_1", "/v2/agent/{project}/job/{job}"],
  ["/v2/agent/docs/job/job_1/message", "/v2/agent/{project}/job/{job}/message"],
  ["/pull/12", "/pull/{number}"],
  ["/job/job_1/log?follow=no", "/job/{job}/log"],
  ["/sign-in", "/sign-in"],
  ["/sign-in/link?next=/pull/1", "/sign-in/link"],
  ["/sign-in/a-secret-of-43-characters", "/sign-in/{link}"],
  ["/healthz/live", "/healthz/live"],
  ["/metrics", "/metrics"],
  ["/wp-login.php", "other"],
  ["/v2/agent/docs/job/job_1/message/more", "other"],
  ["//", "other"],
])("%s is counted as %s", (url, template) => {
  expect(routeLabel({ url })).toBe(template);
});

const uuid = expect.stringMatching(/^[\da-f-]{36}$/);

test.each([
  ["a new id", {}, uuid],
  ["that of its key", { "idempotency-key": '"nightly-2026-11-22.r-1"' }, "r-1"],
  ["that of a key without a step", { "idempotency-key": '"r-1"' }, "r-1"],
  ["no part of a key that is not safe to log", { "idempotency-key": '"nightly.r 1"' }, uuid],
  ["the one that the client chose", { "x-request-id": "own", "idempotency-key": '"nightly.r-1"' }, "own"],
])("a request has %s, also in its log lines, with its job", async (_, headers, expected) => {
  const contexts: unknown[] = [];
  const listener = observeRequests({ metrics: noMetrics }, (_request, response) => {
    contexts.push(logContext());
    response.end();
  });
  await using server = await listen(listener);
  const job = "job_00000000-0000-0000-0000-000000000001";
  const answer = await fetch(`${server.url}/v2/agent/docs/job/${job}`, { headers });
  expect(answer.headers.get("x-request-id")).toEqual(expected);
  await fetch(`${server.url}/v2/agent/docs/job/anything`, { headers });
  expect(contexts).toEqual([{ request: expected, job }, { request: expected }]);
});

test("a request without a path is one that the service does not know", () => {
  expect(routeLabel({ url: undefined })).toBe("other");
});

test("methods that the service does not know are counted together", () => {
  expect(["GET", "DELETE", "BREW", "get", undefined].map(knownMethod)).toEqual([
    "GET",
    "DELETE",
    "other",
    "other",
    "other",
  ]);
});
