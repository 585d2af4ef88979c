import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCacheService } from "../../../test/support/cache-service.ts";
import { inputsFor } from "../../../test/support/scripted-service.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { docsRepository } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/* What is built, once each way. The other tests of this folder run with `npm run test:processes`. */

test("a step runs its agent, a re-run runs none, and the next night goes on with its job", async () => {
  const { docs, github } = await setUpGitHub();
  const cache = await startCacheService("v1", { access: "write" });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const started = join(temporaryFolder(), "started");
  const agent = `echo >> ${started}; cat >> notes.md`;
  const agents = (): number => (existsSync(started) ? readFileSync(started, "utf8").length : 0);
  const night = async (id: string, attempt: string) => {
    // GitHub tells who created a branch, in a list that has it after a moment.
    for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
    const inputs = { agent, "agent-options": unconfined, session: "nightly", prompt: `Night ${id}` };
    const environment = { ...cache.environment, GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt };
    const { outputs, log } = await agentStep(github, inputs, { environment });
    expect(outputs, log).toMatchObject({ outcome: "pr-created" });
    return outputs;
  };
  const first = await night("1", "1");
  expect(first["job-origin"]).toBe("created");
  const { "job-id": job, "pr-link": link } = first;
  expect(await night("1", "2")).toMatchObject({ "job-id": job, "pr-link": link });
  expect(agents()).toBe(1);
  expect(await night("2", "1")).toMatchObject({ "job-id": job, "pr-link": link, "job-origin": "continued" });
  expect([agents(), docs.branches()]).toEqual([2, [first.ref]]);
  expect(docs.read(first.ref ?? "", "notes.md")).toContain("Night 2");
});

test("a step gets the pull request of a service's agent", async () => {
  const docs = docsRepository();
  const service = await spawnService(
    ["--repository", docs.path, "--agent", "cat > docs/page.md", "--sandbox", "none", "--project", "docs"],
    { HOME: temporaryFolder() },
  );
  const { outputs, log } = await step(inputsFor(service, { prompt: "A page" }));
  expect(outputs, log).toMatchObject({ outcome: "pr-created", "pr-link": `${service.url}/pull/1` });
  expect(docs.read(outputs.ref ?? "", "docs/page.md")).toContain("A page");
});
