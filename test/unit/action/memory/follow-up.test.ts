import { expect, test } from "vitest";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import { runComment } from "../../../support/comment-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { FakeClock } from "../../../support/fake-clock.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { type MainOptions, type MainRun, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";
import { completed, completes, earlierReply, threadWith } from "../../../support/thread.ts";

const pullRequest = (state: "open" | "merged" | "closed", letter: string) => ({
  state: state === "open" ? "open" : "closed",
  merged: state === "merged",
  head: { sha: letter.repeat(40) },
});

/** GitHub with the pull request of job_1, and that job's service. */
class FollowedUp implements GitHub {
  state: unknown;
  reads = 0;
  /** What a message makes of it. */
  after: unknown;
  link = prLink;

  constructor(state: unknown, after: unknown = state) {
    this.state = state;
    this.after = after;
  }

  /** What GitHub says of its newest commit. */
  commit: unknown = new Error("Not Found");

  request = async (route: string): Promise<unknown> => {
    this.reads++;
    const answer = route.includes("/git/commits/") ? this.commit : this.state;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  paginate = () => Promise.reject(new Error("not needed"));

  respond = ({ method }: SeenRequest): Exchange => {
    if (method === "GET") return respondWith(200, { ...completed, prLink: this.link });
    this.state = this.after;
    return respondWith(200, record());
  };
}

type Send = (github: FollowedUp, options?: Partial<MainOptions>) => Promise<MainRun>;

const byId: Send = (github, { inputs, ...options } = {}) =>
  runMain({
    github,
    respond: github.respond,
    ...options,
    inputs: { "job-id": "job_1", "github-token": "ghs_0123456789", ...inputs },
    environment: { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "a" },
  });

const inThread: Send = (github, options) => {
  const thread = threadWith(earlierReply("job_1"));
  thread.repository = github;
  return runComment(thread, { respond: github.respond, ...options });
};

const posts = ({ requests }: MainRun): SeenRequest[] => requests.filter(({ method }) => method === "POST");

test.each([
  ["by job-id", byId],
  ["in a thread", inThread],
])("a follow-up %s compares the pull request with the one before it", async (_name, send) => {
  const unreadable = new Error("Not Found");
  const [open, changed, merged, closed] = [
    pullRequest("open", "a"),
    pullRequest("open", "b"),
    pullRequest("merged", "a"),
    pullRequest("closed", "a"),
  ];
  const rows: [before: unknown, after: unknown, outcome: string, title?: string][] = [
    [open, open, "no-changes", "Nothing changed"],
    [open, changed, "pr-created"],
    [merged, merged, "failed", "Not in an open pull request"],
    [closed, closed, "failed", "Not in an open pull request"],
    [closed, changed, "pr-created"],
    [open, unreadable, "error", "Result of the message is unknown"],
    [merged, unreadable, "error", "Result of the message is unknown"],
    // Then nothing can be compared.
    [unreadable, unreadable, "pr-created"],
  ];
  for (const [before, after, outcome, title] of rows) {
    const github = new FollowedUp(before, after);
    const run = await send(github);
    expect(run.outputs).toMatchObject({ outcome, "job-id": "job_1", "pr-link": prLink });
    expect(run.toolkit.annotations.at(-1)?.title).toBe(title);
    expect(posts(run)).toHaveLength(1);
    // The commit is read only if it is another one.
    expect(github.reads).toBe(before instanceof Error ? 1 : after === changed ? 3 : 2);
  }
});

test('a merge of the base by GitHub\'s "Update branch" has nothing of the follow-up', async () => {
  const [before, base, other] = ["a", "e", "f"].map((letter) => ({ sha: letter.repeat(40) }));
  const update = {
    message: "Merge branch 'main' into agent/1",
    parents: [before, base],
    author: { email: "writer@example.com" },
    committer: { name: "GitHub", email: "noreply@github.com" },
    verification: { verified: true, reason: "valid" },
  };
  const rows: [commit: unknown, outcome: string, state?: "merged"][] = [
    [update, "no-changes"],
    [update, "failed", "merged"],
    // Onto a commit of the follow-up, or of several branches.
    [{ ...update, parents: [other, base] }, "pr-created"],
    [{ ...update, parents: [base, before] }, "pr-created"],
    [{ ...update, parents: [before] }, "pr-created"],
    [{ ...update, parents: [before, base, other] }, "pr-created"],
    // By an agent, also with GitHub's address or signature, or by a merge of the agent's own pull request.
    [{ ...update, committer: { name: "Agent", email: "agent@example.com" } }, "pr-created"],
    [{ ...update, verification: { verified: false, reason: "unsigned" } }, "pr-created"],
    [{ ...update, message: `${update.message}\n\nAgent-Job: job_1` }, "pr-created"],
    [{ ...update, message: "Merge pull request #8 from acme/agent-2" }, "pr-created"],
    [new Error("Not Found"), "pr-created"],
    [{}, "pr-created"],
  ];
  for (const [commit, outcome, state = "open"] of rows) {
    const github = new FollowedUp(pullRequest(state, "a"), pullRequest(state, "b"));
    github.commit = commit;
    const { outputs } = await byId(github);
    expect([outputs.outcome, github.reads], JSON.stringify(commit)).toEqual([outcome, 3]);
  }
});

test("says of a merged pull request that it has nothing of the request, and how to get a new one", async () => {
  const github = () => new FollowedUp(pullRequest("merged", "a"));
  const [{ text } = { text: "" }] = (await byId(github(), { cache: new FakeCache() })).toolkit.annotations;
  expect(text).toBe(
    "The agent finished its turn of job job_1. The job's pull request is merged, and has nothing of this request.\nIf the agent changed something, look for it in the dashboard. To start a new job, run the action with a prompt and no job-id.",
  );
  const { toolkit } = await inThread(github());
  expect(toolkit.annotations.at(-1)?.text).toContain("To start another job, comment /agent new ….");
});

test("another pull request of the job is the result", async () => {
  const github = new FollowedUp(pullRequest("merged", "a"));
  const { outputs } = await byId(github, {
    respond: (request) => {
      if (request.method === "POST") github.link = "https://github.com/acme/docs/pull/8";
      return github.respond(request);
    },
  });
  expect(outputs).toMatchObject({ outcome: "pr-created", "pr-number": "8" });
});

test("a re-run compares it with the one before the message, too", async () => {
  for (const [state, outcome] of [
    ["open", "no-changes"],
    ["merged", "failed"],
  ] as const) {
    const github = new FollowedUp(pullRequest(state, "a"));
    const cache = new FakeCache();
    for (const runAttempt of [1, 2]) {
      const run = await byId(github, { cache, runAttempt });
      expect(run.outputs.outcome).toBe(outcome);
      expect(posts(run)).toHaveLength(runAttempt === 1 ? 1 : 0);
    }
  }
});

test("so does one in a thread, whose reply remembers that", async () => {
  for (const [state, outcome] of [
    ["open", "no-changes"],
    ["merged", "failed"],
  ] as const) {
    for (const wait of ["true", "false"]) {
      const github = new FollowedUp(pullRequest(state, "a"));
      const thread = threadWith(earlierReply("job_1"));
      thread.repository = github;
      const outcomes: unknown[] = [];
      for (const runAttempt of [1, 2]) {
        const inputs = { wait: runAttempt === 1 ? wait : "true" };
        const respond = ({ method, at, ...request }: SeenRequest): Exchange => {
          // A step that does not wait sees that the agent works.
          if (runAttempt === 1 && wait === "false" && method === "GET" && posted) return respondWith(200, record());
          posted ||= method === "POST";
          return github.respond({ method, at, ...request });
        };
        let posted = false;
        outcomes.push((await runComment(thread, { respond, runAttempt, inputs })).outputs.outcome);
      }
      expect(outcomes).toEqual([wait === "true" ? outcome : "started", outcome]);
    }
  }
});

test("a re-run compares again what could not be compared, and sends nothing", async () => {
  for (const isInThread of [false, true]) {
    for (const [letter, outcome] of [
      ["a", "no-changes"],
      ["b", "pr-created"],
    ] as const) {
      const github = new FollowedUp(pullRequest("open", "a"), new Error("rate limit"));
      const [cache, thread] = [new FakeCache(), threadWith(earlierReply("job_1"))];
      thread.repository = github;
      const attempt = (runAttempt: number): Promise<MainRun> =>
        isInThread ? runComment(thread, { respond: github.respond, runAttempt }) : byId(github, { cache, runAttempt });
      const first = await attempt(1);
      expect([first.outputs.outcome, first.hasPassed]).toEqual(["error", false]);
      expect(first.toolkit.annotations.at(-1)?.text).toBe(
        "Job job_1 is completed. Its pull request could not be read again, so it is unknown whether that has anything of the message.\nLook at its pull request. To compare it again, re-run this workflow run: nothing is sent again.",
      );
      const second = await attempt(2);
      expect([second.outputs.outcome, posts(second)]).toEqual(["error", []]);
      github.state = pullRequest("open", letter);
      const third = await attempt(3);
      expect([third.outputs.outcome, posts(third)]).toEqual([outcome, []]);
    }
  }
});

test("a step that is cancelled while it compares is cancelled, and its re-run compares again", async () => {
  const open = pullRequest("open", "a");
  const github = new FollowedUp(open);
  const cache = new FakeCache();
  let clock: FakeClock | undefined;
  const slow: GitHub = {
    ...github,
    request: async (_route, _parameters, { signal }) => {
      if (github.reads++ === 0) return open;
      await clock?.sleep(600_000, signal);
      throw new Error("the step was cancelled");
    },
  };
  const onClock = (one: FakeClock): void => {
    clock = one;
  };
  const cancelled = await byId(github, { github: slow, cache, cancelAt: 300_000, onClock });
  expect([cancelled.outputs.outcome, github.reads]).toEqual(["cancelled", 2]);
  expect(cancelled.toolkit.annotations.at(-1)?.text).toBe(
    "The step was cancelled. Job job_1 had already reached the status completed.\nTo read its result, re-run this workflow run: nothing is sent again, unless the job fails.",
  );
  const { outputs, requests } = await byId(github, { cache, runAttempt: 2 });
  expect(outputs.outcome).toBe("no-changes");
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("a follow-up that timed out is waited for by a re-run, which compares, rather than by its job's id", async () => {
  for (const cache of [new FakeCache(), undefined]) {
    const github = new FollowedUp(pullRequest("open", "a"));
    let isSent = false;
    const respond = (request: SeenRequest): Exchange => {
      isSent ||= request.method === "POST";
      return isSent ? respondWith(200, record()) : github.respond(request);
    };
    const options = cache && { cache };
    const { outputs, toolkit } = await byId(github, { ...options, respond });
    expect(outputs.outcome).toBe("timed-out");
    const advice = cache
      ? "To wait for it, re-run this workflow run: nothing is sent again"
      : "To wait for it, run the action with job-id job_1 and no prompt, which does not see what the message changed.";
    expect(toolkit.annotations.at(-1)?.text).toContain(advice);
    if (cache) expect((await byId(github, { cache, runAttempt: 2 })).outputs.outcome).toBe("no-changes");
  }
});

test.each<[string, Exchange]>([
  ["fails", respondWith(500)],
  ["is not found", respondWith(404, { error: "Job not found" })],
  ["takes long", { responseMs: 60_000 }],
])("a job whose record %s gets its message, ten seconds later at most", async (_name, before) => {
  let isSent = false;
  const github = new FollowedUp(pullRequest("merged", "a"));
  const run = await byId(github, {
    respond: (request) => {
      isSent ||= request.method === "POST";
      return isSent ? completes(request) : before;
    },
  });
  expect(posts(run).map(({ at }) => at <= 10_000)).toEqual([true]);
  expect(run.outputs.outcome).toBe("pr-created");
  expect(github.reads).toBe(0);
});

test("a step that is cancelled while it looks sends nothing", async () => {
  const github = new FollowedUp(pullRequest("open", "a"));
  const run = await byId(github, { cancelAt: 1000, respond: () => ({ responseMs: 60_000 }) });
  expect(posts(run)).toEqual([]);
  expect(run.outputs.outcome).toBe("cancelled");
});

test("without a token for GitHub, nothing is read before a message", async () => {
  const github = new FollowedUp(pullRequest("merged", "a"));
  const { requests, outputs } = await byId(github, { inputs: { "github-token": "" } });
  expect(requests[0]?.method).toBe("POST");
  expect([outputs.outcome, github.reads]).toEqual(["pr-created", 0]);
});
