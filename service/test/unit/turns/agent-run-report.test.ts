import { expect, onTestFinished, test } from "vitest";
import type { AgentReport } from "../../../src/agents/agent-report.ts";
import type { AgentCost } from "../../../src/metrics/metrics.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { type AgentRun, reportOf } from "../../../src/turns/agent-run-report.ts";

async function setUp() {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
  const costs: AgentCost[] = [];
  const log: string[] = [];
  const ports = {
    store,
    agent: { kind: "claude" },
    secrets: [{ name: "KEY", value: "sk-verysecret$&1" }],
    metrics: { agentCost: (cost: AgentCost) => void costs.push(cost) },
    log: (text: string) => void log.push(text),
  };
  let last: RunningTurn | undefined;
  const start = async () => {
    last = await store.runningTurns.startNext();
    if (last === undefined) throw new Error("no turn is ready");
    return last;
  };
  /** Runs the agent of the next turn, or again the agent of a turn that has started. */
  const run = async (report: Partial<AgentReport>, rest: Partial<AgentRun> = {}, turn = start()) => {
    const { job } = await turn;
    const turns = await store.turns.ofJob(job);
    const earlierUsd = await store.runningTurns.countAttempt(await turn);
    const isFollowUp = (await turn).id > 1;
    const all = { report: { message: undefined, error: undefined, ...report }, project: "docs", isFollowUp };
    const stored = await reportOf(await turn, { ...all, earlierUsd, ...rest }, { ...ports, turns });
    await store.runningTurns.setReport(await turn, stored);
    return stored.answer;
  };
  /** Runs the agent of a further turn. */
  const runMore = async (report: Partial<AgentReport>, rest: Partial<AgentRun> = {}) => {
    if (last !== undefined) await store.runningTurns.finish(last, "completed", 1);
    await store.turns.add("a", "More", 0);
    return run(report, rest);
  };
  const stored = async () => (await store.turns.ofJob("a")).map(({ answer, costUsd }) => ({ answer, costUsd }));
  return { store, costs, log, start, run, runMore, stored };
}

test("what an agent said is stored without secrets, and what it cost is counted and logged", async () => {
  const { run, stored, costs, log } = await setUp();
  const base64 = Buffer.from("key=sk-verysecret$&1").toString("base64");
  const message = `ü\0 The key is sk-verysecret$&1 or SK-VERYSECRET%24%261, in ${base64}. ✓`;
  const said = await run({ message, costUsd: 0.0123 });
  expect(said).toMatch(/^ü\u{FFFD} The key is \*\*\* or \*\*\*, in [\w+/]*\*\*\*[=\w]*\. ✓$/u);
  expect(await stored()).toEqual([{ answer: said, costUsd: 0.0123 }]);
  expect(costs).toEqual([{ project: "docs", agent: "claude", costUsd: 0.0123 }]);
  expect(log).toEqual(["Cost, by the agent's own estimate: $0.0123."]);
});

test("the model that an agent says it uses becomes the job's, cut and without secrets, until another one does", async () => {
  const { run, runMore, store } = await setUp();
  const model = async () => (await store.jobs.find("a"))?.model;
  await run({ usedModel: "opus sk-verysecret$&1, Claude Code 2.1.330" });
  expect(await model()).toBe("opus ***, Claude Code 2.1.330");
  await runMore({ message: "Done." });
  expect(await model()).toBe("opus ***, Claude Code 2.1.330");
  await runMore({ usedModel: "x".repeat(1000) });
  expect(await model()).toBe("x".repeat(200));
});

test.each([undefined, -0.01, Number.NaN, Number.POSITIVE_INFINITY, 1000.01])(
  "the cost %s is unknown",
  async (costUsd) => {
    const { run, stored, costs, log } = await setUp();
    expect(await run({ message: "Done.", costUsd })).toBe("Done.");
    expect(await stored()).toEqual([{ answer: "Done.", costUsd: -1 }]);
    expect(costs).toEqual([{ project: "docs", agent: "claude", costUsd: undefined }]);
    expect(log).toEqual([]);
  },
);

test("a turn that is run again forgets what was said, and costs what both agents did", async () => {
  const { start, run, stored } = await setUp();
  const turn = start();
  await run({ message: "First.", costUsd: 1.5 }, {}, turn);
  await run({ costUsd: 2 }, {}, turn);
  expect(await stored()).toEqual([{ answer: null, costUsd: 3.5 }]);
});

test("a turn costs an unknown amount if an agent of it was interrupted", async () => {
  const { store, start, run, stored } = await setUp();
  const turn = start();
  expect(await store.runningTurns.countAttempt(await turn)).toBe(0);
  expect(await stored()).toEqual([{ answer: null, costUsd: -1 }]);
  await run({ message: "Done.", costUsd: 2 }, {}, turn);
  expect(await stored()).toEqual([{ answer: "Done.", costUsd: -1 }]);
});

test("a session that is continued counts on, so the turn costs the difference", async () => {
  const { run, runMore, costs } = await setUp();
  const inSession = (session: string, totalUsd: number) => ({ sessionCost: { session, totalUsd } });
  await run(inSession("s", 0.1));
  await runMore(inSession("s", 0.3));
  // An agent that was killed has said nothing; the next one says it all.
  await runMore({});
  await runMore(inSession("s", 1.3));
  // The session was lost.
  await runMore(inSession("t", 0.4), { isFollowUp: false });
  // It is not known what it had cost before.
  await runMore(inSession("u", 5));
  // It does not count on after all.
  await runMore(inSession("t", 0.2));
  expect(costs.map(({ costUsd }) => costUsd)).toEqual([0.1, 0.2, undefined, 1, 0.4, undefined, undefined]);
});
