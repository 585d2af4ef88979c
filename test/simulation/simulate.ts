import { main } from "../../src/action/main.ts";
import { NetworkError } from "../../src/client/errors.ts";
import type { Transport } from "../../src/client/transport.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { FakeToolkit } from "../support/fake-toolkit.ts";
import { fakeTransport } from "../support/fake-transport.ts";
import type { Scenario } from "./scenario.ts";
import { jobId, World } from "./world.ts";

export const key = "mint_simulated+key/0123456789";

/** What the step did in a simulated run, and what really happened. */
export interface Run {
  hasPassed: boolean;
  toolkit: FakeToolkit;
  world: World;
  /** From the start of the step to its end, in milliseconds. */
  durationMs: number;
}

/** Runs the whole of `main` through a scenario. */
export async function simulate(scenario: Scenario): Promise<Run> {
  const clock = new FakeClock();
  const world = new World(clock, scenario, key);
  const cancellation = new AbortController();
  for (const at of scenario.signalsAt) clock.at(at, () => cancellation.abort());
  clock.advance(0);
  const { transport } = fakeTransport(clock, (request) => world.respond(request));
  const observed: Transport = async (request) => {
    try {
      const response = await transport(request);
      world.observe(request.method, response);
      return response;
    } catch (error) {
      if (error instanceof NetworkError) world.observe(request.method, error);
      throw error;
    }
  };
  const toolkit = new FakeToolkit(inputsOf(scenario));
  let draws = 0;
  const hasPassed = await main({
    toolkit,
    clock,
    random: () => scenario.randomNumbers[draws++ % scenario.randomNumbers.length] ?? 0,
    connect: () => observed,
    connectCache: () => {
      throw new Error("the runner offers no cache service");
    },
    connectGitHub: () => Promise.reject(new Error("GitHub is only used in comment mode")),
    environment: {},
    signal: cancellation.signal,
  });
  return { hasPassed, toolkit, world, durationMs: clock.elapsedMs };
}

function inputsOf(scenario: Scenario): Record<string, string> {
  return {
    "project-id": "docs",
    "api-key": key,
    prompt: scenario.task === "attach" ? "" : "Update the quickstart",
    "job-id": scenario.task === "create" ? "" : jobId,
    wait: String(scenario.wait),
    "timeout-minutes": String(scenario.timeoutSeconds / 60),
    "poll-interval-seconds": String(scenario.minSeconds),
    "max-poll-interval-seconds": String(scenario.maxSeconds),
    "fail-on": scenario.failOn,
  };
}
