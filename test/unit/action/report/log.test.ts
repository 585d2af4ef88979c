import { describe, expect, test } from "vitest";
import { answer, key, prLink, record, runMain, scripted } from "../../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

test("the log of a job, from start to end", async () => {
  const { toolkit } = await runMain({ respond: scripted(record(), completed) });
  const shown = toolkit.events.filter((event) => !event.startsWith("debug ") && !event.startsWith("output "));
  expect(shown).toEqual([
    "mask",
    "Creating an agent job in project docs at https://api.mintlify.com/ (prompt of 21 characters)",
    "Created job job_1",
    "  status:     active",
    "  model:      model-1",
    "  repository: https://github.com/acme/docs",
    "  ref:        agent/1",
    "group Waiting up to 1 h for job job_1, polling about every 5.0 s to 15.0 s",
    "00:05  active, next poll in 5.0 s",
    "00:10  completed",
    "endgroup",
    `Outcome: pr-created after 10 s: ${prLink}`,
    "The agent finished job job_1 and opened a pull request.",
  ]);
});

test("the prompt's size is shown, the prompt is not", async () => {
  const prompt = "A secret plan 😀";
  const { toolkit } = await runMain({ inputs: { prompt }, respond: scripted(completed) });
  expect(toolkit.lines[0]).toContain("prompt of 15 characters");
  expect(toolkit.lines.join("\n")).not.toContain("secret plan");
});

test("what began a group ends it, however the wait ended", async () => {
  for (const poll of [answer(401), answer(200, completed)]) {
    const { toolkit } = await runMain({ respond: ({ method }) => (method === "POST" ? answer(201, record()) : poll) });
    const end = toolkit.events.indexOf("endgroup");
    const outcome = toolkit.events.findIndex((event) => event.startsWith("Outcome: "));
    expect(end).toBeGreaterThan(0);
    expect(outcome).toBeGreaterThan(end);
  }
});

describe("the key", () => {
  const leaks = (run: Awaited<ReturnType<typeof runMain>>) =>
    [...run.toolkit.events, run.toolkit.summary, JSON.stringify(run.outputs)].filter((text) => text.includes(key));

  test("is masked before anything else", async () => {
    const { toolkit } = await runMain({ respond: scripted(completed) });
    expect(toolkit.events[0]).toBe("mask");
    expect(toolkit.masks).toEqual([key]);
  });

  test("is nowhere, though the service hands it back in every field", async () => {
    const fields = { model: key, source: { repository: `x?k=${key}`, ref: key }, createdAt: key, archivedAt: key };
    const run = await runMain({
      respond: scripted(record({ ...fields, status: "archived", prLink: `https://x.example/${key}` })),
    });
    expect(leaks(run)).toEqual([]);
  });

  test.each([400, 401, 429, 500, 302])("is nowhere, though a %i hands it back", async (status) => {
    const run = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: () => answer(status, { error: `Bad key ${key}` }, { location: `https://x.example/?key=${key}` }),
    });
    expect(leaks(run)).toEqual([]);
  });

  test("of several lines is refused; lines long enough to be a key are masked, short ones are not", async () => {
    const run = await runMain({ inputs: { "api-key": `${key}\n}\n` }, respond: scripted(completed) });
    expect(run.toolkit.masks).toEqual([key]);
    const broken = await runMain({ inputs: { "api-key": `${key}\nab` }, respond: scripted(completed) });
    expect(broken.toolkit.masks).toEqual([key]);
    expect(broken.requests).toEqual([]);
    expect(leaks(broken)).toEqual([]);
  });
});

test("checks of certificates that are turned off draw a warning", async () => {
  const { toolkit } = await runMain({
    respond: scripted(completed),
    environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
  });
  expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "TLS certificates are not verified" }]);
});

test("a message of the service as long as can be leaves room for what to do next", async () => {
  const { toolkit } = await runMain({ respond: () => answer(400, { error: "x".repeat(500_000) }) });
  const text = toolkit.annotations[0]?.text ?? "";
  expect(text.length).toBeLessThan(4096);
  expect(text).toContain("No job was started.");
  expect(text).toContain("Change the prompt");
});

test("each ending leaves one annotation at the most", async () => {
  for (const status of [400, 401, 403, 404, 500]) {
    expect((await runMain({ respond: () => answer(status) })).toolkit.annotations).toHaveLength(1);
  }
});
