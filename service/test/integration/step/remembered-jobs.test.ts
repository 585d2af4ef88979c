import { expect, test } from "vitest";
import { type RunOptions, setUpRuns } from "../../support/step-runs.ts";

/** A run on its own runner, whose service has ended when it returns. */
type Runs = Awaited<ReturnType<typeof setUpRuns>>;
async function run<T>(
  { start }: Runs,
  options: RunOptions,
  use: (run: Awaited<ReturnType<Runs["start"]>>) => Promise<T>,
) {
  await using one = await start(options);
  return await use(one);
}

const caches: [string, RunOptions][] = [
  ["can be written", { cacheAccess: "write", access: "write" }],
  ["can be read", { cacheAccess: "read" }],
  ["cannot be used", { cacheAccess: "none" }],
  ["is read-only, which the runner does not tell", { cacheAccess: "write", access: "read" }],
];

test.each(caches)("with a cache that %s, each comment runs one agent for one job", async (_which, options) => {
  const runs = await setUpRuns();
  const first = await run(runs, options, (one) => one.send("first", "s1.r1"));
  expect(first).toMatchObject({ status: "completed", prLink: expect.stringMatching(/\/pull\/\d+$/) });
  const second = await run(runs, options, (two) => two.send("second", "s2.r2", first.id));
  expect(second).toEqual({ ...first, createdAt: second.createdAt });

  await run(runs, { ...options, attempt: 2 }, async (again) => {
    expect((await again.find("s2")).turns).toEqual([
      { job: first.id, turn: expect.stringMatching(/^\d{16}$/), request: "r2", status: "completed" },
    ]);
    expect(await (await again.request("GET", `job/${first.id}`)).json()).toMatchObject({
      status: "completed",
      prLink: first.prLink,
    });
    // A client that sends again what it sent before.
    const replay = await again.request("POST", `job/${first.id}/message`, { prompt: "second", key: "s2.r2" });
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect((await again.find("s3")).turns).toEqual([]);
  });
  expect(runs.runs()).toEqual(["first", "second"]);
  expect(runs.history()).toEqual([{ prompt: "first", answer: "Did first.", state: "completed" }]);
  expect(runs.session()).toEqual(options.access === "write" ? ["first", "second"] : ["second"]);
  expect(runs.docs.branches()).toEqual([`agent/${first.id}`]);
  expect(await runs.openPulls()).toHaveLength(1);
});

test("a review, whose run writes to a cache of its own, and comments have one job", async () => {
  const runs = await setUpRuns();
  const comment = { cacheAccess: "read" } as const;
  const review = { cacheAccess: "write", access: "write", scope: "refs/pull/2/merge" } as const;
  const { id } = await run(runs, comment, (one) => one.send("first", "s1.r1"));
  await run(runs, review, (two) => two.send("reviewed", "s2.r2", id));
  await run(runs, comment, (three) => three.send("second", "s3.r3", id));
  expect(runs.history().map(({ prompt }) => prompt)).toEqual(["first", "reviewed"]);
  // It saw its own entry, which lacks the turn in between.
  await run(runs, review, (four) => four.send("reviewed again", "s4.r4", id));
  expect(runs.history().map(({ prompt, answer }) => [prompt, answer])).toEqual([
    ["first", "Did first."],
    ["reviewed", "Did reviewed."],
    ["second", "Did second."],
  ]);
  expect(runs.session()).toEqual(["reviewed again"]);
  await run(runs, { ...comment, attempt: 2 }, async (again) => {
    for (const step of ["s1", "s2", "s3", "s4"])
      expect((await again.find(step)).turns).toMatchObject([{ job: id, status: "completed" }]);
  });
  expect(runs.runs()).toEqual(["first", "reviewed", "second", "reviewed again"]);
  expect(await runs.openPulls()).toHaveLength(1);
});
