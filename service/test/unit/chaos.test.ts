import { describe, expect, test } from "vitest";
import { readRuns } from "../chaos/agent.ts";
import { compare, type EndState, lostRequests } from "../chaos/compare.ts";
import type { LostTime } from "../chaos/faults.ts";
import { Random } from "../chaos/random.ts";

const link = "https://agents.example.com/pull/1";

/** A job with two turns that all went well. */
function agreeing() {
  const accepted = { acceptance: "accepted" as const, job: { id: "a", status: "active", prLink: null } };
  const sent = [
    { prompt: "one", submission: accepted, at: 1000 },
    { prompt: "two", submission: accepted, at: 3000 },
  ];
  const turn = { job: "a", state: "completed", attempts: 1, lease: null };
  return {
    sent: [{ project: "docs", id: "a", sent }],
    stored: {
      jobs: [{ id: "a", project: "docs", state: "completed", pullRequest: link, head: "222" }],
      turns: [
        { ...turn, id: 1, identity: "x", prompt: "one", acceptedAs: "create", acceptedAt: 1000 },
        { ...turn, id: 5, identity: "y", prompt: "two", acceptedAs: "message", acceptedAt: 1000 },
      ],
      pullRequests: [{ number: 1, job: "a", branch: "agent/a", head: "222" }],
      queued: 0,
    },
    pushed: new Map([
      [
        "agent/a",
        {
          name: "agent/a",
          head: "222",
          commits: [
            { commit: "111", turn: 1, identity: "x", job: "a", subject: "one" },
            { commit: "222", turn: 5, identity: "y", job: "a", subject: "two" },
          ],
          lines: ["one", "two"],
        },
      ],
    ]),
    emptyJobs: new Map<string, readonly string[]>(),
    runs: readRuns("begin one\nend one\nbegin two\nend two\n"),
    lost: [] as LostTime[],
    wrongPolls: [] as { job: string; text: string }[],
    shown: new Map([["a", { id: "a", status: "completed", prLink: link }]]),
  } satisfies EndState;
}

type Agreeing = ReturnType<typeof agreeing>;

function branchOf({ pushed }: Agreeing) {
  const branch = pushed.get("agent/a");
  if (branch === undefined) throw new Error("no branch");
  return branch;
}

test("finds nothing wrong if everything agrees", () => {
  expect(compare(agreeing())).toEqual([]);
});

test("lets a job be completed without a pull request if one of its turns had failed", () => {
  const state = agreeing();
  Object.assign(state.stored.turns[0] ?? {}, { state: "failed" });
  state.emptyJobs.set("a", ["one"]);
  expect(compare(state)).not.toContainEqual(expect.stringContaining("without a pull request"));
});

test("lets the database lose what was accepted in a time that it lost", () => {
  const state = agreeing();
  state.lost.push({ from: 2500, to: 3000 });
  state.stored.turns.pop();
  const page = { ...state.stored.pullRequests[0], head: "111" };
  Object.assign(state.stored.jobs[0] ?? {}, { head: "111" });
  Object.assign(state.stored.pullRequests[0] ?? {}, page);
  expect(compare(state)).toEqual([]);
  Object.assign(state.sent[0]?.sent[0] ?? {}, { at: 2600 });
  const { jobs, turns, pullRequests } = state.stored;
  for (const rows of [jobs, turns, pullRequests]) rows.pop();
  state.shown.clear();
  state.wrongPolls.push({ job: "a", text: "a: 404" });
  expect(compare(state)).toEqual([]);
  expect(lostRequests(state)).toEqual({ prompts: new Set(["one", "two"]), jobs: new Set(["a"]) });
});

describe("finds that", () => {
  test.each<[string, (state: Agreeing) => void, RegExp]>([
    ["an accepted job is lost", ({ stored }) => void stored.jobs.pop(), /^a was accepted and is not stored$/],
    ["an accepted message is lost", ({ stored }) => void stored.turns.pop(), /^"two" was accepted and is not stored$/],
    [
      "a request was stored twice",
      ({ stored }) => void stored.turns.push({ ...stored.turns[1], id: 6 } as Agreeing["stored"]["turns"][0]),
      /^"two" is stored 2 times \(accepted\)$/,
    ],
    [
      "a rejected request was stored",
      ({ sent }) => Object.assign(sent[0]?.sent[1] ?? {}, { submission: { acceptance: "rejected", reason: "503" } }),
      /^"two" was rejected and is stored$/,
    ],
    [
      "messages are in another order",
      ({ sent }) => void sent[0]?.sent.reverse(),
      /is stored before the turn that was accepted/,
    ],
    [
      "a turn has not ended",
      ({ stored }) => Object.assign(stored.turns[1] ?? {}, { state: "running" }),
      /^a: turn 5 is running$/,
    ],
    [
      "a turn is still owned",
      ({ stored }) => Object.assign(stored.turns[1] ?? {}, { lease: "x/0" }),
      /^a: turn 5 has a lease$/,
    ],
    [
      "a turn was pushed twice",
      (state) => void branchOf(state).commits.push({ commit: "333", turn: 5, identity: "y", job: "a", subject: "two" }),
      /commits are of turns 1, 5, 5$/,
    ],
    ["a completed turn was not pushed", (state) => void branchOf(state).commits.pop(), /commits are of turns 1$/],
    ["commits are in another order", (state) => void branchOf(state).commits.reverse(), /commits are of turns 5, 1$/],
    [
      "a failed turn was pushed",
      ({ stored }) => Object.assign(stored.turns[0] ?? {}, { state: "failed" }),
      /turns 5 have changed something/,
    ],
    [
      "an agent ran twice in a branch",
      (state) => void branchOf(state).lines.push("two"),
      /has the lines "one\ntwo\ntwo"/,
    ],
    [
      "a job has two pull requests",
      ({ stored }) => void stored.pullRequests.push({ number: 2, job: "a", branch: "agent/a", head: "222" }),
      /^a has 2 pull requests, expected 1$/,
    ],
    [
      "a page shows an old commit",
      ({ stored }) => Object.assign(stored.pullRequests[0] ?? {}, { head: "111" }),
      /^a: pull request 1 shows 111/,
    ],
    [
      "the API shows another state",
      ({ shown }) => Object.assign(shown.get("a") ?? {}, { status: "failed" }),
      /^a is completed, the API says failed$/,
    ],
    [
      "a branch has no job",
      ({ pushed }) => void pushed.set("agent/b", { ...branchOf(agreeing()), name: "agent/b", head: "1" }),
      /^agent\/b has no job$/,
    ],
    [
      "a message counts as a create",
      ({ stored }) => Object.assign(stored.turns[1] ?? {}, { acceptedAs: "create" }),
      /^a: turn 5 counts as create, expected message$/,
    ],
    [
      "a message does not count",
      ({ stored }) => Object.assign(stored.turns[1] ?? {}, { acceptedAt: null }),
      /^a: turn 5 does not count$/,
    ],
    [
      "a project had more messages in an hour than the limit allows",
      ({ stored: { turns } }) => {
        for (const message of turns.slice(1)) turns.push(...Array<typeof message>(100).fill(message));
      },
      /^more than 100 messages of docs were accepted in an hour$/,
    ],
    [
      "a job was completed without a pull request",
      ({ emptyJobs }) => void emptyJobs.set("a", ["one"]),
      /^a was completed without a pull request$/,
    ],
    [
      "two agents ran for a turn at the same time",
      ({ runs }) => void runs.beside.push("two"),
      /^two agents ran for "two" at the same time$/,
    ],
    [
      "no agent did what is called completed",
      ({ runs }) => void runs.ended.delete("two"),
      /^a: turn 5 is completed, and no agent has done it$/,
    ],
    ["a poll was wrong", ({ wrongPolls }) => void wrongPolls.push({ job: "a", text: "a: 404" }), /^a: 404$/],
    [
      "a message is lost that was accepted before the database lost anything",
      ({ stored, lost }) => {
        stored.turns.pop();
        lost.push({ from: 3001, to: 5000 });
      },
      /^"two" was accepted and is not stored$/,
    ],
    [
      "a commit is of a turn that is not stored",
      (state) => Object.assign(branchOf(state).commits[1] ?? {}, { identity: "z" }),
      /^a: 222 is of a turn that is not stored$/,
    ],
    [
      "an ended turn is in the queue",
      ({ stored }) => Object.assign(stored, { queued: 1 }),
      /^1 turns are in the queue/,
    ],
  ])("%s", (_, change, expected) => {
    const state = agreeing();
    change(state);
    expect(compare(state)).toContainEqual(expect.stringMatching(expected));
  });
});

test("random numbers are the same for the same seed, and even", () => {
  const draw = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 1000 }, () => random.next());
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  expect(draw(7).reduce((sum, value) => sum + value, 0) / 1000).toBeCloseTo(0.5, 1);
});
