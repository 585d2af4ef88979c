import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../test/support/wait-until.ts";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { presetAgent } from "../../src/agents/presets.ts";
import { newSessionNote } from "../../src/turns/log-notes.ts";
import { docsRepository, runJob, send, waitForJob } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";
import { agents, cacheFolder, programFolder } from "./agents.ts";
import { script } from "./model-script.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

const cache = cacheFolder();

/** The service of a test, and what is around it. */
interface Running {
  url: string;
  docs: DocsRepository;
  model: ScriptedModel;
  folder: string;
  /** Returns what the service has printed since it listens. */
  output(): string;
  /** Kills the service, and starts the next one on the same store. */
  restart(): Promise<void>;
}

/** What agents say of their model and version. Default: nothing, so that the agent is named. */
const shownModels: Readonly<Record<string, RegExp>> = {
  claude: /^[\w.-]+, Claude Code \d+\.\d+\.\d+$/,
  copilot: /^(?!copilot$)[\w.-]+$/,
};

const modes = ["--sandbox bwrap", "--sandbox bwrap --agent-network model", "--sandbox none"];

describe.each(modes)("%s", (mode) => {
  describe.each(agents)("--agent $name", (agent) => {
    let running: Running;
    const state = { isHeld: true };

    beforeEach(async () => {
      state.isHeld = true;
      const model = await startScriptedModel(script(agent, state));
      onTestFinished(() => model[Symbol.asyncDispose]());
      const docs = docsRepository();
      // Not under the temporary directory, which is in the way of Codex's own sandbox.
      const folder = mkdtempSync(join(cache, "run-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
      const store = join(folder, "jobs.sqlite");
      const args = ["--repository", docs.path, "--project", "docs", "--store", store, ...mode.split(" ")];
      const path = [programFolder(cache, agent), process.env.PATH].join(delimiter);
      const start = () =>
        spawnService([...args, "--agent", agent.name], { ...agent.environment(model.url), PATH: path });
      let { child, url } = await start();
      let output = "";
      child.stdout?.on("data", (data) => {
        output += data;
      });
      child.stdout?.resume();
      running = {
        url,
        docs,
        model,
        folder,
        output: () => output,
        restart: async () => {
          child.kill("SIGKILL");
          ({ child, url } = await start());
          running.url = url;
        },
      };
    });

    const logOf = (jobId: string) =>
      readFileSync(join(running.folder, "jobs.sqlite.files/logs", `${jobId}.log`), "utf8");
    /** Returns what the store has as the costs of the turns. */
    const costs = () => {
      using db = new DatabaseSync(join(running.folder, "jobs.sqlite"), { readOnly: true });
      const turns = db.prepare("SELECT costUsd FROM turn ORDER BY id").all();
      return turns.map(({ costUsd }) => Number(costUsd)) as [number, number];
    };
    const filesOf = (jobId: string) => running.docs.git("diff", "--name-only", `main...agent/${jobId}`).split("\n");

    test("opens a pull request, logs the agent's words, and a follow-up remembers the first prompt", async () => {
      const { docs, model } = running;
      const first = await runJob(running, "Please write the page first-prompt. [write docs/one.md ONE]");
      expect(first, logOf(first.id)).toMatchObject({
        status: "completed",
        model: expect.stringMatching(shownModels[agent.name] ?? agent.name),
      });
      expect(docs.read(`agent/${first.id}`, "docs/one.md")).toBe("ONE");
      expect(logOf(first.id)).toMatch(
        /\[service\] The agent's last words:\n(?:\[service\] .*\n)*\[service\] .*Done: ONE\./,
      );
      const before = model.requests.length;
      await send(running, `docs/job/${first.id}/message`, "And another page. [write docs/two.md TWO]");
      const second = await waitForJob(running, first.id);
      expect(second, logOf(first.id)).toMatchObject({ status: "completed", prLink: first.prLink });
      expect(filesOf(first.id)).toEqual(["docs/one.md", "docs/two.md"]);
      expect(docs.git("rev-list", "--count", `main..agent/${first.id}`)).toBe("2");
      const sent = model.requests.slice(before).map(({ body }) => body);
      expect(sent.some((body) => body.includes("first-prompt"))).toBe(true);
      const [one, two] = costs();
      const isKnown = !["codex", "copilot", "gemini"].includes(agent.name);
      expect([one, two].map((cost) => cost > 0)).toEqual([isKnown, isKnown]);
      // Both turns are alike, and the second one does not cost what both did.
      if (isKnown) expect(two).toBeLessThan(one * 1.5);
      // OpenCode looks for its plugins once, and aider for the prices of a model that it does not know.
      if (!["opencode", "aider"].includes(agent.name))
        expect(running.output()).not.toContain("was denied a connection");
      for (const { headers, method } of model.requests)
        if (method === "POST") expect(JSON.stringify(headers)).toContain("key-of-no-value");
    });

    test.skipIf(agent.run === undefined)(
      "has completed when it says so, whatever it has started in the background",
      async () => {
        const job = await runJob(running, "Please [serve served.md SERVED]");
        expect(job, logOf(job.id)).toMatchObject({ status: "completed" });
        expect(running.docs.read(`agent/${job.id}`, "served.md").trim()).toBe("SERVED");
      },
    );

    test("fails the job with the error of the model's API", async () => {
      const job = await runJob(running, "Please [fail]");
      expect(job).toMatchObject({ status: "failed", prLink: null });
      expect(logOf(job.id)).toMatch(/\[service\] The agent reported: .*The model is broken\./);
    });

    test("completes without a pull request if the model refuses, and says so in its words", async () => {
      const job = await runJob(running, "Please [refuse]");
      expect(job, logOf(job.id)).toMatchObject({ status: "completed", prLink: null });
      expect(logOf(job.id)).toContain(
        "[service] No file was changed. The agent's last words:\n[service] I cannot do this.",
      );
    });

    test("takes a prompt for text only, whatever it begins with", async () => {
      const { model, folder } = running;
      const secret = join(folder, "secret.txt");
      writeFileSync(secret, "SECRET-OF-THE-SERVICE");
      const touched = join(folder, "touched");
      const prompts = [
        `!touch ${touched}`,
        `/run touch ${touched}`,
        `@${secret} What does this file say?`,
        `/read ${secret}`,
        `Look at @${secret} and at @../../../../secret.txt`,
        "/cost",
        "/memory show",
      ];
      for (const prompt of prompts) {
        const before = model.requests.length;
        const job = await runJob(running, `${prompt}\n[refuse]`);
        expect(job, logOf(job.id)).toMatchObject({ status: "completed", prLink: null });
        const sent = model.requests.slice(before).map(({ body }) => body);
        expect(sent.some((body) => body.includes(JSON.stringify(prompt).slice(1, -1)))).toBe(true);
        expect(sent.join("\n")).not.toContain("SECRET-OF-THE-SERVICE");
        expect(existsSync(touched)).toBe(false);
      }
    });

    test.skipIf(mode !== modes[0])("begins a new session, told the earlier turns, in place of a dead one", async () => {
      const { model, folder } = running;
      const { id } = await runJob(running, "Please write the page first-prompt. [write docs/one.md ONE]");
      const home = join(folder, "jobs.sqlite.files/jobs", id, "home");
      const { sessions } = presetAgent(agent.name, agent.environment(model.url)) ?? {};
      const files = () => globSync(sessions?.files ?? "", { cwd: home }).map((file) => join(home, file));
      expect(files()).not.toEqual([]);
      const followUp = async (prompt: string) => {
        const [before, lengthBefore] = [model.requests.length, logOf(id).length];
        await send(running, `docs/job/${id}/message`, prompt);
        const { status } = await waitForJob(running, id);
        const log = logOf(id).slice(lengthBefore);
        expect(status, log).toBe("completed");
        const sent = model.requests.slice(before).map(({ body }) => body);
        return { log, isTold: sent.some((body) => body.includes("Earlier turns of this job")), sent };
      };
      for (const file of files()) rmSync(file);
      const missing = await followUp("Another page. [write docs/two.md TWO]");
      expect(missing).toMatchObject({ isTold: true, log: expect.stringContaining(newSessionNote) });
      expect(missing.log).not.toContain("is run once more");
      const found = await followUp("Another page. [write docs/three.md THREE]");
      expect(found.log).not.toContain("The session of the earlier turns");
      expect(found.sent.some((body) => body.includes("docs/two.md TWO"))).toBe(true);
      // aider continues with any text.
      if (agent.name !== "aider") {
        for (const file of files()) writeFileSync(file, "}{ is no session\n");
        const damaged = await followUp("Another page. [write docs/four.md FOUR]");
        expect(damaged).toMatchObject({ isTold: true, log: expect.stringContaining("is run once more") });
      }
      const refused = await followUp("Another page. [forget docs/five.md FIVE]");
      expect(refused).toMatchObject({ isTold: true, log: expect.stringContaining("is run once more") });
      expect(filesOf(id)).toContain("docs/five.md");
    });

    test("runs the turn again after the service was killed", async () => {
      const { model, docs } = running;
      const { job } = await send(running, "docs/job", "Please [wait]");
      // A real agent may take minutes to ask.
      await waitUntil(() => model.requests.some(({ body }) => body.includes("[wait]")), 240_000);
      await running.restart();
      state.isHeld = false;
      const resumed = await waitForJob(running, job.id);
      expect(resumed, logOf(job.id)).toMatchObject({ status: "completed" });
      expect(docs.read(`agent/${job.id}`, "waited.md")).toBe("late");
      expect(docs.git("rev-list", "--count", `main..agent/${job.id}`)).toBe("1");
    });
  });
});

afterAll(() => {
  const versions = agents.map((agent) => {
    const [program = "", ...args] = agent.versionCommand;
    const path = [programFolder(cache, agent), process.env.PATH].join(delimiter);
    return `${agent.name}: ${execFileSync(program, args, { encoding: "utf8", env: { ...process.env, PATH: path } }).trim()}`;
  });
  console.log(`Tested with\n${versions.join("\n")}`);
});
