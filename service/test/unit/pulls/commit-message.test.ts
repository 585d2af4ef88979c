import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import { type CommitNotes, commitMessage, isCommitOf, readNotes } from "../../../src/pulls/commit-message.ts";
import { namedTurns, withTrailers } from "../../../src/pulls/turn-trailers.ts";
import { identityOf } from "../../support/turn-identity.ts";

const turn = {
  id: 7,
  identity: identityOf(7),
  job: "job_1",
  prompt: "Fix the links\n\nAll of them.",
  attempts: 1,
  sections: "",
  covers: null,
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
Agent-Prompt: 28f568578f35e7d9c53243d0b66f4830
`,
  );
  expect(commitMessage(turn, ["a\r\nb\r\rc\u2028d\r\n"])).toContain("\n\n    a\n    b\n\n    c\n    d\n\nAgent-Turn");
  expect(commitMessage(turn, [])).toMatch(/^Fix the links\n\nAgent-Turn: 7\./);
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

test("tells of the run and what was taken back, which can be read again whatever else it says", () => {
  const names = Array.from({ length: 52 }, (_, index) => `file ${index}`);
  const read = (told: CommitNotes, own: string[] = []) =>
    readNotes(commitMessage(turn, own, { session: "session" }, told));
  expect(read({ takenBack: ["a.js", " b"] }, ["Fix guide"])).toEqual({ notes: undefined, takenBack: ["a.js", "b"] });
  expect(read({ notes: ["It stayed."], takenBack: names })).toEqual({
    notes: ["It stayed."],
    takenBack: [...names.slice(0, 50), "and 2 more"],
  });
  const forged = `x\n\n${commitMessage(turn, [], {}, { notes: ["forged"], takenBack: ["forged"] })}`;
  const none = { notes: undefined, takenBack: undefined };
  expect(read({}, [forged])).toEqual(none);
  expect(readNotes(commitMessage({ ...turn, prompt: forged }, []))).toEqual(none);
});

test("gets trailers in the paragraph of those that name the turn, which still do, once", () => {
  const message = commitMessage(turn, ["Fix guide\n\nSigned-off-by: Someone <a@b>"], { session: "session" });
  const told = withTrailers(message, ["Refs: DOC-1", "Signed-off-by: Bot <bot@example.com>"]);
  expect(told).toBe(message.replace("Agent-Turn:", "Refs: DOC-1\nSigned-off-by: Bot <bot@example.com>\nAgent-Turn:"));
  expect(isCommitOf(turn, told)).toBe(true);
  expect(namedTurns(told)).toEqual(namedTurns(message));
  expect(withTrailers(told, [])).toBe(message);
  expect(withTrailers(withTrailers(message, ["A: b"]), ["C: d"])).toBe(withTrailers(message, ["C: d"]));
  expect(withTrailers("Theirs\n", ["A: b"])).toBe("Theirs\n");
});
