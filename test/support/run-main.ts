import { main } from "../../src/action/main.ts";
import type { GitHub } from "../../src/action/runner/github.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeToolkit } from "./fake-toolkit.ts";
import { type Exchange, fakeTransport, type SeenRequest } from "./fake-transport.ts";

export const key = "mint_test_key_0123456789";

export interface MainRun {
  hasPassed: boolean;
  toolkit: FakeToolkit;
  outputs: Record<string, string>;
  clock: FakeClock;
  requests: SeenRequest[];
}

export interface MainOptions {
  inputs?: Record<string, string>;
  respond: (request: SeenRequest, index: number) => Exchange;
  /** When the step is cancelled, in milliseconds since its start. */
  cancelAt?: number;
  environment?: Record<string, string>;
  random?: () => number;
  /** For comment mode. */
  github?: GitHub;
  /** Is given the clock before anything happens. */
  onClock?: (clock: FakeClock) => void;
}

const noGitHub: GitHub = { request: () => Promise.reject(new Error("no comment, no GitHub")) };

/** Runs the whole action at its ports: a fake runner, a fake clock and a fake way to the service. */
export async function runMain({
  inputs,
  respond,
  cancelAt,
  environment,
  random,
  github,
  onClock,
}: MainOptions): Promise<MainRun> {
  const clock = new FakeClock();
  onClock?.(clock);
  const cancellation = new AbortController();
  if (cancelAt === 0) cancellation.abort();
  else if (cancelAt !== undefined) clock.at(cancelAt, () => cancellation.abort());
  const { transport, requests } = fakeTransport(clock, respond);
  const defaults = { "project-id": "docs", "api-key": key, prompt: "Update the quickstart" };
  const toolkit = new FakeToolkit({ ...defaults, ...inputs });
  const hasPassed = await main({
    toolkit,
    clock,
    random: random ?? (() => 0.5),
    connect: () => transport,
    connectGitHub: async () => github ?? noGitHub,
    environment: environment ?? {},
    signal: cancellation.signal,
  });
  return { hasPassed, toolkit, outputs: toolkit.outputs, clock, requests };
}

/** A job record as the service gives it. */
export function record(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: "job_1",
    status: "active",
    source: { repository: "https://github.com/acme/docs", ref: "agent/1" },
    model: "model-1",
    prLink: null,
    createdAt: "2026-01-01T00:00:00Z",
    archivedAt: null,
    ...fields,
  };
}

/** An exchange that answers at once. */
export function answer(status: number, body: unknown = "", headers: Record<string, string> = {}): Exchange {
  return { answer: { status, body, headers } };
}

export const prLink = "https://github.com/acme/docs/pull/7";

/** A service that takes the create or message and then gives these records, one a poll, the last for ever. */
export function scripted(...polls: Record<string, unknown>[]): (request: SeenRequest, index: number) => Exchange {
  let next = 0;
  return ({ method }) => {
    if (method === "POST") return answer(201, record());
    const poll = polls[Math.min(next++, polls.length - 1)];
    return answer(200, poll);
  };
}
