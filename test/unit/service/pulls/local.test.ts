import { describe, expect, onTestFinished, test } from "vitest";
import { Repository } from "../../../../src/service/git/repository.ts";
import { listen } from "../../../../src/service/http/listen.ts";
import { type LocalPullRequest, LocalPullRequests } from "../../../../src/service/pulls/local.ts";
import type { Change } from "../../../../src/service/pulls/pull-requests.ts";

/** A repository whose target branch has merged the commit `merged`, and which has the branch `agent/open`. */
class FakeRepository extends Repository {
  fetches = 0;
  diffText = "diff --git a/a.md b/a.md\n";
  error: Error | undefined;
  diffError: Error | undefined;
  heads: Record<string, string> = { main: "main head", "agent/open": "head" };

  override async fetch(): Promise<void> {
    this.fetches++;
  }
  override async targetBranch(): Promise<string> {
    return "main";
  }
  override async isMerged(commit: string, branch: string): Promise<boolean> {
    if (this.error || commit === "unreadable") throw this.error ?? new Error("no such commit");
    return branch === "main" && commit === "merged";
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
  override async commits(base: string, head: string): Promise<{ commit: string; message: string }[]> {
    return [{ commit: `${base}..${head}`, message: "Fix" }];
  }
  override async diff(base: string, head: string, maxBytes: number): Promise<string> {
    if (this.diffError) throw this.diffError;
    return `${this.diffText.slice(0, maxBytes)}\n${base}..${head}`.slice(0, maxBytes);
  }
}

function setUp(signal = new AbortController().signal) {
  const rows: (LocalPullRequest & { number: number })[] = [];
  const log: string[] = [];
  const repository = new FakeRepository({ url: "/nowhere", folder: "/nowhere" });
  const pages = new LocalPullRequests({
    store: {
      addPullRequest: (row) => rows.push({ number: rows.length + 1, ...row }),
      updatePullRequest: (number, job, base, head) => {
        const row = rows.find((each) => each.number === number && each.job === job);
        if (row) Object.assign(row, { base, head });
        return row !== undefined;
      },
      pullRequest: (number) => rows.find((each) => each.number === number),
      turnTitles: (job) => [{ title: `Turn of ${job}`, state: "completed" }],
    },
    repository,
    repositoryName: "docs",
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
    expect(await pages.stateOf(ref("agent/open", "merged"))).toBe("merged");
    expect(await pages.stateOf(ref("agent/gone", "222"))).toBe("closed");
    expect(await pages.stateOf(ref("agent/open", "222"))).toBe("open");
    expect(repository.fetches).toBe(3);
  });

  test("is read for many with one fetch, and for none without", async () => {
    const { pages, repository } = setUp();
    expect(await pages.findClosed([])).toEqual(new Set());
    expect(repository.fetches).toBe(0);
    const refs = [ref("agent/open", "222"), ref("agent/open", "merged"), ref("agent/gone", "222")];
    const closed = await pages.findClosed(refs.map((each, index) => ({ ...each, link: link(index) })));
    expect(closed).toEqual(new Set([link(1), link(2)]));
    expect(repository.fetches).toBe(1);
  });

  test("is open if it cannot be read, which is logged once while it is asked for", async () => {
    const { pages, log } = setUp();
    const unreadable = ref("agent/gone", "unreadable");
    for (let round = 0; round < 2; round++) expect(await pages.findClosed([unreadable])).toEqual(new Set());
    const line = `Cannot read the state of ${link(1)}, treated as open: no such commit`;
    expect(log).toEqual([line]);
    await pages.findClosed([{ ...unreadable, link: link(2), head: "222" }]);
    await pages.findClosed([unreadable]);
    expect(log).toEqual([line, line]);
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

describe("the page of a pull request", () => {
  async function serve() {
    const context = setUp();
    await context.pages.open(change);
    const listener = context.pages.servePages((_request, response) => response.end("next"));
    const server = await listen(listener);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const get = async (path: string, method = "GET") => {
      const response = await fetch(`${server.url}${path}`, { method });
      return { status: response.status, text: await response.text(), headers: response.headers };
    };
    return { ...context, get };
  }

  test("shows what is stored and what Git says", async () => {
    const { get, log } = await serve();
    const { status, text, headers } = await get("/pull/1");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; style-src 'unsafe-inline'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    for (const part of [
      "<title>Fix · Pull request 1</title>",
      '<p class="quiet">docs</p>',
      '<span class="state open">Open</span>',
      "into <code>main</code> from <code>agent/open</code>",
      "Turn of job_1",
      "<code>111..222</code> Fix",
      "1 file changed",
      "<code>a.md</code>",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("too large");
    expect(log).toEqual([]);
  });

  test("is served for GET and HEAD only, and everything else is passed on", async () => {
    const { get } = await serve();
    expect(await get("/pull/1", "HEAD")).toMatchObject({ status: 200, text: "" });
    expect((await get("/pull/1", "POST")).text).toBe("next");
    for (const path of ["/pull/x", "/pull/1/files", "/v2/pull/1", "/pull/1234567890"])
      expect((await get(path)).text).toBe("next");
  });

  test("is not found if there is no such pull request", async () => {
    const { get } = await serve();
    for (const path of ["/pull/2", "/pull/123456789"])
      expect(await get(path)).toMatchObject({ status: 404, text: "Pull request not found" });
  });

  test("is shown without a state if that cannot be read", async () => {
    const { get, repository, log } = await serve();
    repository.error = new Error("no such branch");
    const { status, text } = await get("/pull/1");
    expect(status).toBe(200);
    expect(text).not.toContain('class="state');
    expect(log).toEqual([`Cannot read the state of ${link(1)}, treated as open: no such branch`]);
  });

  test("is an error if Git fails, which is logged with its stack", async () => {
    const { get, repository, log } = await serve();
    repository.diffError = new Error("Git is gone");
    expect(await get("/pull/1")).toMatchObject({
      status: 500,
      text: "Internal error. The log of the service has the details.",
    });
    expect(log).toEqual([expect.stringMatching(/^GET \/pull\/1: Error: Git is gone\n +at /)]);
  });

  test("says that a diff was truncated", async () => {
    const { get, repository } = await serve();
    const short = "x".repeat(500_000 - "\n111..222".length - 1);
    repository.diffText = short;
    expect((await get("/pull/1")).text).not.toContain("too large");
    repository.diffText = `${short}x`;
    expect((await get("/pull/1")).text).toContain("too large");
  });
});
