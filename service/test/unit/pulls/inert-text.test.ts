import { expect, test } from "vitest";
import { inertText } from "../../../../src/runner-kit/inert-text.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { commitTitle } from "../../../src/pulls/commit-title.ts";
import { pullRequestBody, readFailedCheck, readTurns, updatedBody } from "../../../src/pulls/pull-request-body.ts";
import { identityOf } from "../../support/turn-identity.ts";

/** What CI services look for in a commit message to skip their checks. */
const commands = [
  "[skip ci]",
  "[ci skip]",
  "[no ci]",
  "[skip actions]",
  "[actions skip]",
  "[CI SKIP]",
  "[skip-ci]",
  "[skip azurepipelines]",
  "[CF-Pages-Skip]",
  "***NO_CI***",
  "skip-checks: true",
  "skip-checks:true",
  "request-checks: true",
];

const references = ["fixes #1", "closes acme/docs#2", "GH-3", "@octocat", "https://github.com/acme/docs/issues/5"];

const trailers = [
  "Signed-off-by: A <a@example.com>",
  "co-authored-by: A",
  "  Reviewed-By : A",
  "Agent-Turn: 1.0123",
  "Change-Id: I1",
  "Release-As: 9.0.0",
  "BREAKING CHANGE: x",
];

test.each(trailers)("makes the trailer %s inert, and no words within a line", (text) => {
  expect(inertText(`Fix it\n\n${text}\n`)).not.toContain(text.split(" <")[0]);
  const inLine = text.replace("@", "at").trim();
  expect(inertText(`Fix ${inLine}`)).toBe(`Fix ${inLine}`);
});

/** What has an effect in the message of a commit. */
const alive = [...commands, ...references, ...trailers];

test("is used for all untrusted text in the body of a pull request, which a squash makes the message of a commit", () => {
  const text = alive.join("\n");
  const turn = { prompt: text, answer: text, takenBack: alive };
  const change = {
    jobId: "job_1",
    protectedFiles: alive,
    check: { result: "failed", command: text, output: text },
  } as const;
  const body = pullRequestBody({ ...turn, ...change });
  const updated = updatedBody(body, alive, { ...turn, prompt: `${text}\nAgain` }, { check: change.check }) ?? "";
  for (const one of alive) for (const shown of [body, updated]) expect(shown).not.toContain(one);
  // A later run reads them.
  const [told] = readTurns(updated);
  const isSame = (one: string) =>
    told?.prompt.split("\n").includes(one) && told.answer?.split("\n").includes(one.trim());
  expect([...references, ...trailers].filter((one) => !isSame(one))).toEqual([]);
  expect(readFailedCheck(updated)?.output).toContain(references[0]);
});

test.each([...commands, ...references])("makes %s inert, and keeps it readable", (text) => {
  const inert = inertText(`Fix ${text} now`);
  expect(inert).not.toContain(text);
  expect(inert).toMatch(/^Fix .+ now$/);
  const letters = (one: string) => one.replace(/[^\w/.-]/g, "");
  expect(letters(inert)).toBe(letters(`Fix ${text} now`));
});

test("shows what a command was", () => {
  expect(inertText("Fix [skip ci] ***NO_CI*** skip-checks: true")).toBe("Fix (skip ci) NO_CI skip-checks = true");
});

test("leaves other text as it is", () => {
  const text =
    "Explain [options] (skip ci), a[0], * and **bold**, C#, me at example.com: no change [skip the intro page]";
  expect(inertText(text)).toBe(text);
});

test("is used for the subject and the body of a commit", () => {
  const all = [...commands, ...references];
  for (const text of all) expect(commitTitle(`Fix ${text}`)).not.toContain(text);
  const turn = {
    id: 1,
    identity: identityOf(1),
    job: "a",
    prompt: `Go ${all[0]}`,
    attempts: 0,
    sections: "",
    covers: null,
    step: "",
    request: "r",
  };
  const message = commitMessage(turn, all);
  for (const text of all) expect(message).not.toContain(text);
});
