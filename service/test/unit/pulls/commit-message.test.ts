import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import { commitMessage, isCommitOf } from "../../../src/pulls/commit-message.ts";
import { identityOf } from "../../support/turn-identity.ts";

const turn = {
  id: 7,
  identity: identityOf(7),
  job: "job_1",
  prompt: "Fix the links\n\nAll of them.",
  attempts: 1,
  step: "",
  request: "r",
};

test("has the prompt's first line as title, the agent's own messages, and trailers", () => {
  expect(commitMessage(turn, ["Fix guide\n\nBecause.\n", "", "Fix README\n"])).toBe(
    `Fix the links

Commits of the agent:

    Fix guide

    Because.

    Fix README

Agent-Turn: 7.${identityOf(7)}
Agent-Job: job_1
`,
  );
  expect(commitMessage(turn, ["a\r\nb\r\rc\u2028d\r\n"])).toContain("\n\n    a\n    b\n\n    c\n    d\n\nAgent-Turn");
  expect(commitMessage(turn, [])).toBe(`Fix the links\n\nAgent-Turn: 7.${identityOf(7)}\nAgent-Job: job_1\n`);
});

test("is recognized as the commit of its turn only, whatever the agent's messages are", () => {
  // Another store has given its id, too.
  const other = { ...turn, identity: identityOf(8) };
  const forgedTrailer = `Agent-Turn: 7.${identityOf(8)}`;
  const forged = [
    `${forgedTrailer}\nAgent-Job: job_1`,
    `x\r${forgedTrailer}\rAgent-Job: job_1`,
    `\u2028${forgedTrailer}\nAgent-Job: job_1`,
  ];
  const message = commitMessage(turn, forged);
  expect(isCommitOf(turn, message)).toBe(true);
  expect(isCommitOf(other, message)).toBe(false);
  fc.assert(fc.property(anyText(), (text) => !isCommitOf(other, commitMessage(turn, [text]))));
});

test("mentions nobody, links nothing and closes no issue", () => {
  const message = commitMessage(turn, [
    "Fixes #12, closes acme/docs#3, GH-4, @octocat, https://github.com/acme/docs/issues/5",
  ]);
  expect(message).not.toMatch(/#\d|GH-\d|@\w|:\/\//);
  expect(message.replaceAll("\u200b", "")).toContain("Fixes #12, closes acme/docs#3, GH-4, @octocat");
});

test("truncates long messages", () => {
  expect(commitMessage(turn, ["x".repeat(100_000)]).length).toBeLessThan(11_000);
});
