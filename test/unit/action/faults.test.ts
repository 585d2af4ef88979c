import { describe, expect, test } from "vitest";
import { main, type Ports } from "../../../src/action/main.ts";
import type { Transport } from "../../../src/runner-kit/transport.ts";
import { NetworkError } from "../../../src/runner-kit/transport.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { FakeToolkit } from "../../support/fake-toolkit.ts";
import { fakeTransport } from "../../support/fake-transport.ts";
import { key, record, respondWith, runMain } from "../../support/run-main.ts";

const inputs = { "project-id": "docs", "api-key": key, prompt: "Update the quickstart" };

/** Runs the action with these ports instead of those that work. */
async function runWith({
  toolkit = new FakeToolkit(inputs),
  connect,
}: {
  toolkit?: FakeToolkit;
  connect?: Ports["connect"];
}): Promise<{ hasPassed: boolean; toolkit: FakeToolkit }> {
  const clock = new FakeClock();
  const { transport } = fakeTransport(clock, ({ method }) =>
    respondWith(200, record({ status: method === "POST" ? "active" : "completed" })),
  );
  const hasPassed = await main({
    toolkit,
    clock,
    random: () => 0.5,
    connect: connect ?? (() => transport),
    connectCache: async () => {
      throw new Error("the runner offers no cache service");
    },
    connectGitHub: () => Promise.reject(new Error("GitHub is only used in comment mode")),
    createAgent: () => Promise.reject(new Error("a service runs the agent")),
    connectIdTokens: () => Promise.reject(new Error("the step has a key")),
    environment: {},
    signal: new AbortController().signal,
  });
  return { hasPassed, toolkit };
}

describe("a bug in the action", () => {
  const crash = (transport: Transport) => runWith({ connect: () => transport });

  test("before a job is known: the step fails, says that one may have been started, and prints the stack", async () => {
    const { hasPassed, toolkit } = await crash(() => Promise.reject(new TypeError("x is not a function")));
    expect(hasPassed).toBe(false);
    expect(toolkit.outputs).toMatchObject({ outcome: "error", "job-id": "", "duration-seconds": "0" });
    expect(toolkit.annotations).toEqual([
      {
        level: "error",
        title: "Internal error",
        text: expect.stringMatching(/x is not a function.*A job may have been started\..*Report this bug/s),
      },
    ]);
    expect(toolkit.summary).toContain("Internal error");
    expect(toolkit.events).toContainEqual(expect.stringMatching(/^debug TypeError: x is not a function$/));
  });

  test("after a response in doubt that names a job: its id stays in the outputs", async () => {
    let sent = 0;
    const transport: Transport = async ({ method, url }) => {
      const step = url.searchParams.get("step");
      if (method === "GET") return { status: 200, headers: {}, body: JSON.stringify({ step, turns: [] }) };
      if (sent++ > 0) throw new TypeError("x is not a function");
      return { status: 201, headers: {}, body: '{"id":"job_1","mo' };
    };
    const own = new FakeToolkit({ ...inputs, "base-url": "https://agents.example.com" });
    const { toolkit } = await runWith({ toolkit: own, connect: () => transport });
    expect(toolkit.outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(toolkit.annotations.at(-1)?.text).toContain("Job job_1 may be running.");
  });

  test("before anything was sent: no job was started", async () => {
    const { toolkit } = await runWith({
      connect: () => {
        throw new TypeError("x is not a function");
      },
    });
    expect(toolkit.outputs).toMatchObject({ outcome: "error", "duration-seconds": "" });
    expect(toolkit.annotations[0]?.text).toMatch(/x is not a function\. No job was started\./);
  });

  test("while waiting: names the job and says how to wait for it", async () => {
    const clock = new FakeClock();
    const { transport } = fakeTransport(clock, () => respondWith(201, record()));
    const { hasPassed, toolkit } = await crash((request) =>
      request.method === "POST" ? transport(request) : Promise.reject(new TypeError("x is not a function")),
    );
    expect(hasPassed).toBe(false);
    expect(toolkit.outputs).toMatchObject({ outcome: "error", "job-id": "job_1", status: "active" });
    expect(toolkit.annotations.at(-1)?.text).toMatch(/Job job_1 may be running\..*run the action with job-id job_1/s);
  });
});

test("invalid proxy settings: no job was started", async () => {
  const { hasPassed, toolkit } = await runWith({
    connect: () => {
      throw new NetworkError("the proxy is invalid", { phase: "connecting", reason: "network" });
    },
  });
  expect(hasPassed).toBe(false);
  expect(toolkit.outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(toolkit.annotations).toHaveLength(1);
  expect(toolkit.annotations[0]?.text).toMatch(/the proxy is invalid.*No job was started/s);
});

test("outputs that cannot be written: the step fails and says why, and the job still runs to its end", async () => {
  class FullDisk extends FakeToolkit {
    override setOutput(): void {
      throw new Error("no space left on device");
    }
  }
  const { hasPassed, toolkit } = await runWith({ toolkit: new FullDisk(inputs) });
  expect(hasPassed).toBe(false);
  expect(toolkit.lines).toContainEqual(expect.stringMatching(/^Outcome: no-changes/));
  expect(toolkit.annotations).toContainEqual({
    level: "error",
    title: "Cannot write outputs",
    text: expect.stringContaining("no space left on device"),
  });
});

test("a summary that cannot be written: a warning, and the step passes", async () => {
  class NoSummary extends FakeToolkit {
    override writeSummary(): Promise<void> {
      return Promise.reject(new Error("the summary is too large"));
    }
  }
  const { hasPassed, toolkit } = await runWith({ toolkit: new NoSummary(inputs) });
  expect(hasPassed).toBe(true);
  expect(toolkit.annotations).toContainEqual({
    level: "warning",
    title: "Cannot write the job summary",
    text: expect.stringContaining("the summary is too large"),
  });
});

test("no summary is written if the input says so", async () => {
  const off = await runMain({ inputs: { summary: "false" }, respond: () => respondWith(401) });
  expect(off.toolkit.summary).toBe("");
  const invalid = await runMain({ inputs: { summary: "false", wait: "x" }, respond: () => respondWith(401) });
  expect(invalid.toolkit.summary).toBe("");
});

test("an output that only a skipped comment has is empty", async () => {
  const { outputs } = await runMain({ respond: () => respondWith(401) });
  expect(outputs).toMatchObject({ outcome: "error", "skip-reason": "" });
});

describe("masks", () => {
  const masksOf = async (values: Record<string, string>) =>
    (await runMain({ inputs: values, respond: () => respondWith(401) })).toolkit.masks;

  test.each([
    ["a key is masked without the space around it", " mint_key_01234 \n", ["mint_key_01234"]],
    ["a short key is masked too", "short", ["short"]],
    ["each line of a key is masked", "12345678\r\n\r\nabcdefgh", ["12345678", "abcdefgh"]],
    ["a short line of a key is not: it would hide other words", "12345678\nabcdefg", ["12345678"]],
    ["nothing is masked without a key", "", []],
  ])("%s", async (_name, apiKey, masks) => {
    expect(await masksOf({ "api-key": apiKey })).toEqual(masks);
  });

  test("the GitHub token is masked", async () => {
    expect(await masksOf({ "github-token": " ghs_0123456789 " })).toEqual([key, "ghs_0123456789"]);
  });
});
