import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quoted } from "../../../test/support/quoted.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { listen } from "../../src/http/listen.ts";
import { docsRepository, send } from "../support/agent-service.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { spawnService } from "../support/service-process.ts";

const obstacle = await findObstacle("bwrap");

/** Starts an API that answers with a status, or not at all. */
async function startApi() {
  const api = { status: 200 as number | undefined };
  const server = await listen((request, response) => {
    if (api.status === undefined) return void request.socket.destroy();
    response.writeHead(api.status, { "content-type": "application/json" }).end("{}");
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return Object.assign(api, { url: server.url });
}

async function problemsOf({ url }: { url: string }): Promise<Record<string, { problem: string }>> {
  return ((await (await fetch(`${url}/healthz`)).json()) as { problems: Record<string, { problem: string }> }).problems;
}

test("health names a GitHub that is away, and one that refuses the token", async () => {
  const api = await startApi();
  api.status = undefined;
  const home = temporaryFolder();
  const source = "https://github.com/acme/docs";
  writeFileSync(join(home, ".gitconfig"), `[url "${docsRepository().path}"]\n\tinsteadOf = ${source}\n`);
  const environment = { HOME: home, GITHUB_TOKEN: "token_of_before", GITHUB_API_URL: api.url };
  const service = await spawnService(["--repository", source, "--project", "docs"], environment);
  expect(await problemsOf(service)).toEqual({
    github: expect.objectContaining({ problem: "GitHub's API does not answer, or with an error of its own" }),
  });
  api.status = 401;
  await send(service, "docs/job", 'Add a page "Problems"');
  await waitUntil(async () => (await problemsOf(service)).github?.problem === "GitHub's API refuses the token");
  expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(
    /^agent_service_problem_\w+\{problem="github"\} \d/m,
  );
});

test.skipIf(obstacle !== undefined)(
  "with a sandbox around its agent, health names a model that refuses its key",
  async () => {
    const api = await startApi();
    const folder = temporaryFolder();
    const ask = `fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", body: "{}" })`;
    writeFileSync(join(folder, "claude"), `#!/bin/sh\nexec ${quoted(process.execPath, "--eval", ask)}\n`);
    chmodSync(join(folder, "claude"), 0o755);
    const environment = {
      PATH: `${folder}:${process.env.PATH}`,
      ANTHROPIC_API_KEY: "key_of_before",
      ANTHROPIC_BASE_URL: api.url,
    };
    const args = ["--repository", docsRepository().path, "--project", "docs", "--agent", "claude"];
    const service = await spawnService(args, environment);
    api.status = 401;
    await send(service, "docs/job", "Ask");
    await waitUntil(async () => (await problemsOf(service)).model !== undefined);
  },
);
