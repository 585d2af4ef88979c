import { expect, test } from "vitest";
import { type Script, ScriptedEngine } from "../../support/scripted-engine.ts";

function play(...turns: Script[]) {
  let now = 0;
  const engine = new ScriptedEngine({
    now: () => now,
    newId: () => "job_1",
    script: (_prompt, turn) => turns[turn] ?? {},
  });
  engine.create("docs", "first");
  const states = (...times: number[]) =>
    times.map((time) => {
      now = time;
      return engine.get("docs", "job_1")?.status;
    });
  const message = () => engine.message("docs", "job_1", "next");
  return { engine, states, message };
}

test.each([
  ["pull-request", "completed", "https://github.com/example/docs/pull/1"],
  ["no-changes", "completed", null],
  ["failed", "failed", null],
  ["archived", "archived", null],
] as const)("%s", (result, status, prLink) => {
  const { engine, states } = play({ durationMs: 100, result });
  expect(states(0, 99, 100)).toEqual(["active", "active", status]);
  expect(engine.get("docs", "job_1")).toMatchObject({ prLink });
  expect(engine.get("docs", "job_1")?.archivedAt).toBe(result === "archived" ? "1970-01-01T00:00:00.100Z" : null);
});

test("shows the state from before a message for the length of its lag", () => {
  const { states, message } = play({ durationMs: 100 }, { lagMs: 50, durationMs: 100 });
  states(200);
  expect(message()?.status).toBe("completed");
  expect(states(249, 250, 349, 350)).toEqual(["completed", "active", "active", "completed"]);
});

test("keeps the pull request if a later message changes nothing", () => {
  const { engine, states, message } = play({}, { result: "no-changes", durationMs: 10 });
  states(1);
  expect(message()).toMatchObject({ status: "active", prLink: null });
  states(20);
  expect(engine.get("docs", "job_1")?.prLink).toMatch(/pull\/1$/);
});

test("finds a job only in its own project", () => {
  const { engine } = play({});
  expect(engine.get("other", "job_1")).toBeUndefined();
  expect(engine.message("other", "job_1", "x")).toBeUndefined();
  expect(engine.prompts).toEqual(["first"]);
});
