import { main } from "../../src/action/main.ts";
import type { OwnAgent } from "../../src/action/own-agent.ts";
import type { GitHub } from "../../src/action/runner/github.ts";
import { connectIdTokens } from "../../src/action/runner/id-token.ts";
import { FakeCache } from "./fake-cache.ts";
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
  /** When to cancel the step, in milliseconds since its start. */
  cancelAt?: number;
  environment?: Record<string, string>;
  random?: () => number;
  /** Only used in comment mode. */
  github?: GitHub;
  /** Receives the token of each connection to GitHub. */
  onGitHubToken?: (token: string) => void;
  /** The Actions cache; without one, the runner offers no cache service. */
  cache?: FakeCache;
  /** The agent that runs with the step. Default: none. */
  agent?: OwnAgent;
  /** `GITHUB_RUN_ATTEMPT`. Default: 1. */
  runAttempt?: number;
  /** Called with the clock before anything happens. */
  onClock?: (clock: FakeClock) => void;
}

const noGitHub: GitHub = {
  request: () => Promise.reject(new Error("GitHub is only used in comment mode")),
  paginate: () => Promise.reject(new Error("GitHub is only used in comment mode")),
};

/** Runs the whole action at its ports, with a fake runner, clock and transport. */
export async function runMain({
  inputs,
  respond,
  cancelAt,
  environment,
  random,
  github,
  onGitHubToken = () => {},
  cache,
  agent,
  runAttempt = 1,
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
    connectGitHub: async (token) => {
      onGitHubToken(token);
      return github ?? noGitHub;
    },
    createAgent: async () => agent ?? Promise.reject(new Error("a service runs the agent")),
    connectIdTokens: async (...source) => connectIdTokens(...source),
    connectCache: async () => {
      if (!cache && environment?.ACTIONS_CACHE_URL === undefined) throw new Error("the runner offers no cache service");
      return cache ?? new FakeCache();
    },
    environment: {
      GITHUB_RUN_ATTEMPT: String(runAttempt),
      ...(cache && { ACTIONS_RUNTIME_TOKEN: "token", ACTIONS_CACHE_URL: "http://localhost/" }),
      ...environment,
    },
    signal: cancellation.signal,
  });
  return { hasPassed, toolkit, outputs: toolkit.outputs, clock, requests };
}

/** Returns a job record as the service sends it. */
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

/** An exchange with an immediate response. */
export function respondWith(status: number, body: unknown = "", headers: Record<string, string> = {}): Exchange {
  return { response: { status, body, headers } };
}

export const prLink = "https://github.com/acme/docs/pull/7";

/** A service that accepts the create or message, then returns these records, one per poll; the last one repeats. */
export function pollsReturn(...polls: Record<string, unknown>[]): (request: SeenRequest, index: number) => Exchange {
  let next = 0;
  return ({ method }) => {
    if (method === "POST") return respondWith(201, record());
    const poll = polls[Math.min(next++, polls.length - 1)];
    return respondWith(200, poll);
  };
}
