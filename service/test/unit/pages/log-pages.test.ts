import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LogPages } from "../../../src/pages/log-pages.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { MemoryLogs } from "../../support/memory-logs.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What has to be read and sent without time passing is over after this. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("events are never silent for more than a third longer than the longest silence", async () => {
  const machine = new FakeMachine();
  const progress = { state: "active", turns: 1, running: 0 } as const;
  const pages = new LogPages({
    store: { jobs: { find: async () => undefined, progress: async () => progress, projectOf: async () => "docs" } },
    logs: new MemoryLogs(),
    keepAliveMs: 15_000,
    machine,
  });
  const request = { method: "GET", url: "/job/job_1/events", headers: {} } as IncomingMessage;
  const { content } = await pages.showEvents(request, "job_1", async () => true);
  const reader = new AbortController();
  const sent: { atSeconds: number; text: string }[] = [];
  const startedAt = machine.now();
  const reading = (async () => {
    for await (const part of content(reader.signal))
      sent.push({ atSeconds: (machine.now() - startedAt) / 1000, text: String(part) });
  })();
  await settle();
  for (let second = 1; second <= 50; second++) {
    machine.pass(1000);
    vi.advanceTimersByTime(1000);
    await settle();
  }
  reader.abort();
  await reading;
  expect(sent.map(({ text }) => text.split("\n")[0])).toEqual(["event: state", ":", ":", ":"]);
  expect(sent.map(({ atSeconds }) => atSeconds)).toEqual([0, 15, 30, 45]);
});
