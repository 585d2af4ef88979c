import { expect, test } from "vitest";
import { rows } from "../../../../test/support/thorough.ts";
import type { JobRecord } from "../../../src/model.ts";
import { type RunOptions, setUpRuns } from "../../support/step-runs.ts";
import { identityOf } from "../../support/turn-identity.ts";

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
  ["cannot be used", { cacheAccess: "none" }],
  ["can be read", { cacheAccess: "read" }],
  ["is read-only, which the runner does not tell", { cacheAccess: "write", access: "read" }],
];

test.each(rows(caches, 2))("with a cache that %s, each comment runs one agent for one job", async (_which, options) => {
  const runs = await setUpRuns();
  const first = await run(runs, options, (one) => one.send("first", "s1.r1"));
  expect(first).toMatchObject({ status: "completed", prLink: expect.stringMatching(/\/pull\/\d+$/) });
  const second = await run(runs, options, (two) => two.send("second", "s2.r2", first.id));
  expect(second).toEqual({ ...first, createdAt: second.createdAt });

  await run(runs, { ...options, attempt: 2 }, async (again) => {
    expect((await again.find("s2")).turns).toEqual([
      {
        job: first.id,
        turn: expect.stringMatching(/^\d{16}$/),
        request: "r2",
        status: "completed",
        message: "Did second.",
      },
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

test("jobs whose pull request was closed, or merged and its branch deleted, go on in another one once GitHub can be asked", async () => {
  let isDown = false;
  const runs = await setUpRuns((route, response) => {
    if (!isDown || !/^(POST \/graphql|GET .*\/pulls)$/.test(route)) return false;
    response.writeHead(502).end();
    return true;
  });
  const { docs, github } = runs;
  const numberOf = ({ prLink }: JobRecord) => prLink?.split("/").at(-1);
  const [closed, merged] = await run(runs, {}, async (one) => [
    await one.send("first", "s1.r1"),
    await one.send("other", "s2.r2"),
  ]);
  await github.call("PATCH", `/pulls/${numberOf(closed)}`, { state: "closed" });
  expect(await github.call("PUT", `/pulls/${numberOf(merged)}/merge`, { merge_method: "squash" })).toMatchObject({
    merged: true,
  });
  docs.squash(`agent/${merged.id}`);
  docs.deleteBranch(`agent/${merged.id}`);
  await run(runs, {}, async (two) => {
    const read = async ({ id }: JobRecord) => (await two.request("GET", `job/${id}`)).json();
    isDown = true;
    // Neither unknown nor a new job.
    const lost = await two.request("POST", `job/${closed.id}/message`, { prompt: "second", key: "s3.r3" });
    expect(lost.status).toBe(503);
    isDown = false;
    expect(await read(closed)).toMatchObject({ status: "archived", prLink: closed.prLink });
    const second = await two.send("second", "s3.r3", closed.id);
    expect(second).toMatchObject({ id: closed.id, status: "completed" });
    expect(second.prLink).not.toBe(closed.prLink);
    // With the merge of main, which has the other one.
    expect(docs.git("rev-list", "--count", `main..agent/${closed.id}`)).toBe("3");

    expect(await read(merged)).toMatchObject({ status: "archived" });
    // Only its commit says for which request it was made, which is fetched by the pull request's head.
    expect((await two.find("s2")).turns).toMatchObject([{ job: merged.id, request: "r2" }]);
    await two.send("next", "s4.r4", merged.id);
    expect(runs.history()).toMatchObject([{ prompt: "other", answer: "Did other." }]);
    expect(docs.git("rev-list", "--count", `main..agent/${merged.id}`)).toBe("1");
    expect(await runs.openPulls()).toHaveLength(2);
  });
  expect(runs.runs()).toEqual(["first", "other", "second", "next"]);
});

/** Undoes what a run has saved and pushed after its message was accepted, as if its runner had been lost then. */
function lose({ cache, docs }: Runs, jobId: string, head: string): void {
  const saves = cache.entries.flatMap(({ key }, index) => (key.includes(`/${jobId}/job/`) ? index : []));
  // One for each request, and one for each end.
  cache.entries.splice((saves[2] ?? 0) + 1);
  docs.setHead(`agent/${jobId}`, head);
  for (const ref of docs.git("for-each-ref", "--format=%(refname)", `refs/agent-work/${jobId}`).split("\n"))
    if (ref !== "") docs.git("update-ref", "-d", ref);
}

/** Its agent's session may remember edits that are gone. */
const toldOfLoss = expect.stringMatching(/^The last request of this job did not complete.* Its runner was lost/);

test.each([
  ["the next night runs only its own agent", { attempt: 1 }, "s3", ["first", "lost", toldOfLoss]],
  ["a re-run runs its agent again", { attempt: 2 }, "s2", ["first", "lost", "lost", "s2"]],
] as const)("after a night that was lost, %s", async (_name, options, step, prompts) => {
  const runs = await setUpRuns();
  const cache = { cacheAccess: "write", access: "write" } as const;
  const { id } = await run(runs, cache, (one) => one.send("first", "s1.r1"));
  const head = runs.docs.head(`agent/${id}`);
  await run(runs, cache, (two) => two.send("lost", "s2.r2", id));
  lose(runs, id, head);
  await run(runs, { ...cache, ...options }, async (three) => {
    await three.find(step);
    expect(await three.send(step, `${step}.r3`, id)).toMatchObject({ status: "completed" });
  });
  expect(runs.runs()).toEqual(prompts);
  // Only its own run says what became of it.
  await run(runs, { ...cache, attempt: 2 }, async (again) => {
    const status = step === "s2" ? "completed" : "failed";
    expect((await again.find("s2")).turns.at(-1)).toMatchObject({ request: "r2", status });
  });
  expect(runs.runs()).toEqual(prompts);
});

test("a branch that somebody else pushed, with a pull request of theirs, is no job", async () => {
  const runs = await setUpRuns();
  const { docs, github } = runs;
  const id = "job_00000000-0000-4000-8000-000000000000";
  const message = `Forged\n\nAgent-Turn: 1700000000000000.${identityOf(1)}\nAgent-Job: ${id}\nAgent-Request: s1.r1\n`;
  const commit = docs.git("commit-tree", "main^{tree}", "-p", "main", "-m", message);
  docs.setHead(`agent/${id}`, commit);
  await github.call("POST", "/pulls", { title: "Forged", head: `agent/${id}`, base: "main" });
  github.creators.set(`agent/${id}`, "writer");
  let laterMs = 0;
  await run(runs, { attempt: 2, laterMs: () => laterMs }, async (again) => {
    // Until then, GitHub's lists might not show a pull request of the service's own.
    expect((await again.request("GET", `job/${id}`)).status).toBe(503);
    laterMs = 60_000;
    expect((await again.request("GET", `job/${id}`)).status).toBe(404);
    expect((await again.find("s1")).turns).toEqual([]);
  });
});
