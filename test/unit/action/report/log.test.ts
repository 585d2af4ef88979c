import { describe, expect, test } from "vitest";
import { key, pollsReturn, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

test("prints the log of a job from start to end", async () => {
  const { toolkit } = await runMain({ respond: pollsReturn(record(), completed) });
  const shown = toolkit.events.filter((event) => !event.startsWith("debug ") && !event.startsWith("output "));
  expect(shown).toEqual([
    "mask",
    "Creating an agent job in project docs at https://api.mintlify.com/ (prompt of 21 characters)",
    "Created job job_1",
    "  status:     active",
    "  model:      model-1",
    "  repository: https://github.com/acme/docs",
    "  ref:        agent/1",
    "group Waiting up to 1 h for job job_1 (poll interval 5.0 s to 15.0 s before jitter)",
    "00:05  active, next poll in 5.0 s",
    "00:10  completed",
    "endgroup",
    `Outcome: pr-created after 10 s: ${prLink}`,
    "The agent finished job job_1 and opened a pull request.",
  ]);
});

test("announces no wait for wait: false with a job-id", async () => {
  const { toolkit } = await runMain({
    inputs: { prompt: "", "job-id": "job_1", wait: "false", "timeout-minutes": "5" },
    respond: () => respondWith(200, record()),
  });
  expect(toolkit.events).toContain(
    "group Reading the state of job job_1 once; failed requests are retried for up to 3 min",
  );
  expect([...toolkit.events, toolkit.summary].filter((text) => text.includes("Waiting"))).toEqual([]);
});

test("prints the size of the prompt, but not the prompt", async () => {
  const prompt = "A secret plan 😀";
  const { toolkit } = await runMain({ inputs: { prompt }, respond: pollsReturn(completed) });
  expect(toolkit.lines[0]).toContain("prompt of 15 characters");
  expect(toolkit.lines.join("\n")).not.toContain("secret plan");
});

test("closes the log group before the outcome, however the wait ends", async () => {
  for (const poll of [respondWith(401), respondWith(200, completed)]) {
    const { toolkit } = await runMain({
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : poll),
    });
    const end = toolkit.events.indexOf("endgroup");
    const outcome = toolkit.events.findIndex((event) => event.startsWith("Outcome: "));
    expect(end).toBeGreaterThan(0);
    expect(outcome).toBeGreaterThan(end);
  }
});

describe("the key", () => {
  const leaks = (run: Awaited<ReturnType<typeof runMain>>) =>
    [...run.toolkit.events, run.toolkit.summary, JSON.stringify(run.outputs)].filter((text) => text.includes(key));

  test("is masked before anything is printed", async () => {
    const { toolkit } = await runMain({ respond: pollsReturn(completed) });
    expect(toolkit.events[0]).toBe("mask");
    expect(toolkit.masks).toEqual([key]);
  });

  test("is never shown if the service echoes it in every field", async () => {
    const fields = { model: key, source: { repository: `x?k=${key}`, ref: key }, createdAt: key, archivedAt: key };
    const run = await runMain({
      respond: pollsReturn(record({ ...fields, status: "archived", prLink: `https://x.example/${key}` })),
    });
    expect(leaks(run)).toEqual([]);
  });

  test.each([400, 401, 429, 500, 302])("is never shown if a %i echoes it", async (status) => {
    const run = await runMain({
      inputs: { "timeout-minutes": "1" },
      respond: () => respondWith(status, { error: `Bad key ${key}` }, { location: `https://x.example/?key=${key}` }),
    });
    expect(leaks(run)).toEqual([]);
  });

  test("with several lines is rejected; only lines long enough to be a key are masked", async () => {
    const run = await runMain({ inputs: { "api-key": `${key}\n}\n` }, respond: pollsReturn(completed) });
    expect(run.toolkit.masks).toEqual([key]);
    const multiline = await runMain({ inputs: { "api-key": `${key}\nab` }, respond: pollsReturn(completed) });
    expect(multiline.toolkit.masks).toEqual([key]);
    expect(multiline.requests).toEqual([]);
    expect(leaks(multiline)).toEqual([]);
  });
});

test("warns if certificates are not verified", async () => {
  const { toolkit } = await runMain({
    respond: pollsReturn(completed),
    environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
  });
  expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "TLS certificates are not verified" }]);
});

test("warns of a file of certificates that does not exist, but not of one that does", async () => {
  const run = (file: string) =>
    runMain({ respond: pollsReturn(completed), environment: { NODE_EXTRA_CA_CERTS: file } });
  const text = "NODE_EXTRA_CA_CERTS is /no/such.pem, which does not exist on this runner, so Node ignores it.";
  expect((await run("/no/such.pem")).toolkit.annotations).toEqual([
    { level: "warning", title: "Certificates are not used", text: expect.stringContaining(text) },
  ]);
  for (const file of [import.meta.filename, ""]) expect((await run(file)).toolkit.annotations).toEqual([]);
});

test("shortens a huge service message, so that the advice still fits", async () => {
  const { toolkit } = await runMain({ respond: () => respondWith(400, { error: "x".repeat(500_000) }) });
  const text = toolkit.annotations[0]?.text ?? "";
  expect(text.length).toBeLessThan(4096);
  expect(text).toContain("No job was started.");
  expect(text).toContain("Change what the service");
});

test("prints one annotation per error", async () => {
  for (const status of [400, 401, 403, 404, 500]) {
    expect((await runMain({ respond: () => respondWith(status) })).toolkit.annotations).toHaveLength(1);
  }
});
