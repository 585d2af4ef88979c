import { describe, expect, test } from "vitest";
import type { GitHubPullRequests } from "../../../src/pulls/github.ts";
import { change, posts, ref, startGitHubPullRequests } from "../../support/github-pull-requests.ts";
import { startPullRequestServer } from "../../support/pull-request-server.ts";

describe("a repository that was renamed or transferred", () => {
  test("works on, which is logged once with what to do", async () => {
    const github = await startGitHubPullRequests();
    const { server, pulls, log } = github;
    const before = await pulls.open(change);
    server.name = "beta/manual";
    const second = { ...change, jobId: "job_2", branch: "agent/job_2" };
    const after = await pulls.open(second);
    expect([before, after]).toEqual(["https://github.com/acme/docs/pull/1", "https://github.com/beta/manual/pull/2"]);
    expect(await pulls.open(second)).toBe(after);
    expect(posts(server)).toBe(3);
    expect(server.pulls.size).toBe(2);
    expect(await pulls.findClosed([ref(before), ref(after)])).toEqual(new Set());
    server.close(1);
    server.close(2, true);
    expect(await pulls.findClosed([ref(before), ref(after)])).toEqual(new Set([before, after]));
    expect([(await pulls.read(ref(before))).state, (await pulls.read(ref(after))).state]).toEqual(["closed", "merged"]);
    expect(log).toEqual([
      expect.stringMatching(/^acme\/docs has been renamed on GitHub: it is now beta\/manual\. .* in --repository\.$/),
    ]);
  });

  test("is noticed and logged once when the service starts, too", async () => {
    const github = await startGitHubPullRequests();
    github.server.name = "beta/manual";
    await github.pulls.checkToken();
    await github.pulls.open(change);
    expect(github.server.requests.filter((request) => request === "GET /repos/acme/docs")).toHaveLength(1);
    await github.pulls.checkToken();
    expect(github.log).toEqual([
      expect.stringMatching(/^acme\/docs has been renamed on GitHub: it is now beta\/manual\./),
    ]);
  });

  test("finds its pull request by the new owner, also in the first request after the transfer", async () => {
    const github = await startGitHubPullRequests();
    github.server.add("agent/job_1");
    github.server.name = "beta/manual";
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(0);
  });

  const account = { login: "docs-bot[bot]", id: 7 };
  const [head, repo, time] = ["a".repeat(40), { id: 7 }, "2026-01-01T00:00:00Z"];
  test.each<[string, (pulls: GitHubPullRequests) => Promise<unknown>, unknown]>([
    [
      "what an account opened from a branch",
      async (pulls) => (await pulls.findOwn("agent/job_1", account, "main"))?.link,
      "https://github.com/beta/manual/pull/1",
    ],
    ["that a branch had a pull request", (pulls) => pulls.onlyCreatedAt("agent/job_1", head, account), undefined],
  ])("finds %s by the new owner, too", async (_what, find, expected) => {
    const { server, pulls } = await startGitHubPullRequests();
    server.name = "beta/manual";
    const pull = {
      html_url: server.link(1),
      state: "closed",
      merged_at: time,
      created_at: time,
      user: account,
      head: { ref: "agent/job_1", sha: head, repo },
      base: { ref: "main", repo },
    };
    const ref = "refs/heads/agent/job_1";
    const created = { ref, activity_type: "branch_creation", actor: account, after: head, timestamp: time };
    server.answer = (request) => {
      // From before the transfer.
      if (request.includes("/activity?")) return { status: 200, body: [created] };
      if (!request.startsWith("GET /repositories/7/pulls?state=all")) return undefined;
      return { status: 200, body: request.includes("head=beta%3A") ? [pull] : [] };
    };
    expect(await find(pulls)).toBe(expected);
  });

  test("has pull requests with its old name in the link, also if the service is configured with the new one", async () => {
    const github = await startGitHubPullRequests({ configured: "beta/manual" });
    const { server, pulls, log } = github;
    server.name = "beta/manual";
    server.add();
    server.close(1);
    const old = "https://github.com/acme/docs/pull/1";
    const links = [old, "https://github.com/else/where/pull/1", "https://elsewhere.example/acme/docs/pull/1"];
    for (let round = 0; round < 2; round++) expect(await pulls.findClosed(links.map(ref))).toEqual(new Set([old]));
    expect(server.requests.filter((request) => request === "GET /repos/else/where")).toHaveLength(1);
    expect(server.requests.filter((request) => request === "GET /repos/acme/docs")).toHaveLength(1);
    // The redirect of another name does not mean that this one was renamed.
    expect(server.requests.filter((request) => request === "GET /repos/beta/manual")).toHaveLength(1);
    expect(log).toEqual([]);
  });

  test("has only the configured name if GitHub does not say who it is", async () => {
    const github = await startGitHubPullRequests();
    const link = github.server.link(github.server.add().number);
    const other = "https://github.com/else/where/pull/1";
    github.server.close(1);
    const down = { status: 500, body: "" };
    github.server.answer = (request) => (request === "GET /repos/acme/docs" ? down : undefined);
    await expect(github.pulls.findClosed([ref(link), ref(other)])).rejects.toThrow("GitHub answered 500");
    github.server.answer = (request) => (request === "GET /repos/acme/docs" ? { status: 404 } : undefined);
    expect(await github.pulls.findClosed([ref(link), ref(other)])).toEqual(new Set([link]));
  });

  test("works on if GitHub does not say its new name", async () => {
    const github = await startGitHubPullRequests();
    const isRead = (request: string) => request === "GET /repositories/7";
    github.server.name = "beta/manual";
    github.server.answer = (request) => (isRead(request) ? { status: 500, body: "" } : undefined);
    const link = await github.pulls.open(change);
    expect(link).toBe(github.server.link(1));
    expect((await github.pulls.read(ref("https://github.com/acme/docs/pull/1"))).state).toBe("open");
    expect(github.server.requests.filter(isRead)).toHaveLength(1);
    expect(github.log).toEqual([expect.stringMatching(/^acme\/docs has been renamed on GitHub/)]);
  });

  test.each(["301", "302", "307", "308"])("gets the token to no other origin, with %s", async (status) => {
    const github = await startGitHubPullRequests();
    await using other = await startPullRequestServer();
    github.server.answer = (request) => {
      const location = other.url + (request.split(" ")[1] ?? "");
      return { status: Number(status), headers: { location } };
    };
    await expect(github.pulls.open(change)).rejects.toThrow(
      `the token is not sent to ${other.url}, where GitHub redirects`,
    );
    await expect(github.pulls.read(ref(github.server.link(1)))).rejects.toThrow("the token is not sent");
    expect(other.requests).toEqual([]);
  });

  test("is not followed in a circle", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = (request) => ({ status: 302, headers: { location: request.split(" ")[1] ?? "" } });
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub redirects in a circle");
    expect(github.server.requests).toHaveLength(4);
  });

  test("is not asked for by its new name, once GitHub has said that", async () => {
    const { server, pulls, log } = await startGitHubPullRequests();
    const { number } = server.add();
    const before = server.link(number);
    server.name = "beta/manual";
    for (const link of [before, server.link(number)]) expect((await pulls.read(ref(link))).state).toBe("open");
    expect(server.requests).not.toContain("GET /repos/beta/manual");
    expect(log).toHaveLength(1);
  });

  test("gets a link of another repository in no answer, also in the first one after it was renamed", async () => {
    const { server, pulls } = await startGitHubPullRequests();
    const html_url = "https://github.com/someone/else/pull/3";
    const item = { html_url, state: "open", merged_at: null };
    server.name = "beta/manual";
    server.answer = (request) =>
      request.startsWith("GET /repositories/7/pulls?") ? { status: 200, body: [item] } : undefined;
    await expect(pulls.open(change)).rejects.toThrow(`${html_url}, which is not in this repository`);
  });

  test("has links that cannot be checked if GitHub does not say its new name", async () => {
    const { server, pulls } = await startGitHubPullRequests();
    server.name = "beta/manual";
    server.repository = { full_name: undefined };
    expect(await pulls.open(change)).toBe("https://github.com/beta/manual/pull/1");
  });

  test.each(["forged beta/manual", "beta/manual forged", "beta"])(
    "is not logged by a name that GitHub could not give it: %s",
    async (full_name) => {
      const { server, pulls, log } = await startGitHubPullRequests();
      server.repository = { full_name };
      await expect(pulls.checkToken()).rejects.toThrow("GitHub's response is not a repository");
      expect(log).toEqual([]);
    },
  );

  test("is not read when the service stops", async () => {
    const { server, pulls, log, stop } = await startGitHubPullRequests();
    server.name = "beta/manual";
    server.answer = (request) => {
      if (request === "GET /repositories/7") stop.abort();
      return undefined;
    };
    await expect(pulls.open(change)).rejects.toThrow("aborted");
    expect(log).toEqual([]);
  });
});

describe("a link that is not that of a pull request of this repository", () => {
  const others = ["https://github.com/mirror/acme/docs/pull/1", "https://github.com/acme/docs/pull/1/files", "no link"];

  test.each(others)("leads to no request: %s", async (link) => {
    const { server, pulls } = await startGitHubPullRequests();
    server.add();
    server.close(1);
    expect((await pulls.read(ref(link))).state).toBe("open");
    expect(await pulls.findClosed([ref(link)])).toEqual(new Set());
    expect(server.requests).toEqual([]);
  });

  const other = "https://github.com/else/where/pull/1";
  const own = { id: 7, html_url: "https://github.com/acme/docs" };

  test.each<[string, object, object]>([
    ["another id", own, { ...own, id: 8 }],
    ["no id, like this one", { ...own, id: undefined }, { ...own, id: undefined }],
    ["an unknown address, like this one", { ...own, html_url: undefined }, { ...own, html_url: undefined }],
  ])("is that of a repository with %s", async (_name, repository, found) => {
    const { server, pulls } = await startGitHubPullRequests();
    server.add();
    server.close(1);
    server.repository = { ...repository };
    server.answer = (request) => (request === "GET /repos/else/where" ? { status: 200, body: found } : undefined);
    expect((await pulls.read(ref(other))).state).toBe("open");
    expect(server.requests.filter((request) => request.includes("/pulls"))).toEqual([]);
  });

  test("is not found out while GitHub's rate limit is reached, which is not waited for", async () => {
    const { server, pulls, log } = await startGitHubPullRequests();
    const limited = { status: 429, headers: { "retry-after": "5" } };
    server.answer = (request) => (request === "GET /repos/else/where" ? limited : undefined);
    await expect(pulls.findClosed([ref(other)])).rejects.toThrow("GitHub answered 429");
    expect(log).toEqual([]);
  });
});
