import { expect, test } from "vitest";
import { runWithChanges } from "../../../support/changes-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import type { SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import type { MainOptions } from "../../../support/run-main.ts";

const template = "Update the docs.\n{{ changes }}\nKeep it short.";
const below = "Update the docs.\n(listed after this task, if there are any)\nKeep it short.";

/** A workflow run on a push, at a service of one's own, as often as it is run again. */
function workflow(features: string[]) {
  const repository = new FakeRepository();
  const service = new KeyedService();
  service.features = features;
  const before = repository.commit("main", { files: ["file0"] });
  const sha = repository.commit("main", { files: ["file1"] });
  const event = {
    name: "push",
    sha,
    payload: { ref: "refs/heads/main", before, forced: false, repository: { default_branch: "main" } },
  };
  const attempt = async (runAttempt: number, options: Partial<MainOptions> = {}) =>
    runWithChanges(repository, event, {
      cache: new FakeCache(),
      respond: service.respond,
      runAttempt,
      ...options,
      inputs: { prompt: template, "base-url": "https://agents.acme.example", ...options.inputs },
      environment: { GITHUB_RUN_ID: "100", GITHUB_JOB: "docs", GITHUB_ACTION: "a", ...options.environment },
    });
  return { repository, service, sha, attempt };
}

const bodies = ({ requests }: { requests: readonly SeenRequest[] }) =>
  requests.filter(({ method }) => method === "POST").map(({ body }) => body);

test("a service that takes sections gets the changes beside the prompt, with the commit that they end at, and who asked", async () => {
  const { sha, attempt } = workflow(["sections"]);
  expect(bodies(await attempt(1))).toEqual([
    {
      prompt: below,
      sections: [expect.stringContaining("modified file1 ")],
      // Without a session, what came before is not known.
      covers: `+${sha}`,
      asked: { run: "https://github.com/acme/docs/actions/runs/100" },
    },
  ]);
});

test("a person who starts a run is named, and who caused another event is not", async () => {
  const { attempt } = workflow(["sections"]);
  const environment = { GITHUB_EVENT_NAME: "workflow_dispatch", GITHUB_TRIGGERING_ACTOR: "ada" };
  const inputs = { "changes-since": "24h" };
  expect(bodies(await attempt(1, { environment, inputs }))).toMatchObject([{ asked: { by: "ada" } }]);
});

test("a service that takes none gets them in the prompt, in their place", async () => {
  const { attempt } = workflow([]);
  expect(bodies(await attempt(1))).toEqual([
    { prompt: expect.stringMatching(/^Update the docs\.\n[\s\S]*modified file1 [\s\S]*\nKeep it short\.$/) },
  ]);
});

test("a re-run finds its turn by the prompt alone, whatever changed since", async () => {
  const { repository, service, attempt } = workflow(["sections"]);
  const inputs = { "changes-since": "24h" };
  await attempt(1, { inputs });
  // With only one turn, there is nothing to choose from.
  for (const turn of [...service.turns]) service.turns.push({ ...turn, turn: "another", request: "another" });
  repository.commit("main", { files: ["file2"] });
  expect((await attempt(2, { inputs })).outputs).toMatchObject({ "job-origin": "resumed" });
  expect(service.turns).toHaveLength(2);
});
