// The action loads these on demand. Loaded before, that takes no real time, for which simulated time does not wait.
import "../../src/action/changes/find-section.ts";
import "../../src/action/comment-mode.ts";
import "../../src/action/memory/parse-entry.ts";
import "../../src/action/memory/pull-request-state.ts";
import "../../src/action/memory/step-record.ts";
import "../../src/action/send-once.ts";
import { main, type Ports } from "../../src/action/main.ts";
import { connectIdTokens } from "../../src/action/runner/id-token.ts";
import type { FakeGitHub } from "../support/fake-github.ts";
import { AttemptRecord, recordRoute } from "./attempt-record.ts";
import { type CacheUse, connectSimulatedCache, SimulatedCache } from "./cache.ts";
import { type GitHubRequest, isRemembered, simulatedGitHub, simulatedThread } from "./github.ts";
import { firstOfRun, placeOf } from "./history.ts";
import { type ServiceRequest, simulatedTransport } from "./network.ts";
import { SimulatedProcess } from "./process.ts";
import { acceptanceOf, isSubmission } from "./received.ts";
import { SimulatedRepository } from "./repository.ts";
import type { Attempt, Exchange, GitHubExchange, Kill, Scenario, TokenExchange } from "./scenario.ts";
import { SimulatedService } from "./service.ts";
import { FaultInjector, SimulatedRunner } from "./step.ts";
import { order, Timeline } from "./timeline.ts";
import { simulatedTokens, type TokenRequest } from "./tokens.ts";
import { environmentOf, inputsOf, key } from "./workflow.ts";

/** What the step did in one run attempt, and what really happened. Times of the timeline. */
export interface AttemptRun {
  /** `crashed`: `main` rejected, so the step fails. `stuck`: it never ended. `not-started`: the job did not get that far. */
  end: "passed" | "failed" | "crashed" | "killed" | "stuck" | "not-started";
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
  repository: SimulatedRepository;
  record: AttemptRecord;
  cache: SimulatedCache;
}

/** Runs the whole of `main` through a scenario, once for each of its attempts. */
export async function simulate(scenario: Scenario): Promise<History> {
  const timeline = new Timeline();
  const service = new SimulatedService(timeline, scenario);
  const thread = scenario.mode.kind === "comment" ? simulatedThread(scenario.mode) : undefined;
  const world: World = {
    scenario,
    timeline,
    service,
    thread,
    repository: new SimulatedRepository(scenario, () => service.pullRequests()),
    record: new AttemptRecord(scenario),
    cache: new SimulatedCache(),
  };
  const attempts: AttemptRun[] = [];
  while (attempts.length < scenario.attempts.length) {
    const runs = await runGroup(world, attempts);
    attempts.push(...runs);
    await passTime(timeline, scenario.attempts[attempts.length - 1]?.gapMs ?? 0);
  }
  // A request that was on its way when its process ended may arrive only now.
  await passTime(timeline, 100_000);
  return { scenario, attempts };
}

/** Runs the next attempt, together with those that overlap with it. */
async function runGroup(world: World, earlier: readonly AttemptRun[]): Promise<AttemptRun[]> {
  const { scenario, timeline } = world;
  const running: RunningAttempt[] = [];
  const first = earlier.length;
  let next = first;
  let startsAt = timeline.now;
  for (let attempt = scenario.attempts[next]; attempt; attempt = scenario.attempts[next]) {
    const overlapMs = next === first ? 0 : overlapOf(scenario, next);
    if (overlapMs === undefined) break;
    startsAt += overlapMs;
    const index = next++;
    if (index === first) changeWorld(world, attempt);
    const start = (): void => void running.push(startAttempt(world, attempt, index, earlier));
    // Those of the same time start in their order.
    if (startsAt === timeline.now) start();
    else timeline.at(startsAt, order.timer, start);
  }
  // All are looked at after each event, because each has to be seen as soon as it ends.
  const areOver = (): boolean => running.filter((one) => !one.isOver()).length === 0 && running.length === next - first;
  await timeline.run(areOver);
  return running.map((one) => one.finish());
}

/** Returns how long after the attempt before it an attempt begins; `undefined` if it begins after the end of that. */
function overlapOf({ attempts, workflow }: Scenario, index: number): number | undefined {
  const [before, own] = [attempts[index - 1]?.execution, attempts[index]?.execution];
  if (!workflow || !own?.isNewRun) return undefined;
  const hasOtherSession = ["project", "session", "base"].includes(workflow.twin) && own.isTwin !== before?.isTwin;
  return hasOtherSession || !workflow.hasSession ? own.overlapsAfterMs : undefined;
}

/** Changes what the attempt finds. */
function changeWorld({ cache, service, repository }: World, { execution }: Attempt): void {
  if (execution?.cacheLoss === "evicted") cache.evict();
  if (execution?.cacheLoss === "garbage") cache.corrupt("{");
  if (execution?.cacheLoss === "newer-version") cache.corrupt('{"version":2}');
  if (execution?.jobLoss === "archived") service.archive();
  if (execution?.jobLoss === "not-found") service.forget();
  if (execution) repository.end(service.pullRequests(), execution.pullRequests);
}

async function passTime(timeline: Timeline, ms: number): Promise<void> {
  const end = timeline.now + ms;
  timeline.at(end, order.timerAfterReads, () => {});
  await timeline.run(() => timeline.now >= end);
}

/** An attempt that has begun. */
interface RunningAttempt {
  /** Returns whether it has ended. Called after every event, it learns when that was. */
  isOver: () => boolean;
  /** Returns what became of it; one that has not ended is stuck. */
  finish: () => AttemptRun;
}

function startAttempt(world: World, attempt: Attempt, index: number, earlier: readonly AttemptRun[]): RunningAttempt {
  const { scenario, timeline, service, thread, record } = world;
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
  const backend = execution ? world.repository : thread;
  const gitHub =
    backend &&
    simulatedGitHub({
      timeline,
      process,
      backend: {
        hasNextPage: (page, perPage) => backend.hasNextPage(page, perPage),
        request: async (route, parameters, limits) =>
          route === recordRoute ? record.list(attempt, parameters) : backend.request(route, parameters, limits),
      },
      exchange: (index) => attempt.github[index] ?? smoothGitHubExchange,
      onReply: (body) => runner.says(body),
      onMoment: onMoment("github"),
    });
  const ofRun = firstOfRun(scenario, index);
  const ofThread = scenario.mode.kind === "comment" ? scenario.mode.cacheMode : undefined;
  const cache =
    (execution || ofThread) &&
    connectSimulatedCache({
      timeline,
      process,
      cache: world.cache,
      behavior: execution?.cache ?? { state: "works", exchanges: [] },
      mode: ofThread ?? ofRun?.cacheMode ?? "write",
      scope: ofRun?.isPullRequest ? "pull-request" : "",
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
    createAgent: () => Promise.reject(new Error("a service runs the agent")),
    connectIdTokens: async (audience, source) => connectIdTokens(audience, { ...source, connect: () => tokens }),
    connectCache: async () => {
      if (!cache || execution?.cache.state === "absent") throw new Error("the runner offers no cache service");
      return cache.cache;
    },
    connectGitHub: () =>
      gitHub ? Promise.resolve(gitHub.github) : Promise.reject(new Error("the step does not need GitHub")),
  };

  const startedAt = timeline.now;
  const hasMemory = thread !== undefined && isRemembered(thread);
  let end: AttemptRun["end"] | undefined;
  if (attempt.start === "ran") {
    record.set(index, "running");
    main(faults.wrap(ports)).then(
      (hasPassed) => {
        end ??= hasPassed ? "passed" : "failed";
      },
      () => {
        end ??= "crashed";
      },
    );
  } else end = "not-started";

  const lateIds: string[] = [];
  let isSavedLate = false;
  const finish = (): AttemptRun => {
    process.kill();
    record.set(index, end ?? "stuck");
    const id = runner.outputs["job-id"] ?? "";
    const ownTurns = [...earlier.filter((_, at) => isSameUnit(scenario, at, index)), { requests }].flatMap((one) =>
      one.requests.flatMap(({ turn }) => turn ?? []),
    );
    // In plain mode, the time that GitHub takes for changes does not count.
    const lookUp = thread && cache?.use.restores[0];
    const firsts = [requests[0], tokenRequests[0], thread && gitHub?.requests[0]]
      .flatMap((request) => request?.sentAt ?? [])
      .concat(lookUp ? lookUp.startedAt : []);
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
      ownTurnEndsAt: service.endOf(id, (turn) => ownTurns.includes(turn)) ?? service.endOf(id),
      isRemembered: hasMemory,
      hasInternalFault: faults.hasFailed,
      lateIds,
      isSavedLate,
    };
  };
  let finished: AttemptRun | undefined;
  const isOver = (): boolean => {
    if (finished) return true;
    const id = requests.at(-1)?.arrivedId;
    if (id !== undefined && runner.outputs["job-id"] !== id && !lateIds.includes(id)) lateIds.push(id);
    isSavedLate ||= cache !== undefined && isUnsaved(cache.use, requests.at(-1), scenario, index);
    if (isKilled) end ??= "killed";
    if (end !== undefined) finished = finish();
    return end !== undefined;
  };
  return { isOver, finish: () => finished ?? finish() };
}

/** Returns whether two attempts are of one step of one workflow run. */
function isSameUnit(scenario: Scenario, one: number, other: number): boolean {
  const isTwin = (index: number): boolean => scenario.attempts[index]?.execution?.isTwin === true;
  return placeOf(scenario, one).run === placeOf(scenario, other).run && isTwin(one) === isTwin(other);
}

/** Returns whether a job is known, and the step has not begun to save it. */
function isUnsaved(
  { restores, saves }: CacheUse,
  request: ServiceRequest | undefined,
  scenario: Scenario,
  index: number,
): boolean {
  const { workflow } = scenario;
  const execution = scenario.attempts[index]?.execution;
  const ofRun = firstOfRun(scenario, index);
  if (!request || !isSubmission(request) || execution?.cache.state === "absent") return false;
  if (ofRun?.cacheMode === "read" || ofRun?.cacheMode === "none") return false;
  if (request.arrivedId === undefined && acceptanceOf(request) !== "accepted") return false;
  const isMissing = (isForSession: boolean): boolean => !saves.some((save) => save.isForSession === isForSession);
  const canSaveSession = restores.some(({ isForSession, result }) => isForSession && result !== "failed");
  return (
    (execution?.onRerun === "resume" && isMissing(false)) ||
    // A job that an earlier attempt of an older run had started does not take the place of a later run's.
    (workflow?.hasSession === true &&
      request.kind === "create" &&
      !(request.isReplay && isKeptByLaterRun(restores, scenario, index)) &&
      canSaveSession &&
      isMissing(true))
  );
}

/** Returns whether the session's entry is of a workflow run that began after that of an attempt. */
function isKeptByLaterRun(restores: CacheUse["restores"], scenario: Scenario, index: number): boolean {
  const owner = restores.find(({ isForSession }) => isForSession)?.found?.owner;
  return owner !== undefined && placeOf(scenario, owner).run > placeOf(scenario, index).run;
}

/**
 * In comment mode and with a cache, these could make an edit or a save reject that nothing waits for. That ends a real process with an annotation, but
 * it would end this one too.
 */
function isSimulated({ internalFault }: Attempt, { mode, workflow }: Scenario): boolean {
  return (mode.kind === "plain" && !workflow) || !["now", "annotate", "info"].includes(internalFault?.method ?? "");
}

const smoothExchange: Exchange = {
  fault: { kind: "none" },
  connectMs: 5,
  requestMs: 5,
  responseMs: 15,
  bodyMs: 0,
  part: 1,
  isOld: false,
};
const smoothTokenExchange: TokenExchange = { fault: "none", ms: 40, lifetimeSeconds: 300 };
const smoothGitHubExchange: GitHubExchange = { fault: "none", requestMs: 20, responseMs: 20 };

function exchangeOf(attempt: Attempt, index: number, elapsedMs: number): Exchange {
  const exchange = attempt.exchanges[index] ?? smoothExchange;
  const outage = attempt.outages.find(({ at, ms }) => elapsedMs >= at && elapsedMs < at + ms);
  return outage ? { ...exchange, fault: outage.fault } : exchange;
}
