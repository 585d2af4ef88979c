import { describe, expect, test } from "vitest";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { completes } from "../../../support/thread.ts";
import { promptsOf, runThreadEvent } from "../../../support/thread-event-run.ts";

/** A GitHub that answers with this when what asks is read again. */
function githubWith(asked: object): FakeGitHub {
  return Object.assign(new FakeGitHub(), { asked });
}

function githubFailing(status: number): FakeGitHub {
  const github = new FakeGitHub();
  github.fault = ({ route }) => {
    if (/^GET .*\/(comments\/\{comment_id\}|issues\/\{issue_number\})$/.test(route))
      throw new GitHubError("No", status);
  };
  return github;
}

const label = "Docs please";
const on = [{ name: "bug" }, { name: "docs Please" }];

describe("what was taken back before the step began starts nothing", () => {
  test.each<[name: string, github: FakeGitHub, reason: string]>([
    ["a comment that is gone", githubFailing(404), "withdrawn"],
    ["a comment that is hidden", githubWith({ body: "/agent fix it", minimized: { reason: "spam" } }), "withdrawn"],
    ["a comment without the phrase", githubWith({ body: "never mind", minimized: null }), "withdrawn"],
    ["a comment whose phrase is hidden", githubWith({ body: "<!-- /agent fix it -->" }), "withdrawn"],
    ["but not one whose words were changed", githubWith({ body: "/agent fix that", minimized: null }), ""],
    ["or one that the token may not read", githubFailing(403), ""],
  ])("%s", async (_name, github, reason) => {
    const run = await runComment(github, { respond: completes });
    expect(run.outputs["skip-reason"]).toBe(reason);
    expect(promptsOf(run)).toHaveLength(reason === "" ? 1 : 0);
    if (reason !== "") expect([github.comments, github.reactions]).toEqual([[], []]);
  });

  test.each<[name: string, event: string, asked: object, reason: string]>([
    ["a label that was taken off", "issues", { state: "open", labels: [{ name: "bug" }] }, "withdrawn"],
    ["one of an issue that was closed", "issues", { state: "closed", labels: on }, "withdrawn"],
    ["but not one that is still there", "issues", { state: "open", labels: on }, ""],
    ["or one of a pull request that has ended", "pull_request_target", { state: "closed", labels: on }, ""],
  ])("%s", async (_name, event, asked, reason) => {
    const run = await runThreadEvent(githubWith(asked), event, "labeled", { label });
    expect(run.outputs["skip-reason"]).toBe(reason);
    expect(promptsOf(run)).toHaveLength(reason === "" ? 1 : 0);
  });

  test.each<[name: string, actors: string[], reason: string]>([
    ["no step", [], "withdrawn"],
    ["a person, after a step", ["Bot", "User"], "withdrawn"],
    ["a step with the same label, after a person", ["User", "Bot"], ""],
  ])("a label that was taken off by %s", async (_name, actors, reason) => {
    const github = githubWith({ state: "open", labels: [] });
    const off = (type: string) => ({ event: "unlabeled", label: { name: "docs please" }, actor: { type } });
    github.events = [...actors.map(off), { event: "labeled", label: { name: "bug" } }, { event: "closed" }];
    const run = await runThreadEvent(github, "issues", "labeled", { label });
    expect(run.outputs["skip-reason"]).toBe(reason);
  });

  test("a label whose removal cannot be read is no skip", async () => {
    const github = githubWith({ state: "open", labels: [] });
    github.fault = ({ route }) => {
      if (route.endsWith("/events")) throw new GitHubError("No", 404);
    };
    const { outputs, toolkit } = await runThreadEvent(github, "issues", "labeled", { label });
    expect([outputs.outcome, outputs["skip-reason"]]).toEqual(["error", ""]);
    expect(toolkit.annotations.at(-1)?.title).toBe("Cannot read the request again");
  });

  test.each([
    ["without the phrase", { body: null, state: "open" }, "withdrawn"],
    ["that still has it", { body: "Hi\n/agent x" }, ""],
  ])("an issue %s", async (_name, asked, reason) => {
    const subject = { body: "/agent x" };
    const { outputs } = await runThreadEvent(githubWith(asked), "issues", "opened", { subject });
    expect(outputs["skip-reason"]).toBe(reason);
  });
});

test("a label that an earlier attempt took off still asks", async () => {
  const github = githubWith({ state: "open", labels: [] });
  const run = await runThreadEvent(github, "issues", "labeled", { label, attempt: 2 });
  expect(run.outputs["skip-reason"]).toBe("");
});

test("nothing is started if what asks cannot be read", async () => {
  const run = await runComment(githubFailing(500), { respond: completes });
  expect([run.outputs.outcome, promptsOf(run)]).toEqual(["error", []]);
  expect(run.toolkit.annotations.at(-1)).toMatchObject({ level: "error", title: "Cannot read the request again" });
});
