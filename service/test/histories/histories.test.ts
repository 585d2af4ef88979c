import { expect, onTestFinished, test } from "vitest";
import { isInPath } from "../../../src/runner-kit/agent-service.ts";
import { skipFor } from "../support/skip-for.ts";
import { token } from "./github.ts";
import { judge } from "./judge.ts";
import { drawPlan, type Plan, smallerPlans } from "./plan.ts";
import { type AttemptRun, type History, playHistory } from "./play.ts";

const obstacle = skipFor(isInPath("curl", process.env.PATH ?? "") ? undefined : "curl is missing");

/** A night whose runner is lost when its work is kept, its re-run, and the next night. */
const plan: Plan = {
  mode: "session",
  cache: "read",
  runs: [
    {
      attempts: [
        { agent: "page", stop: { how: "kill all", at: { on: "before", match: "^push move branch" } } },
        { agent: "page" },
      ],
    },
  ],
};

test.skipIf(obstacle !== undefined)("a history breaks no promise, and the judge sees if one would", async () => {
  const history = await playHistory(plan);
  onTestFinished(() => history.dispose());
  const { attempts, agents } = history;
  expect(judge(history)).toEqual([]);
  expect(attempts.map(({ name, outputs }) => [name, outputs.outcome])).toEqual([
    ["1/1", "error"],
    ["1/2", "pr-created"],
    ["2/1", "pr-created"],
  ]);
  expect(agents.map(({ attempt }) => attempt)).toEqual(["1/1", "2/1"]);

  const kindsOf = (changed: Partial<History>): string[] => [
    ...new Set(judge({ ...history, ...changed }).map(({ kind }) => kind)),
  ];
  const withAttempt = (name: string, changed: Partial<AttemptRun>): string[] =>
    kindsOf({ attempts: attempts.map((attempt) => (attempt.name === name ? { ...attempt, ...changed } : attempt)) });
  const withOutputs = (name: string, changed: Record<string, string>): string[] => {
    const outputs = attempts.find((attempt) => attempt.name === name)?.outputs;
    return withAttempt(name, { outputs: { ...outputs, ...changed } });
  };
  const [first, last] = agents;
  if (!first || !last) throw new Error("no agents");
  const known = { published: new Set([first.id]), kept: new Set([first.id]) };
  const ofFirst = { ...last, run: 1, task: "TASK-r1", ...known };
  expect(kindsOf({ agents: [first, ofFirst] })).toContain("paid twice: published");
  expect(kindsOf({ agents: [first, { ...ofFirst, published: new Set() }] })).toContain("paid twice: kept");
  expect(kindsOf({ agents: [first, { ...last, task: "TASK-r1" }] })).toEqual(["another request's agent"]);
  expect(kindsOf({ agents: [first, { ...last, other: "u1" }] })).toEqual(["two agents of a session at once"]);
  expect(withOutputs("1/2", { "pr-number": "102" })).toEqual(["false pull request"]);
  expect(withOutputs("2/1", { outcome: "no-changes" })).toEqual(["false no-changes", "success without work"]);
  expect(withOutputs("2/1", { outcome: "skipped" })).toEqual(["skipped with an agent"]);
  expect(withOutputs("2/1", { "job-id": "" })).toContain("job is not named");
  expect(withOutputs("2/1", { outcome: "" })).toContain("no outcome");
  expect(withAttempt("2/1", { exitCode: 1 })).toEqual(["exit code", "no healthy end"]);
  expect(withAttempt("2/1", { left: ["copy"], survivors: ["git"] })).toEqual(["leaves processes", "leaves files"]);
  expect(withAttempt("2/1", { log: `::error::not live ${token}\n` })).toEqual(["live text", "secret"]);
  history.github.docs.git("update-ref", "-d", "refs/pull/101/head");
  expect(judge(history).map(({ kind }) => kind)).toContain("work without a pull request");
  history.github.docs.deleteBranch(history.github.pulls[0]?.branch ?? "");
  expect(judge(history).map(({ kind }) => kind)).toEqual(expect.arrayContaining(["lost: kept", "lost: published"]));
});

test("the same seed draws the same history, and smaller ones are other ones", () => {
  for (let seed = 0; seed < 50; seed++) {
    const drawn = drawPlan(seed);
    expect(drawPlan(seed)).toEqual(drawn);
    expect(JSON.parse(JSON.stringify(drawn))).toEqual(drawn);
    for (const smaller of smallerPlans(drawn)) expect(smaller).not.toEqual(drawn);
  }
});
