import { expect, test } from "vitest";
import { knownMethod, routeLabel } from "../../../src/http/observe-requests.ts";

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
