import { existsSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { type ServiceStep, setUpGitHub, startServiceStep } from "../support/service-step.ts";

/*
 * Repositories start with the setting that GitHub Actions may not open pull requests. The step of the service finds that out before
 * anything is started, so here it is turned off after that, as an owner can do at any time.
 */

const refusal = "GitHub Actions is not permitted to create or approve pull requests.";

/** Sets up a GitHub whose setting can be turned off, and runs of one step on empty runners, whose agents are counted. */
async function setUp(access: RunAccess) {
  const setting = { isOn: true };
  const { docs, github } = await setUpGitHub((route: string, response: ServerResponse): boolean => {
    if (setting.isOn || !/^POST \/repos\/[^/]+\/[^/]+\/pulls$/.test(route)) return false;
    response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify({ message: refusal }));
    return true;
  });
  const cache = await startCacheService("v1", { access });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const agents = join(temporaryFolder(), "agents");
  const inputs = {
    remember: "true",
    sandbox: "none",
    "agent-network": "full",
    agent: `cat >> notes.md; echo ran >> ${agents}`,
  };
  /** Runs the service, what sends it a prompt, and the end of the job. */
  const run = async <T>(
    ofRun: Record<string, string>,
    mayOpen: boolean,
    send: (service: ServiceStep) => Promise<T>,
  ) => {
    setting.isOn = true;
    // GitHub tells who created a branch, in a list that has it after a moment.
    for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
    const environment = { ...cache.environment, GITHUB_JOB: "docs", GITHUB_ACTION: "agent", ...ofRun };
    const service = await startServiceStep({ github, inputs, environment });
    expect(service.exitCode, service.log).toBe(0);
    setting.isOn = mayOpen;
    const sent = await send(service);
    const post = await service.post();
    return { sent, said: service.log + post.log };
  };
  return {
    docs,
    run,
    /** Returns how many agents have run. */
    agents: () => (existsSync(agents) ? readFileSync(agents, "utf8").split("\n").length - 1 : 0),
    pulls: async () => (await github.call("GET", "/pulls?state=all")) as unknown[],
  };
}

const prompts = [
  ["a line", "Add a quickstart"],
  ["paragraphs", `Add a page "Quickstart".\n\nIt says: "${"Run npm ci. ".repeat(20)}"\n\n- with a list\n`],
] as const;

test.each(
  prompts.flatMap(([length, prompt]) =>
    (["write", "none"] as const).map((access) => [length, access, prompt] as const),
  ),
)(
  "attempts with a prompt of %s, and a cache with access %s, start one agent until a pull request may be opened",
  async (_length, access, prompt) => {
    const { docs, run, agents, pulls } = await setUp(access);
    const attempt = async (number: number, mayOpen = false) => {
      const ofRun = { GITHUB_RUN_ID: "1", GITHUB_RUN_ATTEMPT: String(number) };
      const act = ({ actionInputs, environment }: ServiceStep) => step({ ...actionInputs, prompt }, { environment });
      const { sent, said } = await run(ofRun, mayOpen, act);
      return { outputs: sent.outputs, said: sent.log + said };
    };
    for (const number of [1, 2, 3]) {
      const { outputs, said } = await attempt(number);
      expect(outputs.outcome, said).toBe("failed");
      expect([agents(), docs.branches().length, await pulls()], said).toEqual([1, 1, []]);
    }
    const { outputs, said } = await attempt(4, true);
    expect(outputs, said).toMatchObject({ outcome: "pr-created", ref: docs.branches()[0] });
    expect([agents(), await pulls()], said).toEqual([1, [expect.anything()]]);
    expect(docs.git("rev-list", "--count", `main..${outputs.ref}`)).toBe("1");
  },
);

/** Sends a prompt to the job of a session as a client does, and waits for its end: under a step of its own, as each workflow run has. */
async function sendInSession({ outputs }: ServiceStep, night: number, prompt: string) {
  const jobs = `${outputs["base-url"]}/v2/agent/${outputs["project-id"]}/job`;
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${jobs}${path}`, {
      method: body ? "POST" : "GET",
      headers: {
        authorization: `Bearer ${outputs["api-key"]}`,
        "content-type": "application/json",
        ...(body && { "idempotency-key": `"night-${night}.first"` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { id: string; status: string; kept?: string; session?: { job: string } };
  };
  const { session } = await ask(`?step=night-${night}&session=nightly`);
  const { id } = await (session ? ask(`/${session.job}/message`, { prompt }) : ask("", { prompt, session: "nightly" }));
  await waitUntil(async () => (await ask(`/${id}`)).status !== "active");
  return ask(`/${id}`);
}

test.each([
  ["with", "write"],
  ["without", "none"],
] as const)(
  "nights of a session %s a cache start one agent until a pull request may be opened",
  async (_which, access) => {
    const { docs, run, agents, pulls } = await setUp(access);
    const prompt = 'Bring the pages up to date.\n\nSay "Run npm ci."';
    const sendAt = (night: number, mayOpen = false) =>
      run({ GITHUB_RUN_ID: String(night) }, mayOpen, (service) => sendInSession(service, night, prompt));
    for (const night of [1, 2, 3]) {
      const { sent, said } = await sendAt(night);
      expect(sent, said).toMatchObject({ status: "failed", kept: "pull-request" });
      expect([agents(), docs.branches(), await pulls()], said).toEqual([1, [`agent/${sent.id}`], []]);
    }
    const { sent, said } = await sendAt(4, true);
    expect(sent.status, said).toBe("completed");
    expect([agents(), docs.branches(), await pulls()], said).toEqual([1, [`agent/${sent.id}`], [expect.anything()]]);
  },
);
