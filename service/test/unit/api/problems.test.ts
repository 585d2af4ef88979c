import { expect, test } from "vitest";
import { Problems } from "../../../src/api/problems.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import type { Census } from "../../../src/model.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

const idle: Census = {
  jobs: { active: 0, completed: 0, failed: 0, archived: 0 },
  turns: { waiting: 0, running: 0 },
  ...{ expiredLeases: 0, takeableTurns: 0, oldestWaitingSeconds: 0 },
};

function setUp() {
  const machine = new FakeMachine();
  const lines: string[] = [];
  const metrics = new PrometheusMetrics(machine);
  const problems = new Problems((line) => lines.push(line), metrics, machine);
  const gauges = async () =>
    (await metrics.render(undefined)).split("\n").filter((line) => line.startsWith("agent_service_problem"));
  return { machine, lines, problems, gauges };
}

test("a problem is known with its time as long as it lasts, and logged once", async () => {
  const { machine, lines, problems, gauges } = setUp();
  problems.gitHubAnswered(200, "docs");
  problems.modelAnswered(200, "KEY");
  expect([problems.current, lines, await gauges()]).toEqual([{}, [], []]);
  const at = machine.wallTime();
  problems.gitHubAnswered(undefined, "docs");
  machine.pass(5000);
  problems.gitHubAnswered(502, "docs");
  problems.modelAnswered(401, "KEY");
  // The agent's own mistake says nothing about its key.
  problems.modelAnswered(400, "KEY");
  const since = (time: number) => new Date(time).toISOString();
  expect(problems.current).toEqual({
    github: { problem: "GitHub's API does not answer, or with an error of its own", since: since(at) },
    model: { problem: "a model's API refuses the key of an agent", since: since(at + 5000) },
  });
  expect(await gauges()).toEqual([
    `agent_service_problem_since_timestamp_seconds{problem="github"} ${at / 1000}`,
    `agent_service_problem_since_timestamp_seconds{problem="model"} ${(at + 5000) / 1000}`,
  ]);
  // An answer, although it is a refusal.
  problems.gitHubAnswered(404, "docs");
  problems.modelAnswered(200, "KEY");
  expect([problems.current, await gauges()]).toEqual([{}, []]);
  expect(lines).toHaveLength(4);
  problems.modelAnswered(403, "KEY");
  expect(Object.keys(problems.current)).toEqual(["model"]);
});

test("one that works does not hide that another is refused", () => {
  const { lines, problems } = setUp();
  problems.gitHubAnswered(undefined, "docs");
  problems.gitHubAnswered(401, "docs");
  problems.modelAnswered(401, "KEY");
  problems.gitHubAnswered(200, "site");
  problems.modelAnswered(200, "OTHER_KEY");
  const since = expect.anything();
  expect(problems.current).toEqual({
    github: { problem: "GitHub's API refuses the token", since },
    model: { problem: "a model's API refuses the key of an agent", since },
  });
  expect(lines).toHaveLength(4);
});

test.each<[string, Partial<Census>, string[]]>([
  ["waits for long while nothing runs", { takeableTurns: 1, oldestWaitingSeconds: 301 }, ["turns"]],
  [
    "waits for a free place",
    { ...{ takeableTurns: 1, oldestWaitingSeconds: 301 }, turns: { waiting: 1, running: 1 } },
    [],
  ],
  ["has just come", { takeableTurns: 1, oldestWaitingSeconds: 300 }, []],
  ["runs without a worker that responds", { expiredLeases: 1, turns: { waiting: 0, running: 1 } }, ["leases"]],
])("looks in the store for a turn that %s", async (_, census, found) => {
  const { machine, problems } = setUp();
  const stop = new AbortController();
  const states = [{ ...idle, ...census }, new Error("the store is away"), idle];
  const seen: string[][] = [];
  machine.sleep = async () => {
    seen.push(Object.keys(problems.current));
    if (states.length === 0) stop.abort();
  };
  await problems.watch(async () => {
    const next = states.shift();
    if (next === undefined || next instanceof Error) throw next;
    return next;
  }, stop.signal);
  expect(seen).toEqual([found, found, []]);
});
