import { describe, expect, test } from "vitest";
import { epoch } from "../support/fake-clock.ts";
import { FakeRepository, movedSubmodule } from "../support/fake-repository.ts";
import { type GitHubFault, type GitHubServer, startGitHub } from "../support/github-server.ts";
import { inputsFor, type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { type Step, step } from "../support/step.ts";

/** Runs a step with `changes` on a schedule, on the head of `main`. */
function night(
  service: ScriptedService,
  github: GitHubServer,
  repository: FakeRepository,
  { inputs = {}, environment = {} }: { inputs?: Record<string, string>; environment?: Record<string, string> } = {},
): Promise<Step> {
  return step(inputsFor(service, { changes: "list", "github-token": "ghs_0123456789", ...inputs }), {
    environment: {
      GITHUB_API_URL: github.url,
      GITHUB_EVENT_NAME: "schedule",
      GITHUB_REPOSITORY: "acme/docs",
      GITHUB_SHA: repository.head(),
      GITHUB_RUN_ATTEMPT: "1",
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "__owner_action",
      ...environment,
    },
  });
}

async function start(fault?: GitHubFault) {
  const repository = new FakeRepository();
  const github = await startGitHub(fault);
  github.github.repository = repository;
  const service = await startScriptedService();
  return {
    repository,
    github,
    service,
    posts: () => service.requests.filter((request) => request.startsWith("POST")),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await github[Symbol.asyncDispose]();
    },
  };
}

describe("changes", () => {
  test("are read by GitHub's API, from a branch with a slash", async () => {
    await using world = await start();
    const { repository, github, service } = world;
    repository.ref("docs/last");
    const since = "docs/last";
    repository.commit("main", { message: "::error::Break out\n##[group]x", files: ["src/a.ts", "src/##[error]b.ts"] });
    const { outputs, annotations } = await night(service, github, repository, { inputs: { "changes-since": since } });
    expect(annotations).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "changed-files": "2" });
    expect(github.requests).toEqual([
      `GET /repos/acme/docs/compare/docs%2Flast...${repository.head()}?per_page=100&page=1`,
    ]);
  });

  test("below a submodule count when its commit here changes, and the agent is told that it has no files", async () => {
    await using world = await start();
    const { repository, github, service } = world;
    repository.ref("last");
    repository.commit("main", { files: [movedSubmodule("theme"), "src/a.ts"] });
    const inputs = { "changes-since": "last", paths: "theme/**/*.css" };
    const { outputs } = await night(service, github, repository, { inputs });
    expect(outputs).toMatchObject({ outcome: "pr-created", "changed-files": "1" });
    expect(service.engine.prompts.join()).toContain(
      "modified theme (a submodule: its files are not in this repository)",
    );
  });

  test("of the last day are those that came then, although the head is dated before it", async () => {
    await using world = await start();
    const { repository, github, service } = world;
    const hours = (Date.now() - epoch) / 3_600_000;
    repository.commit("main", { hours: hours - 100, files: ["old.ts"] });
    repository.commit("main", { hours: hours - 1, files: ["new.ts"] });
    repository.commit("main", { hours: hours - 72, files: ["dated.ts"] });
    const { outputs, log } = await night(service, github, repository, { inputs: { "changes-since": "24h" } });
    expect(outputs, log).toMatchObject({ outcome: "pr-created", "changed-files": "2" });
    expect(service.engine.prompts.join()).toMatch(/new\.ts[\s\S]*dated\.ts/);
  });

  test("that GitHub cannot compare are sent without a list, which is said", async () => {
    const isAsked: GitHubFault = (route, _n, response) =>
      route.includes("/compare/") &&
      Boolean(response.writeHead(422, { "content-type": "application/json" }).end('{"message":"not_available"}'));
    await using world = await start(isAsked);
    const { repository, github, service } = world;
    repository.ref("last");
    repository.commit("main", { files: ["src/a.ts"] });
    const { outputs, log } = await night(service, github, repository, { inputs: { "changes-since": "last" } });
    expect(outputs, log).toMatchObject({ outcome: "pr-created" });
    const said = "GitHub cannot compare all of this range, so not all commits and files are listed";
    expect(service.engine.prompts.join()).toContain(said);
    expect(log).toContain(said);
  });
});
