import { expect, test } from "vitest";
import { main, type Ports } from "../../../src/action/main.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { FakeToolkit } from "../../support/fake-toolkit.ts";
import { fakeTransport } from "../../support/fake-transport.ts";
import { outputNames } from "../../support/metadata.ts";
import { key, record, respondWith } from "../../support/run-main.ts";

class Bug extends Error {}

function bug(): never {
  throw new Bug("this is a bug");
}

/** Runs the step with a bug in one of its ports; the service accepts the create and then reports an active job. */
async function runWith(changes: (ports: Ports, toolkit: FakeToolkit) => Partial<Ports>) {
  const clock = new FakeClock();
  const toolkit = new FakeToolkit({ "project-id": "docs", "api-key": key, prompt: "Do it" });
  const { transport } = fakeTransport(clock, ({ method }) => respondWith(method === "POST" ? 201 : 200, record()));
  const ports: Ports = {
    toolkit,
    clock,
    random: () => 0.5,
    connect: () => transport,
    connectCache: bug,
    connectGitHub: bug,
    connectIdTokens: bug,
    createAgent: bug,
    environment: {},
    signal: new AbortController().signal,
  };
  const hasPassed = await main({ ...ports, ...changes(ports, toolkit) });
  return { hasPassed, toolkit };
}

test.each<[string, string, string, Parameters<typeof runWith>[0]]>([
  [
    "while the inputs are read",
    "",
    "No job was started.",
    (_ports, toolkit) => {
      const input = toolkit.input.bind(toolkit);
      toolkit.input = (name) => (name === "wait" ? bug() : input(name));
      return {};
    },
  ],
  ["before the create", "", "No job was started.", () => ({ connect: bug })],
  ["while the create is sent", "", "A job may have been started.", () => ({ connect: () => bug })],
  ["after the create", "job_1", "Job job_1 may be running.", () => ({ random: bug })],
  [
    "while it waits",
    "job_1",
    "Job job_1 may be running.",
    ({ clock }) => ({ clock: { now: () => clock.now(), wallTime: () => clock.wallTime(), sleep: bug } }),
  ],
])("a bug %s ends the step as an error, and says whether a job is running", async (_name, jobId, text, changes) => {
  const { hasPassed, toolkit } = await runWith(changes);
  expect(hasPassed).toBe(false);
  expect(Object.keys(toolkit.outputs).sort()).toEqual(outputNames().sort());
  expect(toolkit.outputs).toMatchObject({ outcome: "error", "job-id": jobId });
  expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Internal error" }]);
  expect(toolkit.annotations[0]?.text).toContain(`The action itself failed: this is a bug. ${text}`);
  expect(toolkit.summary).toContain("Internal error");
  expect(toolkit.events.some((event) => event.startsWith("debug ") && event.includes("crash.test.ts"))).toBe(true);
});
