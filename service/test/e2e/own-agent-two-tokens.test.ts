import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/step.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/*
 * A `github-token` that expires while the agent works, through the action as it is built. What the agent made is kept with the workflow's own
 * token, if that may write.
 */

/** Sets up runs of a step without a cache, with a GitHub App's token, whose agent works until the token has expired. */
async function setUp() {
  const { docs, github } = await setUpGitHub();
  const [ledger, gate] = [join(temporaryFolder(), "ledger"), join(temporaryFolder(), "gate")];
  // It notes what it is given, and looks for tokens.
  const agent = `cat >> notes.md; env | grep ghs_ >> ${ledger}; echo ran >> ${ledger}; while [ ! -e ${gate} ]; do sleep 0.1; done`;
  const ran = (): string => (existsSync(ledger) ? readFileSync(ledger, "utf8") : "");
  const refs = (): string => docs.git("for-each-ref", "--format=%(refname)", "refs/agent-work");
  const run = (number: number) => {
    for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
    const inputs = { agent, "agent-options": unconfined, prompt: "Add a quickstart", "github-token": github.appToken };
    const environment = { GITHUB_REPOSITORY_ID: "1", GITHUB_RUN_ATTEMPT: String(number) };
    return agentStep(github, inputs, { environment });
  };
  return { github, gate, ran, refs, run };
}

test("work is kept with the workflow's own token, and a re-run publishes it without an agent", async () => {
  const { github, gate, ran, refs, run } = await setUp();
  const first = run(1);
  await expect.poll(ran, { timeout: 20_000 }).toBe("ran\n");
  expect(refs()).toMatch(/\/begun$/);
  github.access.set(github.appToken, "none");
  writeFileSync(gate, "");
  const { outputs, annotations, log } = await first;
  expect(outputs, log).toMatchObject({ outcome: "failed", "work-file": "" });
  expect(annotations).toContainEqual(
    expect.stringMatching(
      /^error Work is kept, and not published: The push to \S+ was refused: GitHub does not accept the token\. The commit is kept\. The token has ended or was revoked: .* re-run this workflow run/s,
    ),
  );
  expect(refs()).toMatch(/\/made$/);
  github.access.clear();
  const again = await run(2);
  expect(again.outputs, again.log).toMatchObject({ outcome: "pr-created" });
  expect([ran(), refs()]).toEqual(["ran\n", expect.stringMatching(/\/pushed$/)]);
});

test("if the workflow's own token may only read, what keeps the work is said before the agent", async () => {
  const { github, gate, ran, refs, run } = await setUp();
  github.access.set(github.token, "read");
  const first = run(1);
  await expect.poll(ran, { timeout: 20_000 }).toBe("ran\n");
  expect(refs()).toMatch(/\/begun$/);
  writeFileSync(gate, "");
  const { outputs, log } = await first;
  expect(outputs, log).toMatchObject({ outcome: "pr-created" });
  expect(log).toMatch(
    /kept with `github-token`, because the workflow's own token may not write: .* `permissions: contents: write`/,
  );
  expect(refs()).toMatch(/\/pushed$/);
});
