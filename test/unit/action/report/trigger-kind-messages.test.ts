import { expect, test } from "vitest";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { MainRun } from "../../../support/run-main.ts";
import { runThreadEvent, type ThreadEventOptions } from "../../../support/thread-event-run.ts";

type Run = (github: FakeGitHub) => Promise<MainRun>;

const comment =
  (options: CommentOptions = {}): Run =>
  (github) =>
    runComment(github, options);
const event =
  (name: string, action: string, options: ThreadEventOptions = {}): Run =>
  (github) =>
    runThreadEvent(github, name, action, options);
const review = (body: string, options: ThreadEventOptions = {}) =>
  event("pull_request_review", "submitted", { review: { id: 5, body }, ...options });

const asks = { subject: { body: "/agent fix it" } };
const label = "docs please";
const bot = { login: "helper[bot]" };

/** Events that start nothing, and what the notice says. */
test.each<[string, Run]>([
  ["The comment is not new or does not begin with the trigger phrase.", comment({ text: "hello" })],
  ["The trigger phrase is not followed by an instruction.", comment({ text: "/agent" })],
  ["The comment was edited, and only new comments are handled.", comment({ action: "edited" })],
  ["The author of the comment, helper[bot], is a bot that is not listed in allowed-bots.", comment({ author: bot })],
  [
    "The review is not new, or neither its text nor one of its comments begins with the trigger phrase.",
    review("Nice."),
  ],
  ["The review was edited, and only new reviews are handled.", review("x", { payload: { action: "edited" } })],
  ["The reviewer, helper[bot], is a bot that is not listed in allowed-bots.", review("/agent x", { user: bot })],
  [
    "Only a new issue with the trigger phrase at the start of a line, or the trigger label, asks for a job.",
    event("issues", "opened"),
  ],
  ["The issue was edited, and only new issues are handled.", event("issues", "edited")],
  [
    "The author of the issue, helper[bot], is a bot that is not listed in allowed-bots.",
    event("issues", "opened", { ...asks, user: bot }),
  ],
  [
    "Only a new pull request with the trigger phrase at the start of a line, or the trigger label, asks for a job.",
    event("pull_request", "opened"),
  ],
  [
    "The author of the pull request, helper[bot], is a bot that is not listed in allowed-bots.",
    event("pull_request_target", "opened", { ...asks, user: bot }),
  ],
  ["The label that was set is not the trigger label.", event("issues", "labeled", { label: "bug" })],
  [
    "The account that set the label, helper[bot], is a bot that is not listed in allowed-bots.",
    event("issues", "labeled", { label, sender: bot }),
  ],
])("%s", async (text, run) => {
  const { toolkit, hasPassed } = await run(new FakeGitHub());
  expect(hasPassed).toBe(true);
  expect(toolkit.annotations).toEqual([{ level: "notice", title: "Skipped", text: `${text} Nothing was started.` }]);
});

test.each<[string, Run]>([
  ["The author of the comment", comment()],
  ["The reviewer", review("/agent fix it")],
  ["The author of the issue", event("issues", "opened", asks)],
  ["The author of the pull request", event("pull_request_target", "opened", asks)],
  ["The account that set the label", event("issues", "labeled", { label })],
])("%s has too little permission", async (person, run) => {
  const github = new FakeGitHub();
  github.permission = { permission: "read" };
  const { toolkit } = await run(github);
  expect(toolkit.annotations[0]?.text).toBe(
    `${person}, writer, has the permission read in this repository, and required-permission is write. Nothing was started.`,
  );
});

test.each<[string, Run]>([
  ["of the author of the comment", comment()],
  ["of the reviewer", review("/agent fix it")],
  ["of the author of the issue", event("issues", "opened", asks)],
  ["of the author of the pull request", event("pull_request_target", "opened", asks)],
  ["of the account that set the label", event("issues", "labeled", { label })],
])("The permission %s cannot be read", async (whose, run) => {
  const github = new FakeGitHub();
  github.permission = {};
  const { toolkit } = await run(github);
  expect(toolkit.annotations).toEqual([
    {
      level: "error",
      title: "Cannot check the permission",
      text: `The permission ${whose} cannot be read (GitHub's response names no permission), so nothing was started.\nIf the token may not read the repository (contents: read), change that. Then ask again in the thread.`,
    },
  ]);
});

test.each([
  [
    "API rate limit exceeded for installation ID 12",
    "Wait until the limit is over, at most an hour. Then ask again in the thread.",
  ],
  ["You have exceeded a secondary rate limit. Please wait a few minutes", "Wait until the limit"],
  ["Repository was archived so is read-only.", "Remove this workflow, or unarchive the repository."],
  ["Resource protected by organization SAML enforcement.", "Authorize github-token for single sign-on (SSO)"],
  ["the `acme` organization has an IP allow list enabled", "Add the runner's address to the organization's IP allow"],
  ["Bad credentials", "github-token has ended or was revoked: a GitHub App's lives for an hour. Make a new one."],
])("the advice fits what GitHub says: %s", async (words, advice) => {
  const github = new FakeGitHub();
  github.fault = () => {
    throw new GitHubError(words, 403);
  };
  const { toolkit } = await comment()(github);
  expect(toolkit.annotations[0]?.text).toContain(`cannot be read (${words}`);
  expect(toolkit.annotations[0]?.text).toContain(`, so nothing was started.\n${advice}`);
});
