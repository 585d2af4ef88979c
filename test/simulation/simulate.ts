import { main, type Ports } from "../../src/action/main.ts";
import type { FakeGitHub } from "../support/fake-github.ts";
import { isRemembered, simulatedGitHub, simulatedThread } from "./github.ts";
import { type ServiceRequest, simulatedTransport } from "./network.ts";
import { SimulatedProcess } from "./process.ts";
import type { Attempt, Exchange, GitHubExchange, Kill, Scenario } from "./scenario.ts";
import { SimulatedService } from "./service.ts";
import { FaultInjector, SimulatedRunner } from "./step.ts";
import { order, Timeline } from "./timeline.ts";
import { commentEnvironment, inputsOf, key } from "./workflow.ts";

/** What the step did in one run attempt, and what really happened. Times of the timeline. */
export interface AttemptRun {
  /** `crashed`: `main` rejected, so the step fails. `stuck`: it never ended. */
  end: "passed" | "failed" | "crashed" | "killed" | "stuck";
  runner: SimulatedRunner;
  requests: ServiceRequest[];
  startedAt: number;
  /** When the first request was sent, to the service or to GitHub. */
  firstRequestAt: number | undefined;
  endedAt: number;
  /** When the process received the first signal. */
  signalAt: number | undefined;
  /** When the last turn of the job in the outputs ends, as of the end of the attempt; `undefined` without a job. */
  jobEndsAt: number | undefined;
  /** Comment mode: when the attempt began, the thread remembered what an earlier one sent, or was about to send. */
  isRemembered: boolean;
  hasInternalFault: boolean;
  /** Ids of jobs that were not in the outputs as soon as their response had arrived. */
  lateIds: string[];
}

/** A whole simulated history: all attempts of a workflow run. */
export interface History {
  scenario: Scenario;
  attempts: AttemptRun[];
}

/** The world that all attempts share. */
interface World {
  scenario: Scenario;
  timeline: Timeline;
  service: SimulatedService;
  thread: FakeGitHub | undefined;
}

/** Runs the whole of `main` through a scenario, once for each of its attempts. */
export async function simulate(scenario: Scenario): Promise<History> {
  const timeline = new Timeline();
  const service = new SimulatedService(timeline, scenario);
  const thread = scenario.mode.kind === "comment" ? simulatedThread(scenario.mode) : undefined;
  const world = { scenario, timeline, service, thread };
  const attempts: AttemptRun[] = [];
  for (const [index, attempt] of scenario.attempts.entries()) {
    attempts.push(await runAttempt(world, attempt, index + 1));
    await passTime(timeline, attempt.gapMs);
  }
  // A request that was on its way when its process ended may arrive only now.
  await passTime(timeline, 100_000);
  return { scenario, attempts };
}

async function passTime(timeline: Timeline, ms: number): Promise<void> {
  const end = timeline.now + ms;
  timeline.at(end, order.timerAfterReads, () => {});
  await timeline.run(() => timeline.now >= end);
}

async function runAttempt(world: World, attempt: Attempt, number: number): Promise<AttemptRun> {
  const { scenario, timeline, service, thread } = world;
  const process = new SimulatedProcess(timeline, attempt.pauses);
  const requests: ServiceRequest[] = [];
  const runner = new SimulatedRunner(inputsOf(scenario), () => requests.length);
  const faults = new FaultInjector(isSimulated(attempt, scenario) ? attempt.internalFault : undefined);
  const { kill } = attempt;
  let isKilled = false;
  const onMoment =
    (to: "service" | "github") => (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => {
      isKilled ||= kill?.kind === "request" && kill.to === to && kill.index === index && kill.moment === moment;
    };
  if (kill?.kind === "time") {
    timeline.at(timeline.now + kill.at, order.timer, () => {
      isKilled = true;
    });
  }

  const cancellation = new AbortController();
  let signalAt: number | undefined;
  for (const at of attempt.signalsAt) {
    process.after(at, order.read, () => {
      signalAt ??= timeline.now;
      cancellation.abort();
    });
  }

  const transport = simulatedTransport({
    timeline,
    process,
    service,
    scenario,
    key,
    requests,
    exchange: (index) => exchangeOf(attempt, index, process.elapsedMs),
    onMoment: onMoment("service"),
  });
  const gitHub =
    thread &&
    simulatedGitHub({
      timeline,
      process,
      thread,
      exchange: (index) => attempt.github[index] ?? smoothGitHubExchange,
      onReply: (body) => runner.says(body),
      onMoment: onMoment("github"),
    });
  let draws = 0;
  const ports: Ports = {
    toolkit: faults.wrap(runner),
    clock: faults.wrap(process.clock),
    environment: thread ? commentEnvironment(scenario, number) : { GITHUB_RUN_ATTEMPT: String(number) },
    signal: cancellation.signal,
    random: () => attempt.randomNumbers[draws++ % attempt.randomNumbers.length] ?? 0,
    connect: () => transport,
    connectCache: () => {
      throw new Error("the simulated runner offers no cache service");
    },
    connectGitHub: () =>
      gitHub ? Promise.resolve(gitHub.github) : Promise.reject(new Error("GitHub is only used in comment mode")),
  };

  const startedAt = timeline.now;
  const hasMemory = thread !== undefined && isRemembered(thread);
  let end: AttemptRun["end"] | undefined;
  main(faults.wrap(ports)).then(
    (hasPassed) => {
      end ??= hasPassed ? "passed" : "failed";
    },
    () => {
      end ??= "crashed";
    },
  );
  const lateIds: string[] = [];
  const isOver = (): boolean => {
    const id = requests.at(-1)?.arrivedId;
    if (id !== undefined && runner.outputs["job-id"] !== id && !lateIds.includes(id)) lateIds.push(id);
    if (isKilled) end ??= "killed";
    return end !== undefined;
  };
  if (!(await timeline.run(isOver))) end ??= "stuck";
  process.kill();
  const id = runner.outputs["job-id"] ?? "";
  const firsts = [requests[0]?.sentAt, gitHub?.firstRequestAt()].filter((at) => at !== undefined);
  return {
    end: end ?? "stuck",
    runner,
    requests,
    startedAt,
    firstRequestAt: firsts.length > 0 ? Math.min(...firsts) : undefined,
    endedAt: timeline.now,
    signalAt,
    jobEndsAt: service.endOf(id),
    isRemembered: hasMemory,
    hasInternalFault: faults.hasFailed,
    lateIds,
  };
}

/**
 * In comment mode, these could make an edit reject that nothing waits for. That ends a real process with an annotation, but
 * it would end this one too.
 */
function isSimulated({ internalFault }: Attempt, { mode }: Scenario): boolean {
  return mode.kind === "plain" || !["now", "annotate"].includes(internalFault?.method ?? "");
}

const smoothExchange: Exchange = {
  fault: { kind: "none" },
  connectMs: 5,
  requestMs: 5,
  responseMs: 15,
  bodyMs: 0,
  part: 1,
};
const smoothGitHubExchange: GitHubExchange = { fault: "none", requestMs: 20, responseMs: 20 };

function exchangeOf(attempt: Attempt, index: number, elapsedMs: number): Exchange {
  const exchange = attempt.exchanges[index] ?? smoothExchange;
  const outage = attempt.outages.find(({ at, ms }) => elapsedMs >= at && elapsedMs < at + ms);
  return outage ? { ...exchange, fault: outage.fault } : exchange;
}
