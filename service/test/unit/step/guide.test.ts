import { expect, test } from "vitest";
import { guide } from "../../../step/guide.ts";

const page = "service/docs/own-agent.md#if-it-fails";

test("is a link in logs on github.com", () => {
  const environment = {
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_ACTION_REPOSITORY: "acme/agent-job-action",
    GITHUB_ACTION_REF: "v1",
  };
  expect(guide("if-it-fails", environment)).toBe(`https://github.com/acme/agent-job-action/blob/v1/${page}`);
});

test.each([
  { GITHUB_SERVER_URL: "https://github.example", GITHUB_ACTION_REPOSITORY: "a/b", GITHUB_ACTION_REF: "v1" },
  { GITHUB_SERVER_URL: "https://github.com" },
])("names the file where its address is unknown (%o)", (environment) => {
  expect(guide("if-it-fails", environment)).toBe(`${page} in the action's repository`);
});
