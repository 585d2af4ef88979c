import { describe, expect, test } from "vitest";
import { type FakeGitHubPullRequests, ref, startGitHubPullRequests } from "../../support/github-pull-requests.ts";
import type { ServedResponse } from "../../support/pull-request-server.ts";

describe("a round", () => {
  /** Adds open pull requests, and returns them as the service knows them. */
  const addPulls = ({ server }: FakeGitHubPullRequests, count: number) =>
    Array.from({ length: count }, () => ref(server.link(server.add().number)));
  /** Runs a round a minute after the last one, in one or several parts. Returns its result and its requests. */
  const round = async (
    { server, pulls, clock }: FakeGitHubPullRequests,
    ...parts: readonly (readonly ReturnType<typeof ref>[])[]
  ) => {
    clock.now += 60_000;
    server.requests.length = 0;
    const token = {};
    const closed: string[] = [];
    for (const refs of parts) closed.push(...(await pulls.findClosed(refs, token)));
    return { closed, requests: [...server.requests] };
  };
  const numbered = (requests: readonly string[]) => requests.filter((request) => /\/pulls\/\d+$/.test(request)).length;

  test("asks nothing if there is nothing to ask for", async () => {
    const github = await startGitHubPullRequests();
    expect(await round(github, [])).toEqual({ closed: [], requests: [] });
    expect(await round(github, [ref("http://127.0.0.1:4100/pull/2")])).toEqual({ closed: [], requests: [] });
  });

  test("is one request if nothing was closed, however many are open, and GitHub need not count it", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 250);
    github.server.close(250);
    expect(await round(github, refs)).toMatchObject({ closed: [github.server.link(250)], requests: { length: 4 } });
    const open = refs.slice(0, 249);
    for (let count = 0; count < 3; count++) {
      const { closed, requests } = await round(github, open);
      expect(closed).toEqual([]);
      expect(requests).toHaveLength(1);
      expect(github.server.headers.at(-1)?.["if-none-match"]).toBeDefined();
    }
  });

  test("reads ten pages of open ones, and goes on in the next rounds, which find closed ones meanwhile", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 1050);
    const pages = (requests: readonly string[]) => requests.filter((request) => /[?&]state=open/.test(request)).length;
    const first = await round(github, refs.slice(0, 900));
    expect([pages(first.requests), numbered(first.requests)]).toEqual([10, 0]);
    for (const number of [5, 1020]) github.server.close(number, true);
    const second = await round(github, refs);
    expect(second.closed).toEqual([github.server.link(5), github.server.link(1020)]);
    // One was on the eleventh page before, and is on the tenth now.
    expect([pages(second.requests), numbered(second.requests)]).toEqual([1, 1]);
    const rest = refs.filter((_, index) => index !== 4 && index !== 1019);
    const last = await round(github, rest);
    expect([last.closed, last.requests.length]).toEqual([[], 1]);
  });

  test("finds what was merged or closed since the last one", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 5);
    await round(github, refs);
    github.server.close(2, true);
    github.server.close(4);
    const { closed, requests } = await round(github, refs);
    expect(closed).toEqual([github.server.link(2), github.server.link(4)]);
    expect(requests).toHaveLength(1);
  });

  test("finds more than a page of them, and compares all if there are too many pages", async () => {
    const github = await startGitHubPullRequests();
    let asked = addPulls(github, 900).slice(0, 800);
    const next = async () => {
      const result = await round(github, asked);
      asked = asked.filter(({ link }) => !result.closed.includes(link));
      return { closed: result.closed.length, requests: result.requests.length };
    };
    for (let number = 801; number < 900; number++) github.server.close(number);
    github.server.now += 3_600_000;
    github.server.close(900);
    await next();
    for (let number = 1; number <= 150; number++) github.server.close(number);
    expect(await next()).toEqual({ closed: 150, requests: 2 });
    github.server.now += 3_600_000;
    for (let number = 151; number <= 750; number++) github.server.close(number);
    expect(await next()).toEqual({ closed: 500, requests: 5 });
    expect((await next()).closed).toBe(100);
    expect(await next()).toEqual({ closed: 0, requests: 1 });
  });

  test("reads one by one what was opened since the comparison, or is asked for again after a while", async () => {
    const github = await startGitHubPullRequests();
    const [one] = addPulls(github, 1);
    if (!one) throw new Error("no pull request");
    await round(github, [one]);
    const [two] = addPulls(github, 1);
    if (!two) throw new Error("no pull request");
    expect(numbered((await round(github, [one, two])).requests)).toBe(1);
    expect(numbered((await round(github, [one, two])).requests)).toBe(0);
    // The job of the first runs while its pull request is closed.
    await round(github, [two]);
    github.server.close(1);
    await round(github, [two]);
    const { closed, requests } = await round(github, [one, two]);
    expect(closed).toEqual([one.link]);
    expect(numbered(requests)).toBe(1);
  });

  test("may ask in parts, with the requests of one", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 4);
    await round(github, refs);
    for (const number of [1, 4]) github.server.close(number);
    const added = addPulls(github, 1);
    const { closed, requests } = await round(github, refs.slice(0, 2), refs.slice(2), added);
    expect(closed).toEqual([github.server.link(1), github.server.link(4)]);
    // The list of closed ones, and the new one.
    expect(requests).toHaveLength(2);
  });

  test("finds again what it found before, as long as it is asked", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 2);
    await round(github, refs);
    github.server.close(1);
    for (let count = 0; count < 3; count++) expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
  });

  test("loses no closing if it fails", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 3);
    await round(github, refs.slice(0, 2));
    github.server.close(1);
    let isDown = true;
    github.server.answer = (request) => (isDown && /\/pulls\/3$/.test(request) ? { status: 429 } : undefined);
    // What was found is returned, and here the caller does not get to use it.
    expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
    github.server.answer = () => (isDown ? { status: 500 } : undefined);
    await expect(round(github, refs)).rejects.toThrow("GitHub answered 500");
    isDown = false;
    expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
  });

  test("compares with all open ones every few hours, for what GitHub's list of closed ones did not show", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 2);
    await round(github, refs);
    const hidden = github.server.pulls.get(1);
    if (hidden) hidden.state = "closed";
    github.server.answer = (request) => (request.includes("state=closed") ? { status: 200, body: [] } : undefined);
    github.clock.now += 238 * 60_000;
    expect((await round(github, refs)).closed).toEqual([]);
    expect((await round(github, refs)).closed).toEqual([github.server.link(1)]);
  });

  test("asks only hours later for those that GitHub does not know, for some of many at a time, and logs each once", async () => {
    const github = await startGitHubPullRequests();
    const refs = Array.from({ length: 120 }, (_, index) => ref(github.server.link(1000 + index)));
    const next = async (minutes: number) => {
      github.clock.now += (minutes - 1) * 60_000;
      const { closed, requests } = await round(github, refs.slice(0, 60), refs.slice(60));
      expect(closed).toEqual([]);
      expect(requests.length - numbered(requests)).toBeLessThanOrEqual(2);
      return numbered(requests);
    };
    expect([await next(1), await next(1), await next(1)]).toEqual([100, 20, 0]);
    // The first pause is an hour.
    expect([await next(57), await next(3)]).toEqual([0, 100]);
    expect(github.log).toHaveLength(120);
    expect(github.log[0]).toMatch(
      /^Cannot read the state of \S+\/pull\/1000, treated as open: GitHub answered 404 to GET \/repos\/acme\/docs\/pulls\/1000: Not Found$/,
    );
  });

  test("does not believe a list that says open for closed ones, or closed for open ones", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 2);
    github.server.close(2);
    const item = (number: number, state: string) => ({ html_url: github.server.link(number), state, merged_at: null });
    github.server.answer = (request) => {
      if (request.includes("state=closed")) return { status: 200, body: [item(1, "open")] };
      return request.includes("state=open") ? { status: 200, body: [item(1, "open"), item(2, "closed")] } : undefined;
    };
    expect((await round(github, refs)).closed).toEqual([github.server.link(2)]);
  });

  test("finds the closed ones even if the state of another cannot be read", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 3);
    github.server.close(2);
    github.server.answer = (request) => {
      if (request.includes("state=")) return { status: 200, body: [] };
      return request.endsWith("/pulls/1") ? { status: 500, body: { message: "Oops" } } : undefined;
    };
    const { closed, requests } = await round(github, refs);
    expect(closed).toEqual([github.server.link(2)]);
    expect(numbered(requests)).toBe(3);
    expect(github.log).toEqual([expect.stringMatching(/pull\/1, treated as open: GitHub answered 500 .*Oops/)]);
    // Again after a minute.
    expect(numbered((await round(github, refs)).requests)).toBe(2);
  });

  test("finds all of many that were closed right after many others, although GitHub need not send their page again", async () => {
    const github = await startGitHubPullRequests();
    let asked = addPulls(github, 300);
    const closeNext = async (count: number) => {
      for (const { link } of asked.slice(0, count)) github.server.close(Number(link.split("/").at(-1)));
      const { closed } = await round(github, asked);
      asked = asked.filter(({ link }) => !closed.includes(link));
      return closed.length;
    };
    expect(await closeNext(100)).toBe(100);
    expect(await closeNext(100)).toBe(100);
    // All of them were closed within minutes, so that another answer would lead to more pages.
    expect(await round(github, asked)).toEqual({ closed: [], requests: [expect.stringContaining("page=1")] });
  });

  test("finds all that were closed, although GitHub did not say when others were", async () => {
    const github = await startGitHubPullRequests();
    const [first, ...others] = addPulls(github, 151);
    const undated = { html_url: first?.link, state: "closed", merged_at: null };
    github.server.answer = (request) =>
      request.includes("state=closed") ? { status: 200, body: [undated] } : undefined;
    await round(github, others);
    github.server.answer = () => undefined;
    for (let number = 2; number <= 151; number++) github.server.close(number);
    expect((await round(github, others)).closed).toHaveLength(150);
  });

  /** Answers that no pull request was closed, so that all are read one by one, and each of these with the next answer. */
  const answerEach = ({ server }: FakeGitHubPullRequests, ...answers: (ServedResponse | undefined)[]) => {
    server.answer = (request) => {
      if (request.includes("state=")) return { status: 200, body: [] };
      return /\/pulls\/\d+$/.test(request) ? answers.shift() : undefined;
    };
  };
  const failed = { status: 500, body: { message: "Oops" } };

  test("does not read one again before a pause, whose length depends on the failures since the last success", async () => {
    const github = await startGitHubPullRequests();
    const [closed] = addPulls(github, 1);
    if (!closed) throw new Error("no pull request");
    github.server.close(1);
    answerEach(github, failed, failed, undefined, failed, undefined);
    const found: number[] = [];
    for (let minute = 0; minute < 8; minute++) found.push((await round(github, [closed])).closed.length);
    // After the first failure a minute, then four.
    expect(found).toEqual([0, 0, 0, 0, 0, 1, 0, 1]);
  });

  test("forgets the failures of one that was not asked for in a day", async () => {
    const github = await startGitHubPullRequests();
    const [one, two] = addPulls(github, 2);
    if (!one || !two) throw new Error("no pull requests");
    answerEach(github, failed, failed, undefined, failed);
    for (const asked of [one, one]) await round(github, [asked]);
    github.clock.now += 25 * 3_600_000;
    for (const asked of [two, one]) await round(github, [asked]);
    // It is read at once, and the failure is logged again.
    expect(github.log).toEqual([1, 2].map(() => expect.stringContaining(`Cannot read the state of ${one.link}`)));
  });

  test.each<[string, ServedResponse, string]>([
    ["its rate limit is reached", { status: 429 }, "GitHub answered 429"],
    [
      "it does not respond",
      { status: 200, headers: { "content-length": "1000", connection: "close" } },
      "GitHub did not respond",
    ],
  ])("reads no more from GitHub if %s, but returns what it found", async (_name, answer, message) => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 3);
    answerEach(github, answer);
    await expect(round(github, refs)).rejects.toThrow(message);
    expect(numbered(github.server.requests)).toBe(1);
    github.clock.now += 60_000;
    github.server.close(1);
    answerEach(github, undefined, answer);
    const { closed, requests } = await round(github, refs);
    expect(closed).toEqual([github.server.link(1)]);
    expect(numbered(requests)).toBe(2);
    expect(github.log).toEqual([]);
  });

  test("ends when the service stops, which is not logged as a failure", async () => {
    const github = await startGitHubPullRequests();
    const refs = addPulls(github, 2);
    github.server.answer = (request) => {
      if (request.includes("state=")) return { status: 200, body: [] };
      github.stop.abort();
      return undefined;
    };
    await expect(round(github, refs)).rejects.toThrow("aborted");
    expect(github.log).toEqual([]);
  });

  test.each([
    ["not a list", {}],
    ["not a list of pull requests", [{ html_url: "x" }]],
  ])("fails if GitHub's response is %s", async (_name, body) => {
    const github = await startGitHubPullRequests();
    github.server.answer = () => ({ status: 200, body });
    await expect(github.pulls.findClosed([ref(github.server.link(1))])).rejects.toThrow("not a list of pull requests");
  });
});

describe("the branch of a pull request", () => {
  const [branch, head, dayMs] = ["agent/job_1", "c".repeat(40), 86_400_000];
  const setUp = async () => {
    const github = await startGitHubPullRequests();
    const pull = Object.assign(github.server.add(branch), { sha: head });
    const obsoleteFrom = () => github.pulls.obsoleteFrom({ link: github.server.link(1), branch, head });
    return { ...github, pull, obsoleteFrom };
  };

  test("is obsolete once it is merged, or 30 days after it is closed, but not while it is open", async () => {
    const { server, pull, obsoleteFrom } = await setUp();
    expect(await obsoleteFrom()).toBeUndefined();
    server.close(1);
    expect(await obsoleteFrom()).toBe(server.now + 30 * dayMs);
    pull.state = "open";
    server.close(1, true);
    expect(await obsoleteFrom()).toBe(server.now);
  });

  test.each<[string, (setup: Awaited<ReturnType<typeof setUp>>) => unknown]>([
    ["it has another last commit, which is in no pull request", ({ pull }) => (pull.sha = "d".repeat(40))],
    ["its last commit is unknown", ({ pull }) => Object.assign(pull, { sha: undefined })],
    ["another open one has it, too", ({ server }) => server.add(branch)],
    ["another open one targets it", ({ server }) => (server.add("other").base = branch)],
    ["it has another branch", ({ pull }) => (pull.head = "agent/job_2")],
    ["it is that of another repository", ({ server }) => (server.link = () => "http://127.0.0.1:4100/pull/1")],
  ])("is not obsolete if %s", async (_, prepare) => {
    const setup = await setUp();
    setup.server.close(1, true);
    await prepare(setup);
    expect(await setup.obsoleteFrom()).toBeUndefined();
  });
});
