import { createEmulator } from "emulate";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { GitHubPullRequests } from "../../../src/pulls/github.ts";
import { pullRequestBody, readTurns, updatedBody } from "../../../src/pulls/pull-request-body.ts";
import type { Change } from "../../../src/pulls/pull-requests.ts";
import { LeaseLost } from "../../../src/store-errors.ts";
import { describeLeftWork } from "../../../src/turns/left-work.ts";
import { change, isPost, posts, ref, startGitHubPullRequests, token } from "../../support/github-pull-requests.ts";

describe("opening a pull request", () => {
  test("creates it once, and finds it later", async () => {
    const github = await startGitHubPullRequests();
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(github.server.pulls.get(1)).toMatchObject({ head: "agent/job_1", title: "T" });
    const find = expect.stringMatching(/^GET .*\bhead=acme%3Aagent%2Fjob_1\b/);
    expect(github.server.requests).toEqual([find, "POST /repos/acme/docs/pulls", find]);
  });

  test("names the protected files that a later turn changed in the body of an open one", async () => {
    const github = await startGitHubPullRequests();
    const link = await github.pulls.open(change);
    const bodies: string[] = [];
    github.server.answer = (request, body) => {
      const item = { html_url: link, state: "open", merged_at: null, body: "By a person" };
      if (request.includes("/pulls?")) return { status: 200, body: [item] };
      if (!request.startsWith("PATCH ")) return undefined;
      bodies.push(`${request} ${JSON.parse(body).body}`);
      return { status: bodies.length === 1 ? 200 : 403, body: item };
    };
    expect(await github.pulls.open({ ...change, protectedFiles: ["AGENTS.md"] })).toBe(link);
    // What cannot be named there is in the log of the job.
    expect(await github.pulls.open({ ...change, protectedFiles: ["AGENTS.md"] })).toBe(link);
    expect(await github.pulls.open(change)).toBe(link);
    expect(bodies).toHaveLength(2);
    expect(bodies[0]).toMatch(
      /^PATCH \/repos\/acme\/docs\/pulls\/1 <!-- protected[\s\S]*AGENTS\.md[\s\S]*By a person$/,
    );
  });

  /** Runs of one job that both write the body: the second one's commit is on top of the first one's. */
  const one = {
    ...change,
    prompt: "First",
    head: "b1",
    check: { result: "failed", command: "x", output: "" },
  } as const;
  const two = {
    ...change,
    prompt: "Second",
    head: "b2",
    check: { result: "passed", command: "x", output: "" },
  } as const;
  test.each([
    ["the first one", one, two, {}],
    ["the second one", two, one, { isShared: true }],
  ] as const)("keeps both turns if %s is overwritten by a run beside it", async (_which, own, other, sign) => {
    const github = await startGitHubPullRequests();
    const html_url = await github.pulls.open(change);
    const started = pullRequestBody(change);
    const { check, ...turn } = other;
    const overwriting = updatedBody(started, [], { ...turn, askedBy: "" }, { check }) ?? "";
    let body = started;
    let patches = 0;
    github.server.answer = (request, sent) => {
      const item = () => ({ html_url, state: "open", merged_at: null, body, head: { ref: change.branch, sha: "b2" } });
      if (request.startsWith("PATCH ")) ({ body } = JSON.parse(sent) as { body: string });
      const answer = { status: 200, body: request.includes("/pulls?") ? [item()] : item() };
      if (request.startsWith("PATCH ") && ++patches === 1) body = overwriting;
      return answer;
    };
    github.server.requests.length = 0;
    await github.pulls.open({ ...own, ...sign, existing: html_url });
    expect(github.server.requests.map((request) => request.split(/[ ?]/)[0])).toEqual(["GET", "PATCH", "GET", "PATCH"]);
    expect(readTurns(body).map(({ prompt }) => prompt)).toEqual(["P", other.prompt, own.prompt]);
    expect(body).toMatch(/^<!-- check -->\n> \[!NOTE\]\n> The check passed/);
    expect(body.match(/<!-- check -->/g)).toHaveLength(1);
    expect(github.log).toEqual([]);
  });

  test("does not look at the body again if nothing was pushed beside the turn", async () => {
    const github = await startGitHubPullRequests();
    const html_url = await github.pulls.open(change);
    github.server.answer = (request) => {
      const item = {
        html_url,
        state: "open",
        merged_at: null,
        body: pullRequestBody(change),
        head: { ref: "r", sha: "b1" },
      };
      return { status: 200, body: request.includes("/pulls?") ? [{ ...item, head: { ref: change.branch } }] : item };
    };
    github.server.requests.length = 0;
    await github.pulls.open({ ...one, existing: html_url });
    expect(github.server.requests.map((request) => request.split(/[ ?]/)[0])).toEqual(["GET", "PATCH"]);
  });

  test("writes nothing for a worker that loses its turn while GitHub answers", async () => {
    const github = await startGitHubPullRequests();
    let isLost = false;
    const confirmOwner = async () => {
      if (isLost) throw new LeaseLost(1);
    };
    const lost = { ...change, protectedFiles: ["AGENTS.md"], confirmOwner };
    let item: object | undefined;
    github.server.answer = (request) => {
      if (!request.includes("/pulls?")) return undefined;
      isLost = true;
      return { status: 200, body: item === undefined ? [] : [item] };
    };
    await expect(github.pulls.open(lost)).rejects.toThrow(LeaseLost);
    item = { html_url: github.server.link(1), state: "open", merged_at: null, body: "By the turn after it" };
    isLost = false;
    await expect(github.pulls.open(lost)).rejects.toThrow(LeaseLost);
    expect(github.server.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  });

  test("from which work of the agent is missing, or that is to be one, is a draft, which only a person makes ready", async () => {
    const github = await startGitHubPullRequests();
    const sent: Record<string, string | boolean>[] = [];
    github.server.answer = (request, body) => void (isPost(request) && sent.push(JSON.parse(body)));
    const left = describeLeftWork({ left: ["the branch more with 2 commits"], isPartial: false }) ?? "";
    const check = { result: "failed", command: "npm test", output: "" } as const;
    await github.pulls.open({ ...change, notes: ["The mode of 1 file changed."] });
    await github.pulls.open({ ...change, branch: "agent/b", notes: [left], check });
    await github.pulls.open({ ...change, branch: "agent/c", isDraft: true, check: { ...check, result: "passed" } });
    expect(sent.map(({ draft }) => draft)).toEqual([undefined, true, true]);
    expect(sent[2]?.body).not.toContain("draft because of the check");
    expect(sent[1]?.body).toContain("the branch more with 2 commits");
    expect(sent[1]?.body).not.toContain("draft because of the check");
  });

  describe("whose check failed", () => {
    const check = {
      result: "failed",
      command: "npm run build",
      output: "broken link\n<!-- end of check -->\n@everyone",
    } as const;
    const passed = { result: "passed", command: "npm run build", output: "" } as const;

    /** Opens one, and returns it with what GitHub gets. */
    async function open(refused?: { status: number; message: string }, shown: Change["check"] = check) {
      const github = await startGitHubPullRequests();
      const sent: Record<string, string | boolean>[] = [];
      github.server.answer = (request, body) => {
        if (!isPost(request)) return undefined;
        sent.push(JSON.parse(body));
        return refused && sent.length === 1
          ? { status: refused.status, body: { message: refused.message } }
          : undefined;
      };
      return { github, sent, link: await github.pulls.open({ ...change, check: shown }).catch(String) };
    }

    test("is a draft, which says so, if the check did not run", async () => {
      const { sent } = await open(undefined, { result: "not-run", command: "npm run build", output: "no space left" });
      expect(sent).toMatchObject([{ draft: true }]);
      expect(sent[0]?.body).toMatch(
        /^<!-- check -->\n<!-- draft [^\n]*\n[^\n]*\n> The check did not run[\s\S]*no space left/,
      );
    });

    test("is a draft, whose body begins with the failure", async () => {
      const { sent } = await open();
      expect(sent).toMatchObject([{ draft: true }]);
      expect(sent[0]?.body).toMatch(
        /^<!-- check -->\n<!-- draft because[^\n]*\n> \[!CAUTION\][\s\S]*npm run build[\s\S]*broken link/,
      );
    });

    test("is an ordinary one if GitHub refuses drafts, and the failure is still what its body begins with", async () => {
      const message = "Draft pull requests are not supported in this repository.";
      const { sent, link, github } = await open({ status: 422, message });
      expect(sent.map(({ draft }) => draft)).toEqual([true, undefined]);
      expect(sent[1]?.body).toMatch(/^<!-- check -->\n> \[!CAUTION\]/);
      expect(link).toBe(github.server.link(1));
    });

    test("is not opened a second time for any other refusal", async () => {
      const { sent, link } = await open({ status: 403, message: "Resource not accessible" });
      expect(sent).toHaveLength(1);
      expect(link).toContain("403");
    });

    test.each([
      ["is made ready when a later check passes", [], true],
      ["stays as a person has made it", [{ event: "labeled" }, { event: "convert_to_draft" }], false],
    ])("%s", async (_, events, isMadeReady) => {
      const { github, sent, link } = await open();
      const requests: string[] = [];
      github.server.answer = (request, body) => {
        if (request.includes("/pulls?")) {
          const item = {
            html_url: link,
            state: "open",
            merged_at: null,
            draft: true,
            node_id: "PR_1",
            body: sent[0]?.body,
          };
          return { status: 200, body: [item] };
        }
        if (request.includes("/issues/1/events")) return { status: 200, body: events };
        requests.push(`${request} ${body}`);
        return { status: 200, body: { data: {}, html_url: link, state: "open", merged_at: null } };
      };
      expect(await github.pulls.open({ ...change, check: passed, existing: link })).toBe(link);
      expect(requests.some((one) => one.includes("markPullRequestReadyForReview"))).toBe(isMadeReady);
      const body = JSON.parse(requests.at(-1)?.replace(/^\S+ \S+ /, "") ?? "").body as string;
      expect(body).toMatch(isMadeReady ? /^<!-- check -->\n> \[!NOTE\]/ : /^<!-- check -->\n<!-- draft/);
      expect(body).not.toContain("broken link");
      expect(body.match(/<!-- check -->/g)).toHaveLength(1);
    });
  });

  test("creates one whose number has several digits", async () => {
    const github = await startGitHubPullRequests();
    for (let number = 1; number < 12; number++) github.server.add();
    expect(await github.pulls.open({ ...change, branch: "agent/more" })).toBe(github.server.link(12));
  });

  test.each([
    ["javascript:", "javascript:alert(1)"],
    ["a link after other text", "see https://github.com/acme/docs/pull/1"],
    ["the link of a page of it", "https://github.com/acme/docs/pull/1/files"],
    ["a link with credentials", "https://u:p@evil.example/pull/1"],
    ["a line break", "https://x/\n::set-output/pull/1"],
    ["a very long link", `https://x/${"y".repeat(3000)}/pull/1`],
  ])("rejects %s as its link", async (_name, html_url) => {
    const github = await startGitHubPullRequests();
    const body = { html_url, state: "open", merged_at: null };
    github.server.answer = (request) => (isPost(request) ? { status: 201, body } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("not a pull request");
  });

  test.each([
    ["another repository", (link: string) => link.replace("acme/docs", "acme/other")],
    ["another host", (link: string) => link.replace(/^https?:..[^/]+/, "https://evil.example")],
    ["another repository, with this name at the end", (link: string) => link.replace("acme/docs", "mirror/acme/docs")],
    ["another page of this repository", (link: string) => `${link}/pull/1`],
    ["no host", (link: string) => link.replace("github.com", "[")],
  ])("rejects the link of %s, so that no job is completed with it", async (_name, forge) => {
    const github = await startGitHubPullRequests();
    await github.pulls.checkToken();
    const html_url = forge(github.server.link(1));
    const item = { html_url, state: "open", merged_at: null };
    github.server.answer = (request) => (isPost(request) ? { status: 201, body: item } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow(`${html_url}, which is not in this repository`);
    github.server.answer = (request) => (request.includes("/pulls?") ? { status: 200, body: [item] } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("not in this repository");
  });

  test("rejects a link without a host, also if GitHub did not say where its pages are", async () => {
    const github = await startGitHubPullRequests();
    const item = { html_url: "https://[/acme/docs/pull/1", state: "open", merged_at: null };
    github.server.answer = (request) => (isPost(request) ? { status: 201, body: item } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("which is not in this repository");
  });

  test("does not take the pull request of another branch for its own if the query is ignored", async () => {
    const github = await startGitHubPullRequests();
    const item = { html_url: github.server.link(9), state: "open", merged_at: null, head: { ref: "someone" } };
    github.server.answer = (request) => (request.includes("/pulls?") ? { status: 200, body: [item] } : undefined);
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
  });

  test("takes no other pull request of the branch, unless it leads into the same one", async () => {
    const github = await startGitHubPullRequests();
    const others = github.server.add(change.branch);
    others.base = "release";
    const link = await github.pulls.open(change);
    expect(link).toBe(github.server.link(2));
    // GitHub lists the newest one first.
    github.server.add(change.branch).base = "next";
    expect(await github.pulls.open({ ...change, existing: link })).toBe(link);
    const moved = { ...change, targetBranch: "next" };
    expect(await github.pulls.open({ ...moved, existing: link })).toBe(link);
    expect(await github.pulls.open(moved)).toBe(github.server.link(3));
    expect(posts(github.server)).toBe(1);
  });

  test("asks before it opens another one, and not for the one that is open", async () => {
    const github = await startGitHubPullRequests();
    const confirmNew = () => Promise.reject(new Error("closed since"));
    const link = await github.pulls.open(change);
    expect(await github.pulls.open({ ...change, existing: link, confirmNew })).toBe(link);
    await expect(github.pulls.open({ ...change, branch: "agent/other", confirmNew })).rejects.toThrow("closed since");
    expect(posts(github.server)).toBe(1);
  });

  /** A pull request that GitHub's list shows as open until it shows another one, although it has ended with another commit. */
  async function startWithEnded(sha: string) {
    const github = await startGitHubPullRequests();
    const { server } = github;
    const html_url = await github.pulls.open(change);
    server.close(1, true);
    server.requests.length = 0;
    const listed = {
      html_url,
      state: "open",
      merged_at: null,
      body: pullRequestBody(change),
      head: { ref: "agent/job_1", sha },
    };
    server.answer = (request) => {
      if (request.startsWith("GET ") && request.includes("head=")) return { status: 200, body: [listed] };
      if (request.includes(`/compare/b2...${sha}`))
        return { status: 200, body: { status: sha === "b3" ? "ahead" : "behind" } };
      return request.startsWith("PATCH ") ? { status: 200, body: { ...listed, state: "closed" } } : undefined;
    };
    return { ...github, later: { ...change, prompt: "Second", head: "b2", existing: html_url } };
  }

  test("opens another one if the one that is listed as open ended without the commit", async () => {
    const { server, pulls, later } = await startWithEnded("b1");
    const asked: string[] = [];
    const confirmNew = async () => void asked.push("new");
    expect(await pulls.open({ ...later, confirmNew })).toBe(server.link(2));
    expect([asked, posts(server), server.pulls.size]).toEqual([["new"], 1, 2]);
    const closedSince = () => Promise.reject(new Error("closed since"));
    await expect(pulls.open({ ...later, confirmNew: closedSince })).rejects.toThrow("closed since");
  });

  // Others may have pushed on top of it.
  test.each(["b2", "b3"])("keeps to the one that ended with the commit in %s, whatever the list says", async (sha) => {
    const { server, pulls, later } = await startWithEnded(sha);
    expect(await pulls.open(later)).toBe(later.existing);
    expect(posts(server)).toBe(0);
  });

  test("never goes back to the one that ended without the commit, also if another one cannot be opened", async () => {
    const { server, pulls, later } = await startWithEnded("b1");
    const { answer } = server;
    server.answer = (request, body) => (isPost(request) ? { status: 502, body: "" } : answer(request, body));
    await expect(pulls.open(later)).rejects.toThrow("GitHub answered 502");
    expect(server.requests.filter((request) => request.startsWith("PATCH "))).toHaveLength(1);
  });

  test("truncates a prompt that is too long for GitHub", async () => {
    const github = await startGitHubPullRequests();
    let sent = "";
    github.server.answer = (_request, body) => {
      sent = body;
      return undefined;
    };
    await github.pulls.open({ ...change, prompt: "`x".repeat(200_000) });
    expect(JSON.parse(sent).body.length).toBeLessThan(65_536);
  });

  test("takes only status 422 for the answer that it exists already", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = (request) =>
      isPost(request) ? { status: 409, body: { message: "The project already exists" } } : undefined;
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub answered 409");
    expect(posts(github.server)).toBe(1);
  });

  test("waits before it tries again, unless the service stops", async () => {
    const { server, pulls, stop } = await startGitHubPullRequests({ secondMs: 100_000 });
    server.answer = () => ({ status: 503, body: "" });
    const rejected = expect(pulls.open(change)).rejects.toThrow("aborted");
    await waitUntil(() => server.requests.length > 0);
    // Enough for the answer to arrive, and for another request.
    await new Promise((resolve) => setTimeout(resolve, 100));
    stop.abort();
    await rejected;
    expect(server.requests).toHaveLength(1);
  });

  test("does not retry a permanent HTTP error, and reports the reason that GitHub gives", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = (request) =>
      isPost(request) ? { status: 422, body: { message: "The title is not valid" } } : undefined;
    await expect(github.pulls.open(change)).rejects.toThrow(
      "GitHub answered 422 to POST /repos/acme/docs/pulls: The title is not valid",
    );
    expect(posts(github.server)).toBe(1);
  });

  test.each([
    ["the head", { resource: "PullRequest", field: "head", code: "invalid" }],
    ["the commit", { resource: "PullRequest", code: "custom", message: "No commits between main and agent/job_1" }],
  ])("is opened again until GitHub has seen %s, with a draft for a failed check", async (_what, error) => {
    const github = await startGitHubPullRequests();
    const bodies: string[] = [];
    github.server.answer = (request, body) => {
      if (!isPost(request)) return undefined;
      bodies.push(body);
      return posts(github.server) <= 3
        ? { status: 422, body: { message: "Validation Failed", errors: [error] } }
        : undefined;
    };
    const check = { result: "failed", command: "x", output: "" } as const;
    expect(await github.pulls.open({ ...change, check })).toBe(github.server.link(1));
    expect(bodies.map((body) => JSON.parse(body).draft)).toEqual([true, true, true, true]);
  });

  test("reports neither the token nor a line break that GitHub sends", async () => {
    const github = await startGitHubPullRequests();
    const message = `Denied for ${token}\n2026 forged line`;
    github.server.answer = (request) => (isPost(request) ? { status: 403, body: { message } } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow(/: Denied for \*\*\* 2026 forged line$/);
    expect(posts(github.server)).toBe(1);
  });

  test.each([1, 2, 3])("opens one only, although the response to create number %d is lost", async (lost) => {
    const github = await startGitHubPullRequests();
    github.server.answer = (request) => {
      if (!isPost(request)) return undefined;
      if (posts(github.server) === lost) github.server.add("agent/job_1");
      return { status: 502, body: "<html>" };
    };
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(lost);
  });

  test("finds it again if GitHub's list does not show it at once", async () => {
    const github = await startGitHubPullRequests();
    github.server.add("agent/job_1");
    github.server.answer = (request) =>
      request.includes("head=") && posts(github.server) === 0 ? { status: 200, body: [] } : undefined;
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(1);
  });

  test("fails after four tries if GitHub is down", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = () => ({ status: 503, body: "" });
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub answered 503");
    expect(github.server.requests).toHaveLength(5);
    await github.server[Symbol.asyncDispose]();
    await expect(github.pulls.open(change)).rejects.toThrow(/GitHub did not respond .*ECONNREFUSED/);
  });
});

describe("the state of a pull request", () => {
  test("is read again after an outage", async () => {
    const { server, pulls } = await startGitHubPullRequests();
    const { number } = server.add();
    server.answer = () => (server.requests.length === 1 ? { status: 502, body: "" } : undefined);
    expect((await pulls.read(ref(server.link(number)))).state).toBe("open");
    expect(server.requests).toHaveLength(2);
  });

  test("is open if it is that of no pull request on GitHub", async () => {
    const { server, pulls } = await startGitHubPullRequests();
    expect((await pulls.read(ref("http://127.0.0.1:4100/pull/2"))).state).toBe("open");
    expect(server.requests).toEqual([]);
  });
});

describe("GitHub's rate limit", () => {
  const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);

  test.each([
    ["403 with Retry-After", 403, "Slow down", { "retry-after": "120" }, "120"],
    ["a secondary limit without a time", 403, "You have exceeded a secondary rate limit", {}, "60"],
    ["429 without a time", 429, "", {}, "60"],
    ["429 with a time that is not a number", 429, "", { "retry-after": "soon" }, "60"],
    ["a time beyond its window", 429, "", { "retry-after": "10000" }, "3660"],
    [
      "no requests left",
      403,
      "API rate limit exceeded",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inSeconds(100) },
      "\\d+",
    ],
    [
      "no requests left, by GitHub's clock",
      429,
      "",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000010", date: "Mon, 12 Jan 1970 13:46:40 GMT" },
      "11",
    ],
  ])(
    "ends a request with how long it lasts, and no other is sent until then: %s",
    async (_name, status, message, headers, seconds) => {
      const github = await startGitHubPullRequests({ secondMs: 1000 });
      const link = github.server.link(github.server.add().number);
      github.server.answer = () => ({ status, body: { message }, headers });
      const read = () => github.pulls.read(ref(link)).catch((error: RateLimitError) => Math.ceil(error.waitMs / 1000));
      expect(String(await read())).toMatch(new RegExp(`^${seconds}$`));
      await read();
      expect(github.server.requests).toHaveLength(1);
      expect(github.log).toEqual([]);
    },
  );

  test("is waited for and logged if it lasts some seconds, before a pull request is created", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = (request) =>
      isPost(request) && posts(github.server) === 1 ? { status: 403, headers: { "retry-after": "3" } } : undefined;
    expect(await github.pulls.open(change)).toBe(github.server.link(1));
    expect(posts(github.server)).toBe(2);
    expect(github.log).toEqual([
      "Opening the pull request of agent/job_1: GitHub's rate limit is reached, waiting 3 s.",
    ]);
  });

  test("is not what any other 403 means", async () => {
    const github = await startGitHubPullRequests();
    const headers = { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": inSeconds(100) };
    github.server.answer = (request) => (isPost(request) ? { status: 403, headers } : undefined);
    await expect(github.pulls.open(change)).rejects.toThrow("GitHub answered 403");
    expect(posts(github.server)).toBe(1);
  });

  test("is waited for five seconds at most, however often it is said to last one", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = () => ({ status: 429, headers: { "retry-after": "-1" } });
    await expect(github.pulls.read(ref(github.server.link(1)))).rejects.toThrow("GitHub answered 429");
    expect(github.server.requests).toHaveLength(6);
  });

  test("is not waited for when the service stops", async () => {
    const github = await startGitHubPullRequests({ secondMs: 100_000 });
    github.server.answer = (request) =>
      isPost(request) ? { status: 429, headers: { "retry-after": "3" } } : undefined;
    const opened = github.pulls.open(change);
    const rejected = expect(opened).rejects.toThrow("aborted");
    await waitUntil(() => github.log.length > 0);
    github.stop.abort();
    await rejected;
    expect(posts(github.server)).toBe(1);
  });

  test("ends rounds by the clock of the process, unless there is another", async () => {
    const { server, stop } = await startGitHubPullRequests();
    const link = server.link(server.add().number);
    const repository = { apiUrl: server.url, owner: "acme", name: "docs", token };
    const pulls = new GitHubPullRequests({ repository, signal: stop.signal, log: console.error });
    server.answer = () => ({ status: 403, headers: { "retry-after": "600" } });
    for (let round = 0; round < 2; round++)
      await expect(pulls.findClosed([ref(link)])).rejects.toThrow("rate limit until");
    expect(server.requests).toHaveLength(1);
  });

  test("ends rounds for an hour at most", async () => {
    const github = await startGitHubPullRequests();
    const link = github.server.link(github.server.add().number);
    github.server.answer = () => ({ status: 403, headers: { "retry-after": "999999999" } });
    await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow("rate limit until");
    github.server.answer = () => undefined;
    github.clock.now += 3_600_000;
    await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow("rate limit until");
    github.clock.now += 60_000;
    expect(await github.pulls.findClosed([ref(link)])).toEqual(new Set());
  });

  test.each([
    ["403 with Retry-After", { status: 403, headers: { "retry-after": "600" } }, 600],
    ["429 with a time that is not a number", { status: 429, headers: { "retry-after": "soon" } }, 60],
    ["a secondary limit", { status: 403, body: { message: "You have exceeded a secondary rate limit" } }, 60],
  ])("ends a round, and no other one asks before its end: %s", async (_name, answer, seconds) => {
    const github = await startGitHubPullRequests();
    const link = github.server.link(github.server.add().number);
    github.server.answer = () => answer;
    for (let round = 0; round < 3; round++)
      await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow("rate limit until");
    expect(github.server.requests).toHaveLength(1);
    expect(github.log).toEqual([]);
    github.server.answer = () => undefined;
    github.server.close(1);
    github.clock.now += seconds * 1000 - 1;
    await expect(github.pulls.findClosed([ref(link)])).rejects.toThrow("rate limit until");
    github.clock.now += 1;
    expect(await github.pulls.findClosed([ref(link)])).toEqual(new Set([link]));
  });
});

describe("the token", () => {
  test("is accepted if it can push, and if GitHub does not say so", async () => {
    const github = await startGitHubPullRequests();
    await github.pulls.checkToken();
    for (const permissions of [undefined, null, {}]) {
      github.server.repository = { permissions };
      await github.pulls.checkToken();
    }
    expect(github.log).toEqual([]);
    expect(github.server.headers.every(({ authorization }) => authorization?.endsWith(token))).toBe(true);
  });

  test("is rejected if it cannot push, except for that of an app, which GitHub says of all of them", async () => {
    const github = await startGitHubPullRequests();
    github.server.repository = { permissions: { push: false } };
    await expect(github.pulls.checkToken()).rejects.toThrow(
      "GITHUB_TOKEN needs write access to contents and pull requests of acme/docs. It can only read it.",
    );
    github.server.answer = (request) =>
      request.includes("/installation/") ? { status: 200, body: { total_count: 1 } } : undefined;
    await github.pulls.checkToken();
    expect(github.server.requests.at(-1)).toMatch(/^GET .installation.repositories\?.*\bper_page=1$/);
  });

  const needs = "GITHUB_TOKEN needs write access to contents and pull requests of acme/docs. ";

  test.each([
    [401, "Bad credentials", "", ". The token has ended or was revoked"],
    [403, "Resource protected by organization SAML enforcement", "", ". Authorize the token for single sign-on"],
    [403, "Resource not accessible by integration", needs, ""],
    [404, "Not Found", needs, ""],
  ])("is rejected with status %d: %s", async (status, message, before, after) => {
    const github = await startGitHubPullRequests();
    github.server.answer = () => ({ status, body: { message } });
    await expect(github.pulls.checkToken()).rejects.toThrow(
      `${before}GitHub answered ${status} to GET /repos/acme/docs: ${message}${after}`,
    );
  });

  test("is tried again while GitHub does not know it yet, and no more once it has worked", async () => {
    const github = await startGitHubPullRequests();
    const unknown = { status: 401, body: { message: "Bad credentials" } };
    github.server.answer = () => (github.server.requests.length <= 3 ? unknown : undefined);
    await github.pulls.checkToken();
    expect(github.server.requests).toHaveLength(4);
    github.server.answer = () => unknown;
    await expect(github.pulls.checkToken()).rejects.toThrow("Bad credentials");
    expect(github.server.requests).toHaveLength(5);
  });

  test("is rejected if the address is not that of GitHub's API", async () => {
    const github = await startGitHubPullRequests();
    github.server.answer = () => ({ status: 200, body: "<html>", headers: { "content-type": "text/html" } });
    await expect(github.pulls.checkToken()).rejects.toThrow("the URL of its API?");
    github.server.answer = () => ({ status: 301, headers: { location: "https://github.example/api/v3" } });
    await expect(github.pulls.checkToken()).rejects.toThrow("https://github.example, where GitHub redirects");
  });

  test.each([
    ["is down", { status: 503, body: "" }],
    ["limits the rate", { status: 403, headers: { "retry-after": "60" } }],
  ])("is not checked while GitHub %s, which is logged", async (_name, answer) => {
    const github = await startGitHubPullRequests();
    github.server.answer = () => answer;
    await github.pulls.checkToken();
    github.server.repository = { permissions: { push: false } };
    github.clock.now += 60_000;
    github.server.answer = (request) => (request.includes("/installation/") ? answer : undefined);
    await github.pulls.checkToken();
    github.clock.now += 60_000;
    // Neither was tried again: the service starts without it.
    expect(github.server.requests).toHaveLength(3);
    await github.server[Symbol.asyncDispose]();
    await github.pulls.checkToken();
    const line = /^Cannot check GITHUB_TOKEN, so jobs may fail when they push or open pull requests\. GitHub /;
    expect(github.log).toEqual([1, 2, 3].map(() => expect.stringMatching(line)));
  });
});

test("the token is not checked when the service stops", async () => {
  const { pulls, stop, log } = await startGitHubPullRequests();
  stop.abort();
  await expect(pulls.checkToken()).rejects.toThrow("aborted");
  expect(log).toEqual([]);
});

test("finds a merged and a closed pull request on an emulated GitHub", async () => {
  const github = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: { [token]: { login: "acme", scopes: ["repo"] } },
      github: { users: [{ login: "acme" }], repos: [{ owner: "acme", name: "docs", auto_init: true }] },
    },
  });
  try {
    const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const response = await fetch(`${github.url}/repos/acme/docs${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const { object } = (await call("GET", "/git/ref/heads/main")) as { object: { sha: string } };
    const log: string[] = [];
    const repository = { apiUrl: github.url, owner: "acme", name: "docs", token };
    const { signal } = new AbortController();
    const pulls = new GitHubPullRequests({ repository, signal, log: (line) => void log.push(line), secondMs: 1 });
    await pulls.checkToken();
    const refs: ReturnType<typeof ref>[] = [];
    for (const job of ["one", "two", "three"]) {
      const branch = `agent/${job}`;
      await call("POST", "/git/refs", { ref: `refs/heads/${branch}`, sha: object.sha });
      await call("PUT", `/contents/${job}.md`, { message: job, content: "eA==", branch });
      refs.push({ link: await pulls.open({ ...change, branch }), branch, head: "b" });
    }
    expect(await pulls.findClosed(refs)).toEqual(new Set());
    const numbers = refs.map(({ link }) => link.split("/").at(-1));
    await call("PUT", `/pulls/${numbers[0]}/merge`, {});
    await call("PATCH", `/pulls/${numbers[1]}`, { state: "closed" });
    const states = await Promise.all(refs.map(async (one) => (await pulls.read(one)).state));
    expect(states).toEqual(["merged", "closed", "open"]);
    expect(await pulls.findClosed(refs)).toEqual(new Set(refs.slice(0, 2).map(({ link }) => link)));
    expect(log).toEqual([]);
  } finally {
    await github.close();
  }
});
