import { expect, test } from "vitest";
import type { TurnExcerpt } from "../../../src/model.ts";
import type { PageStore } from "../../../src/pages/page-store.ts";
import { PullRequestPages } from "../../../src/pages/pull-request-pages.ts";
import { PerProject } from "../../../src/per-project.ts";
import { FakeRepository, pullRequest } from "../../support/pages-server.ts";

const view = { basePath: "", zone: "UTC", me: undefined, problems: [] };

function turn(id: number): TurnExcerpt {
  return {
    state: "completed",
    prompt: `Prompt ${id}`,
    answer: null,
    costUsd: null,
    startedAt: null,
    endedAt: null,
    reason: null,
    checkResult: null,
    checkOutput: null,
    waitReason: null,
    waitUntil: null,
    asked: null,
    asker: "",
  };
}

function setUp(lists: Partial<PageStore["lists"]> = {}) {
  const repository = new FakeRepository({ url: "/nowhere", folder: "/nowhere" });
  const pages = new PullRequestPages({
    store: {
      jobs: { projectOf: async () => "docs" },
      pullRequests: { find: async () => pullRequest() },
      lists: {
        countTurns: async () => 2,
        latestTurns: async () => [1, 2],
        turnExcerpt: async (id) => turn(id),
        ...lists,
      },
    },
    projects: PerProject.of(new Map([["docs", { repository, repositoryName: "docs", stateOf: async () => "open" }]])),
    log: () => {},
  });
  return { repository, pages };
}

test("renders a page once for all who ask for it at the same time", async () => {
  const { repository, pages } = setUp();
  // None of them has read the pull request when the others ask.
  const [one, two, three] = await Promise.all([pages.render(1, view), pages.render(1, view), pages.render(1, view)]);
  expect(one).toBeDefined();
  expect([two === one, three === one]).toEqual([true, true]);
  expect(repository.reads).toHaveLength(1);
});

test("leaves out a turn that is deleted while the page is rendered", async () => {
  const { pages } = setUp({
    countTurns: async () => 0,
    turnExcerpt: async (id) => (id === 1 ? turn(1) : undefined),
  });
  const page = ((await pages.render(1, view)) ?? []).join("");
  expect(page).toContain("Prompt 1");
  expect(page).not.toContain("Prompt 2");
});
