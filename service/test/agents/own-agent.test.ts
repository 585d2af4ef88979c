import { mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startCacheService } from "../../../test/support/cache-service.ts";
import { step } from "../../../test/support/step.ts";
import { jobEnvironment, setUpGitHub } from "../support/workflow-job.ts";
import { agents, cacheFolder, programFolder } from "./agents.ts";
import { script } from "./model-script.ts";
import { startScriptedModel } from "./scripted-model.ts";

const cache = cacheFolder();

describe.each(agents)("agent: $name", (agent) => {
  test("a later run on an empty runner continues the conversation and the pull request", async () => {
    const { docs, github } = await setUpGitHub();
    const entries = await startCacheService("v1");
    const model = await startScriptedModel(script(agent, { isHeld: false }));
    const folder = mkdtempSync(join(cache, "run-"));
    onTestFinished(async () => {
      await entries[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    const PATH = [programFolder(cache, agent), process.env.PATH].join(delimiter);
    const environment = { ...entries.environment, ...agent.environment(model.url), PATH };
    const runnerTemp = join(folder, "_temp");
    const run = async (inputs: Record<string, string>) => {
      const given = { agent: agent.name, "agent-options": "--install false", "github-token": github.token, ...inputs };
      const result = await step(given, { environment: { ...jobEnvironment(github, runnerTemp), ...environment } });
      rmSync(folder, { recursive: true, force: true });
      expect(result.outputs.outcome, result.log).toBe("pr-created");
      return result.outputs;
    };
    const first = await run({ prompt: "Please write the page first-prompt. [write docs/one.md ONE]" });
    const before = model.requests.length;
    const jobId = first["job-id"] ?? "";
    const second = await run({ "job-id": jobId, prompt: "And another page. [write docs/two.md TWO]" });
    expect(second).toMatchObject({ "job-id": jobId, "pr-link": first["pr-link"], ref: first.ref });
    expect(docs.git("diff", "--name-only", `main...${first.ref}`)).toBe("docs/one.md\ndocs/two.md");
    // In the conversation only: the prompt is also in the commit.
    expect(model.requests.slice(before).some(({ body }) => body.includes("Done: ONE."))).toBe(true);
  });
});
