import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCacheService } from "../../../test/support/cache-service.ts";
import { commentEnvironment } from "../../../test/support/payload.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/* An agent that works on another repository than the workflow's, for comments in that of the workflow. */

test("works there with the token for it, answers here with the workflow's, and keeps nothing of its files here", async () => {
  const { docs, github } = await setUpGitHub();
  const cache = await startCacheService("v1", { access: "write" });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const { owner, repo, token, other, url } = github;
  const repository = `${owner}/${repo}`;
  const runs = join(temporaryFolder(), "runs");
  const agent = `cat >> notes.md; echo secret > "$HOME/session"; env >> ${runs}`;
  const headers = { authorization: `Bearer ${other.token}`, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<{ id: number; number: number }> => {
    const response = await fetch(`${url}/repos/${other.name}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as { id: number; number: number };
  };
  const { number } = await post("/issues", { title: "No quickstart" });
  const comment = async (body: string, more: Record<string, string> = {}) => {
    const { id } = await post(`/issues/${number}/comments`, { body });
    const event = { id, text: body, author: { login: owner }, number, owner, repo: "product" };
    const inputs = { agent, "agent-options": `${unconfined}\n--repository ${repository}`, "trigger-phrase": "/agent" };
    const environment = {
      ...cache.environment,
      ...commentEnvironment(temporaryFolder(), url, event),
      GITHUB_SERVER_URL: url,
      GITHUB_RUN_ID: String(id),
    };
    return agentStep(github, { ...inputs, "workflow-token": other.token, ...more }, { environment });
  };
  const first = await comment("/agent one");
  expect(first.outputs, first.log).toMatchObject({ outcome: "pr-created" });
  expect(first.outputs["pr-link"]).toMatch(new RegExp(`/${repository}/pull/1$`));
  expect(docs.branches()).toEqual([first.outputs.ref]);
  expect(first.log).toContain(
    "Sessions of the agent are not kept, because the cache belongs to the workflow's repository",
  );

  const second = await comment("/agent two");
  expect(second.outputs, second.log).toMatchObject({ "job-origin": "continued", "job-id": first.outputs["job-id"] });
  expect(await github.call("GET", "/pulls?state=all")).toHaveLength(1);
  expect(cache.entries.filter(({ key }) => /\/(home|commit)\//.test(key))).toEqual([]);
  expect(readFileSync(runs, "utf8")).not.toContain(token);

  // Each token where it belongs. Git asks without one first.
  const there = github.tokensFor(repository);
  there.delete("");
  expect([...there]).toEqual([token]);
  expect([...github.tokensFor(other.name)]).toEqual([other.token]);

  const gone = await comment("/agent three", { "agent-options": `${unconfined}\n--repository ${owner}/gone` });
  expect(gone.annotations.at(-1), gone.log).toMatch(
    new RegExp(
      `^error The token may not push: .* to ${owner}/gone: it does not exist, or .github-token. has no access`,
    ),
  );
  expect(readFileSync(runs, "utf8").match(/^AGENT_JOB_ID=/gm)).toHaveLength(2);
});
