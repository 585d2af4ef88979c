import { describe, expect, test } from "vitest";
import { GitRepository } from "../../../src/git/git-repository.ts";
import type { LocalPullRequest } from "../../../src/model.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import type { Change } from "../../../src/pulls/pull-requests.ts";

/** A repository whose target branch has merged the commit `merged`, and which has the branch `agent/open`. */
class FakeRepository extends GitRepository {
  fetches = 0;
  heads: Record<string, string> = { main: "main head", "agent/open": "head" };

  override async list(): Promise<void> {
    this.fetches++;
  }
  override async fetch(): Promise<void> {
    this.fetches++;
  }
  override async fetchIfBehind(): Promise<void> {}
  override async targetBranch(chosen = "main"): Promise<string> {
    return chosen;
  }
  override async isMerged(commit: string, branch: string): Promise<boolean> {
    if (commit === "unreadable") throw new Error("no such commit");
    return branch === (await this.targetBranch()) && commit === "merged";
  }
  override async branchHead(branch: string): Promise<string | undefined> {
    return (await this.branchHeads()).get(branch);
  }
  override async branchHeads(): Promise<Map<string, string>> {
    return new Map(Object.entries(this.heads));
  }
  override async findMerged(commits: readonly string[], target: string): Promise<Map<string, boolean | Error>> {
    const isMerged = (commit: string) => (commit === "unreadable" ? new Error("no such commit") : commit === "merged");
    return new Map(commits.map((commit) => [commit, target === "main head" && isMerged(commit)]));
  }
}

function setUp(signal = new AbortController().signal, targetBranch?: string) {
  const rows: (LocalPullRequest & { number: number })[] = [];
  const log: string[] = [];
  const repository = new FakeRepository({ url: "/nowhere", folder: "/nowhere" });
  const pages = new LocalPullRequests({
    store: {
      add: async (row) => rows.push({ number: rows.length + 1, ...row }),
      update: async (number, job, base, head) => {
        const row = rows.find((each) => each.number === number && each.job === job);
        if (row) Object.assign(row, { base, head });
        return row !== undefined;
      },
      find: async (number) => rows.find((each) => each.number === number),
      branchesInto: async (branch) => rows.filter(({ target }) => target === branch).map((row) => row.branch),
    },
    repository,
    targetBranch,
    baseUrl: () => "http://127.0.0.1:1",
    signal,
    log: (line) => void log.push(line),
  });
  return { rows, log, repository, pages };
}

const change: Change = {
  jobId: "job_1",
  title: "Fix",
  prompt: "Fix it",
  answer: null,
  branch: "agent/open",
  targetBranch: "main",
  base: "111",
  head: "222",
  existing: null,
};

const link = (number: number) => `http://127.0.0.1:1/pull/${number}`;

describe("opening a pull request", () => {
  test("stores a new one", async () => {
    const { rows, pages } = setUp();
    expect(await pages.open(change)).toBe(link(1));
    expect(rows).toEqual([
      { number: 1, job: "job_1", title: "Fix", branch: "agent/open", target: "main", base: "111", head: "222" },
    ]);
  });

  test("updates that of the job, also if the address of the service has changed", async () => {
    const { rows, pages } = setUp();
    for (let count = 0; count < 12; count++) await pages.open({ ...change, jobId: `job_${count}` });
    const existing = "http://127.0.0.1:2/pull/12";
    expect(await pages.open({ ...change, jobId: "job_11", head: "333", existing })).toBe(existing);
    expect(rows[11]?.head).toBe("333");
    expect(rows).toHaveLength(12);
  });

  test.each(["https://github.com/acme/docs/pull/2", "http://127.0.0.1:1/pull/1/files", "http://127.0.0.1:1/pull/x"])(
    "opens a new one if %s is not a page of the job",
    async (existing) => {
      const { pages } = setUp();
      await pages.open(change);
      await pages.open({ ...change, jobId: "job_2" });
      expect(await pages.open({ ...change, existing })).toBe(link(3));
    },
  );
});

describe("the state of a pull request", () => {
  const ref = (branch: string, head: string) => ({ link: link(1), branch, head });

  test("is merged, closed if its branch is gone, or else open", async () => {
    const { pages, repository } = setUp();
    expect((await pages.read(ref("agent/open", "merged"))).state).toBe("merged");
    expect((await pages.read(ref("agent/gone", "222"))).state).toBe("closed");
    expect((await pages.read(ref("agent/open", "222"))).state).toBe("open");
    expect(repository.fetches).toBe(3);
  });

  test("is that for the target branch of its project", async () => {
    const { pages, repository } = setUp(undefined, "next");
    repository.heads.next = "next head";
    const merged = ref("agent/open", "merged");
    expect([(await pages.read(merged)).state, await pages.findClosed([merged])]).toEqual(["open", new Set()]);
    repository.heads.next = "main head";
    expect(await pages.findClosed([merged])).toEqual(new Set([link(1)]));
  });

  test("is read for many with one listing, and for none without", async () => {
    const { pages, repository } = setUp();
    expect(await pages.findClosed([])).toEqual(new Set());
    expect(repository.fetches).toBe(0);
    const refs = [ref("agent/open", "222"), ref("agent/open", "merged")];
    const closed = await pages.findClosed(refs.map((each, index) => ({ ...each, link: link(index) })));
    expect(closed).toEqual(new Set([link(1)]));
    expect(repository.fetches).toBe(1);
  });

  test("is read in parts with one listing a round", async () => {
    const { pages, repository } = setUp();
    for (const round of [{}, {}])
      for (const head of ["222", "merged"]) await pages.findClosed([ref("agent/open", head)], round);
    expect(repository.fetches).toBe(2);
  });

  test("is open if its branch was pushed after the round had begun", async () => {
    const { pages, repository } = setUp();
    const round = {};
    await pages.findClosed([ref("agent/open", "222")], round);
    repository.heads["agent/new"] = "333";
    expect(await pages.findClosed([ref("agent/new", "333")], round)).toEqual(new Set());
    expect(await pages.findClosed([ref("agent/gone", "444")], round)).toEqual(new Set([link(1)]));
  });

  test("is closed if its branch is gone and this process never had its commits", async () => {
    const { pages, log } = setUp();
    expect(await pages.findClosed([ref("agent/gone", "unreadable")])).toEqual(new Set([link(1)]));
    expect(log).toEqual([]);
  });

  test("is open if it cannot be read, which is logged once while it is asked for", async () => {
    const { pages, log } = setUp();
    const unreadable = ref("agent/open", "unreadable");
    for (let round = 0; round < 2; round++) expect(await pages.findClosed([unreadable])).toEqual(new Set());
    const line = `Cannot read the state of ${link(1)}, treated as open: no such commit`;
    expect(log).toEqual([line]);
    await pages.findClosed([{ ...unreadable, link: link(2), head: "222" }]);
    await pages.findClosed([unreadable]);
    expect(log).toEqual([line, line]);
  });

  test("is closed if its branch is gone, also if only another machine has had its commit", async () => {
    const { pages, log } = setUp();
    expect(await pages.findClosed([ref("agent/gone", "unreadable")])).toEqual(new Set([link(1)]));
    expect(log).toEqual([]);
  });

  test("is not guessed when the service stops, or without the target branch", async () => {
    const { pages, log } = setUp(AbortSignal.abort());
    await expect(pages.findClosed([ref("agent/open", "unreadable")])).rejects.toThrow("aborted");
    expect(log).toEqual([]);
    const without = setUp();
    without.repository.heads = {};
    await expect(without.pages.findClosed([ref("agent/gone", "222")])).rejects.toThrow("the branch main is missing");
  });
});

describe("the branch of a pull request", () => {
  const own = { link: link(1), branch: "agent/open", head: "merged" };

  test("is obsolete once it is merged", async () => {
    const { pages } = setUp();
    expect(await pages.obsoleteFrom(own)).toBe(0);
    expect(await pages.obsoleteFrom({ ...own, head: "222" })).toBeUndefined();
  });

  test("is not obsolete while another one targets it", async () => {
    const { pages, repository } = setUp();
    await pages.open({ ...change, branch: "agent/next", targetBranch: "agent/open" });
    expect(await pages.obsoleteFrom(own)).toBe(0);
    repository.heads["agent/next"] = "333";
    expect(await pages.obsoleteFrom(own)).toBeUndefined();
  });
});
