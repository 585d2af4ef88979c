import { expect, test } from "vitest";
import { GitError } from "../../../src/git/git.ts";
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
    "Check the token's permissions",
  ],
])("a push that is refused with %j is quoted, with what to change", (stderr, quoted, advice) => {
  const reason = describeRefusal(pushed(stderr), branch, "push");
  expect(reason).toContain(`The push to ${branch} was refused: ${quoted}. The commit is kept. ${advice}`);
  expect(reason).toMatch(/Then send the prompt again: the commit is pushed, and no agent runs for it again\.$/);
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
