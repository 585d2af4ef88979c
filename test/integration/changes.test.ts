import { describe, expect, test } from "vitest";
import { startCacheService } from "../support/cache-service.ts";
import { FakeRepository } from "../support/fake-repository.ts";
import { type GitHubServer, startGitHub } from "../support/github-server.ts";
import { inputsFor, type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { stepHere } from "../support/step-here.ts";

/** Runs a step with `changes` on a schedule, on the head of `main`. */
function night(
  service: ScriptedService,
  github: GitHubServer,
  repository: FakeRepository,
  { inputs = {}, environment = {} }: { inputs?: Record<string, string>; environment?: Record<string, string> } = {},
): ReturnType<typeof stepHere> {
  return stepHere(inputsFor(service, { changes: "list", "github-token": "ghs_0123456789", ...inputs }), {
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

async function start() {
  const repository = new FakeRepository();
  const github = await startGitHub();
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
  test("are not there on a quiet day, and the service gets no request", async () => {
    await using world = await start();
    const { repository, github, service } = world;
    const { exitCode, outputs, annotations } = await night(service, github, repository, {
      inputs: { "changes-since": "main" },
    });
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new", "changed-files": "0" });
    expect(annotations).toEqual([
      "notice Nothing new: No file that counts has changed since main. Nothing was started.",
    ]);
    expect(service.requests).toEqual([]);
  });

  test("since a ref that does not exist are an error, and the service gets no request", async () => {
    await using world = await start();
    const { repository, github, service } = world;
    const { exitCode, annotations } = await night(service, github, repository, { inputs: { "changes-since": "v9" } });
    expect(exitCode).toBe(1);
    expect(annotations[0]).toContain("v9, the value of changes-since, was not found in the repository");
    expect(service.requests).toEqual([]);
  });

  test("of a session start where its last run ended, whose job gets a follow-up", async () => {
    await using world = await start();
    await using cache = await startCacheService("v2");
    const { repository, github, service, posts } = world;
    const options = (run: string) => ({
      inputs: { session: "nightly", wait: "false" },
      environment: { ...cache.environment, GITHUB_RUN_ID: run },
    });
    const first = repository.commit("main", { files: ["a"] });
    for (const commit of repository.commits.values()) commit.at = Date.now();
    const { outputs } = await night(service, github, repository, options("1"));
    expect(outputs["job-origin"]).toBe("created");
    const quiet = await night(service, github, repository, options("2"));
    expect(quiet.outputs["skip-reason"]).toBe("nothing-new");
    repository.commit("main", { files: ["b"] });
    const third = await night(service, github, repository, options("3"));
    expect(third.outputs).toMatchObject({
      outcome: "started",
      "job-origin": "continued",
      "job-id": outputs["job-id"],
      "changed-files": "1",
    });
    expect(github.requests.filter((request) => request.includes(`compare/${first}...`))).toHaveLength(2);
    expect(posts().map((request) => request.split("/").at(-1))).toEqual(["job", "message"]);
  });
});
