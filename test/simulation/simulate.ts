// The action loads these on demand. Loaded before, that takes no real time, for which simulated time does not wait.
import "../../src/action/changes/find-section.ts";
import "../../src/action/comment-mode.ts";
import "../../src/action/refresh/parse-entry.ts";
import "../../src/action/refresh/pull-request-state.ts";
import "../../src/action/refresh/run-with-memory.ts";
import { main, type Ports } from "../../src/action/main.ts";
import { connectIdTokens } from "../../src/action/runner/id-token.ts";
import type { FakeGitHub } from "../support/fake-github.ts";
import { type CacheUse, connectSimulatedCache, SimulatedCache } from "./cache.ts";
import { type GitHubRequest, isRemembered, simulatedGitHub, simulatedThread } from "./github.ts";
import { hasRunChanges } from "./history.ts";
import { type ServiceRequest, simulatedTransport } from "./network.ts";
import { SimulatedProcess } from "./process.ts";
import { acceptanceOf } from "./received.ts";
import { SimulatedRepository } from "./repository.ts";
import type { Attempt, Exchange, GitHubExchange, Kill, Scenario, TokenExchange } from "./scenario.ts";
import { SimulatedService } from "./service.ts";
import { FaultInjector, SimulatedRunner } from "./step.ts";
import { order, Timeline } from "./timeline.ts";
import { simulatedTokens, type TokenRequest } from "./tokens.ts";
import { environmentOf, inputsOf, key } from "./workflow.ts";

/** What the step did in one run attempt, and what really happened. Times of the timeline. */
export interface AttemptRun {
  /** `crashed`: `main` rejected, so the step fails. `stuck`: it never ended. */
  end: "passed" | "failed" | "crashed" | "killed" | "stuck";
  runner: SimulatedRunner;
  requests: ServiceRequest[];
  gitHubRequests: GitHubRequest[];
  tokenRequests: TokenRequest[];
  cache: CacheUse;
  startedAt: number;
  /** When the first request was sent, to the service or to GitHub. */
  firstRequestAt: number | undefined;
  endedAt: number;
  /** When the process received the first signal. */
  signalAt: number | undefined;
  /** When the last turn of the job in the outputs ends, as of the end of the attempt; `undefined` without a job. */
  jobEndsAt: number | undefined;
  /** The same for the turns that the step knows of, if any: another step of a session may have sent the job a message. */
  ownTurnEndsAt: number | undefined;
  /** Comment mode: when the attempt began, the thread remembered what an earlier one sent, or was about to send. */
  isRemembered: boolean;
  hasInternalFault: boolean;
  /** Ids of jobs that were not in the outputs as soon as their response had arrived. */
  lateIds: string[];
  /** A job was not being saved as soon as its response had arrived. */
  isSavedLate: boolean;
}

/** A whole simulated history: all attempts, of one workflow run or of several. */
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
  cache: SimulatedCache;
}

/** Runs the whole of `main` through a scenario, once for each of its attempts. */
export async function simulate(scenario: Scenario): Promise<History> {
  const timeline = new Timeline();
  const service = new SimulatedService(timeline, scenario);
  const thread = scenario.mode.kind === "comment" ? simulatedThread(scenario.mode) : undefined;
  const world = { scenario, timeline, service, thread, cache: new SimulatedCache() };
  const attempts: AttemptRun[] = [];
  for (const [index, attempt] of scenario.attempts.entries()) {
    changeWorld(world, attempt);
    attempts.push(await runAttempt(world, attempt, index, attempts));
    await passTime(timeline, attempt.gapMs);
  }
  // A request that was on its way when its process ended may arrive only now.
  await passTime(timeline, 100_000);
  return { scenario, attempts };
}

/** Changes what the attempt finds. */
function changeWorld({ cache, service }: World, { execution }: Attempt): void {
  if (execution?.cacheLoss === "evicted") cache.evict();
  if (execution?.cacheLoss === "garbage") cache.corrupt("{");
  if (execution?.cacheLoss === "newer-version") cache.corrupt('{"version":2}');
  if (execution?.jobLoss === "archived") service.archive();
  if (execution?.jobLoss === "not-found") service.forget();
}

async function passTime(timeline: Timeline, ms: number): Promise<void> {
  const end = timeline.now + ms;
  timeline.at(end, order.timerAfterReads, () => {});
  await timeline.run(() => timeline.now >= end);
}

async function runAttempt(
  world: World,
  attempt: Attempt,
  index: number,
  earlier: readonly AttemptRun[],
): Promise<AttemptRun> {
  const { scenario, timeline, service, thread } = world;
  const { execution } = attempt;
  const process = new SimulatedProcess(timeline, attempt.pauses);
  const requests: ServiceRequest[] = [];
  const runner = new SimulatedRunner(inputsOf(scenario, attempt), () => requests.length);
  const faults = new FaultInjector(isSimulated(attempt, scenario) ? attempt.internalFault : undefined);
  const { kill } = attempt;
  let isKilled = false;
  const onMoment =
    (to: Extract<Kill, { kind: "request" }>["to"]) =>
    (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => {
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
    requests,
    exchange: (index) => exchangeOf(attempt, index, process.elapsedMs),
    onMoment: onMoment("service"),
  });
  const backend = execution ? new SimulatedRepository(execution.pullRequests, hasRunChanges(scenario, index)) : thread;
  const gitHub =
    backend &&
    simulatedGitHub({
      timeline,
      process,
      backend,
      exchange: (index) => attempt.github[index] ?? smoothGitHubExchange,
      onReply: (body) => runner.says(body),
      onMoment: onMoment("github"),
    });
  const cache =
    execution &&
    connectSimulatedCache({
      timeline,
      process,
      cache: world.cache,
      behavior: execution.cache,
      owner: index,
      onMoment: onMoment("cache"),
    });
  const tokenRequests: TokenRequest[] = [];
  const tokens = simulatedTokens({
    timeline,
    process,
    requests: tokenRequests,
    exchange: (index) => attempt.tokens[index] ?? smoothTokenExchange,
    secret: key,
  });
  let draws = 0;
  const ports: Ports = {
    toolkit: faults.wrap(runner),
    clock: faults.wrap(process.clock),
    environment: environmentOf(scenario, index),
    signal: cancellation.signal,
    random: () => attempt.randomNumbers[draws++ % attempt.randomNumbers.length] ?? 0,
    connect: () => transport,
    connectIdTokens: async (audience, source) => connectIdTokens(audience, { ...source, connect: () => tokens }),
    connectCache: async () => {
      if (!cache || execution.cache.state === "absent") throw new Error("the runner offers no cache service");
      return cache.cache;
    },
    connectGitHub: () =>
      gitHub ? Promise.resolve(gitHub.github) : Promise.reject(new Error("the step does not need GitHub")),
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
  let isSavedLate = false;
  const isOver = (): boolean => {
    const id = requests.at(-1)?.arrivedId;
    if (id !== undefined && runner.outputs["job-id"] !== id && !lateIds.includes(id)) lateIds.push(id);
    isSavedLate ||= cache !== undefined && isUnsaved(cache.use, requests.at(-1), scenario, attempt);
    if (isKilled) end ??= "killed";
    return end !== undefined;
  };
  if (!(await timeline.run(isOver))) end ??= "stuck";
  process.kill();
  const id = runner.outputs["job-id"] ?? "";
  const owner = cache?.use.restores.find(({ found, isForSession }) => found && !isForSession)?.found?.owner ?? -1;
  const ownTurns = [...(earlier[owner]?.requests ?? []), ...requests].map(({ actedAt }) => actedAt);
  // In plain mode, the time that GitHub takes for changes does not count.
  const firsts = [requests[0], tokenRequests[0], thread && gitHub?.requests[0]].flatMap(
    (request) => request?.sentAt ?? [],
  );
  return {
    end: end ?? "stuck",
    runner,
    requests,
    gitHubRequests: gitHub?.requests ?? [],
    tokenRequests,
    cache: cache?.use ?? { entriesAtStart: [], restores: [], saves: [] },
    startedAt,
    firstRequestAt: firsts.length > 0 ? Math.min(...firsts) : undefined,
    endedAt: timeline.now,
    signalAt,
    jobEndsAt: service.endOf(id),
    ownTurnEndsAt: service.endOf(id, ({ acceptedAt }) => ownTurns.includes(acceptedAt)) ?? service.endOf(id),
    isRemembered: hasMemory,
    hasInternalFault: faults.hasFailed,
    lateIds,
    isSavedLate,
  };
}

/** Returns whether a job is known, and the step has not begun to save it. */
function isUnsaved(
  { restores, saves }: CacheUse,
  request: ServiceRequest | undefined,
  { workflow }: Scenario,
  { execution }: Attempt,
): boolean {
  if (!request || request.kind === "poll" || execution?.cache.state === "absent") return false;
  if (request.arrivedId === undefined && acceptanceOf(request) !== "accepted") return false;
  const isMissing = (isForSession: boolean): boolean => !saves.some((save) => save.isForSession === isForSession);
  const canSaveSession = restores.some(({ isForSession, result }) => isForSession && result !== "failed");
  return (
    (execution?.onRerun === "resume" && isMissing(false)) ||
    (workflow?.hasSession === true && request.kind === "create" && canSaveSession && isMissing(true))
  );
}

/**
 * In comment mode and with a cache, these could make an edit or a save reject that nothing waits for. That ends a real process with an annotation, but
 * it would end this one too.
 */
function isSimulated({ internalFault }: Attempt, { mode, workflow }: Scenario): boolean {
  return (mode.kind === "plain" && !workflow) || !["now", "annotate"].includes(internalFault?.method ?? "");
}

const smoothExchange: Exchange = {
  fault: { kind: "none" },
  connectMs: 5,
  requestMs: 5,
  responseMs: 15,
  bodyMs: 0,
  part: 1,
};
const smoothTokenExchange: TokenExchange = { fault: "none", ms: 40, lifetimeSeconds: 300 };
const smoothGitHubExchange: GitHubExchange = { fault: "none", requestMs: 20, responseMs: 20 };

function exchangeOf(attempt: Attempt, index: number, elapsedMs: number): Exchange {
  const exchange = attempt.exchanges[index] ?? smoothExchange;
  const outage = attempt.outages.find(({ at, ms }) => elapsedMs >= at && elapsedMs < at + ms);
  return outage ? { ...exchange, fault: outage.fault } : exchange;
}
