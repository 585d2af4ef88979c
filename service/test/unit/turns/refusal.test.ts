import { expect, test } from "vitest";
import { GitError } from "../../../src/git/git.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { keepForOthers } from "../../../src/turns/kept-commits.ts";
import { describeRefusal, PushRefused } from "../../../src/turns/refusal.ts";

const branch = "agent/job_1";
const pushed = (stderr: string) => new GitError(["push"], "exited with 1", stderr, 1);

test.each([
  [
    "remote: error: GH013: Repository rule violations found for refs/heads/x.\nremote: Review all repository rules at https://github.com/o/r/rules\nremote:\nremote: - Cannot force-push to this branch",
    "GH013: Repository rule violations found for refs/heads/x. Cannot force-push to this branch",
    "Change the rule, or let the token's account bypass it",
  ],
  [
    "remote: error: GH013: Repository rule violations found\nremote: - Push cannot contain secrets",
    "GH013: Repository rule violations found Push cannot contain secrets",
    "Look at the secret that GitHub names",
  ],
  [
    "remote: error: GH006: Protected branch update failed\nremote: error: Commits must have verified signatures.",
    "GH006: Protected branch update failed Commits must have verified signatures",
    "Use the token of a GitHub App or of the workflow, for which GitHub signs commits",
  ],
  [
    " ! [remote rejected] a -> a (refusing to allow a GitHub App to create or update workflow `x.yml` without `workflows` permission)",
    "refusing to allow a GitHub App to create or update workflow `x.yml` without `workflows` permission",
    "Only a token with permission for workflows",
  ],
  [
    "fatal: Authentication failed",
    "git push exited with 1: fatal: Authentication failed",
    "The token has ended or was revoked: a GitHub App's lives for an hour. Use a new one.",
  ],
  [
    "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
    "GitHub does not accept the token",
    "The token has ended or was revoked",
  ],
  ["fatal: unable to access", "git push exited with 1: fatal: unable to access", "Check the token's permissions"],
  [
    "remote: This repository was archived so it is read-only.\nfatal: unable to access 'https://x/': The requested URL returned error: 403",
    "This repository was archived so it is read-only",
    "Unarchive the repository.",
  ],
])("a push that is refused with %j is quoted, with what to change", (stderr, quoted, advice) => {
  const reason = describeRefusal(pushed(stderr), branch, "push");
  expect(reason).toContain(`The push to ${branch} was refused: ${quoted}. The commit is kept. ${advice}`);
  expect(reason).toMatch(/Then send the prompt again: the commit is pushed, and no agent runs for that work again\.$/);
});

test.each([
  ["remote: error: GH013: Repository rule violations found\nremote: - GITHUB PUSH PROTECTION", true],
  ["remote: error: GH013: Repository rule violations found\nremote: - Push cannot contain secrets", true],
  ["remote: error GH009: Secrets detected! This push failed.", true],
  [
    "remote: error: GH013: Repository rule violations found\nremote: - Commit message must not match: (?i)secret",
    false,
  ],
  ["remote: error: GH013: Repository rule violations found for refs/heads/docs/secret-scanning", false],
  ["remote: error: secret sauce is missing", false],
])("a commit that is refused with %j is forgotten for a secret: %s", async (stderr, isForgotten) => {
  const done: string[] = [];
  const keptCommits = {
    isOnlyPlace: true,
    save: async () => void done.push("saved"),
    load: async () => undefined,
    forget: async () => void done.push("forgotten"),
  };
  const repository = { packCommit: async () => Buffer.of() };
  const turn = { job: "job_1", identity: "" } as RunningTurn;
  const lost = await keepForOthers(turn, pushed(stderr), { repository, keptCommits, log: () => {} });
  expect([done, lost !== undefined]).toEqual([[isForgotten ? "forgotten" : "saved"], isForgotten]);
});

test("a name that GitHub cannot sign is to be changed, and not the token", () => {
  const reason = describeRefusal(new Error("the folder 0a has a name that is not UTF-8"), branch, "push");
  expect(reason).toContain("Rename what has that name, or change the rule");
});

test("a commit that is lost with its runner is not promised, and long words are cut", () => {
  const reason = new PushRefused(new Error(`${"x".repeat(400)} rejected`), branch).whenLost("the cache is closed");
  expect(reason).toContain(
    `was refused: ${"x".repeat(300)}…. The commit is lost with this runner: the cache is closed. `,
  );
  expect(reason).toMatch(/Then send the prompt again: its work is done again\.$/);
});

test.each([
  [
    422,
    'Validation Failed: {"resource":"PullRequest","code":"custom","message":"A pull request needs a base"} - https://docs.github.com/rest/pulls',
    "A pull request needs a base",
    "Check the token's permissions",
  ],
  [
    403,
    "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization. - https://docs.github.com/articles/x",
    "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization",
    "Authorize the token for single sign-on (SSO) in the organization.",
  ],
  [
    403,
    "Repository was archived so is read-only.",
    "Repository was archived so is read-only",
    "Unarchive the repository.",
  ],
  [
    403,
    "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and 1.2.3.4 is not permitted to access this resource.",
    "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and 1.2.3.4 is not permitted to access this resource",
    "Add this machine's address to the organization's IP allow list",
  ],
  [401, "Bad credentials", "Bad credentials", "The token has ended or was revoked"],
])("a pull request that is refused with %d is told in GitHub's own words: %s", (status, message, quoted, advice) => {
  const error = new GitHubError(`GitHub answered ${status} to POST /repos/acme/docs/pulls: ${message}`, status);
  expect(describeRefusal(error, branch, "pull request")).toContain(
    `The pull request of ${branch} was refused: ${quoted}. The work is on the branch ${branch}. ${advice}`,
  );
});
