import { expect, test } from "vitest";
import { type PageStore, PullRequestPages } from "../../../../src/service/pages/pull-request-pages.ts";
import { PerProject } from "../../../../src/service/per-project.ts";
import { FakeRepository, pullRequest } from "../../../support/pages-server.ts";

function setUp(store: Partial<PageStore> = {}) {
  const repository = new FakeRepository({ url: "/nowhere", folder: "/nowhere" });
  const pages = new PullRequestPages({
    store: {
      pullRequest: async () => pullRequest(),
      latestPullRequests: async () => [],
      projectOf: async () => "docs",
      countTurns: async () => 2,
      latestTurns: async () => [1, 2],
      turnExcerpt: async (id) => ({ state: "completed", prompt: `Prompt ${id}`, answer: null }),
      ...store,
    },
    projects: PerProject.of(new Map([["docs", { repository, repositoryName: "docs", stateOf: async () => "open" }]])),
    log: () => {},
  });
  return { repository, pages };
}

test("renders a page once for all who ask for it at the same time", async () => {
  const { repository, pages } = setUp();
  // None of them has read the pull request when the others ask.
  const [one, two, three] = await Promise.all([pages.render(1), pages.render(1), pages.render(1)]);
  expect(one).toBeDefined();
  expect([two === one, three === one]).toEqual([true, true]);
  expect(repository.reads).toHaveLength(1);
});

test("leaves out a turn that is deleted while the page is rendered", async () => {
  const { pages } = setUp({
    countTurns: async () => 0,
    turnExcerpt: async (id) => (id === 1 ? { state: "completed", prompt: "Prompt 1", answer: null } : undefined),
  });
  const page = Buffer.concat((await pages.render(1)) ?? []).toString();
  expect(page).toContain("Prompt 1");
  expect(page).not.toContain("Prompt 2");
});
