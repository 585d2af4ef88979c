import { expect, test } from "vitest";
import { type Script, ScriptedEngine } from "../../support/scripted-engine.ts";

async function play(...turns: Script[]) {
  let now = 0;
  const engine = new ScriptedEngine({
    now: () => now,
    newId: () => "job_1",
    script: (_prompt, turn) => turns[turn] ?? {},
  });
  await engine.create("docs", "first");
  const states = async (...times: number[]) => {
    const found: unknown[] = [];
    for (const time of times) {
      now = time;
      found.push((await engine.get("docs", "job_1"))?.status);
    }
    return found;
  };
  const message = () => engine.message("docs", "job_1", "next");
  return { engine, states, message };
}

test.each([
  ["pull-request", "completed", "https://github.com/example/docs/pull/1"],
  ["no-changes", "completed", null],
  ["failed", "failed", null],
  ["archived", "archived", null],
] as const)("%s", async (result, status, prLink) => {
  const { engine, states } = await play({ durationMs: 100, result });
  expect(await states(0, 99, 100)).toEqual(["active", "active", status]);
  expect(await engine.get("docs", "job_1")).toMatchObject({ prLink });
  const archivedAt = result === "archived" ? "1970-01-01T00:00:00.100Z" : null;
  expect(await engine.get("docs", "job_1")).toMatchObject({ archivedAt });
});

test("shows the state from before a message for the length of its lag", async () => {
  const { states, message } = await play({ durationMs: 100 }, { lagMs: 50, durationMs: 100 });
  await states(200);
  expect(await message()).toMatchObject({ status: "completed" });
  expect(await states(249, 250, 349, 350)).toEqual(["completed", "active", "active", "completed"]);
});

test("keeps the pull request if a later message changes nothing", async () => {
  const { engine, states, message } = await play({}, { result: "no-changes", durationMs: 10 });
  await states(1);
  expect(await message()).toMatchObject({ status: "active", prLink: null });
  await states(20);
  expect(await engine.get("docs", "job_1")).toMatchObject({ prLink: expect.stringMatching(/pull\/1$/) });
});

test("finds a job only in its own project", async () => {
  const { engine } = await play({});
  expect(await engine.get("other", "job_1")).toBeUndefined();
  expect(await engine.message("other", "job_1", "x")).toBeUndefined();
  expect(engine.prompts).toEqual(["first"]);
});
