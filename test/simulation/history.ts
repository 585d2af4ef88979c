import fc from "fast-check";
import {
  type Attempt,
  exchange,
  fields,
  gitHubExchange,
  type JobResult,
  type Kill,
  latency,
  members,
  milliseconds,
  type Outage,
  rarely,
  type Scenario,
  text,
} from "./scenario.ts";

/** What goes wrong with one request to the cache service. `hangs`: it acts, but does not answer. */
export type CacheFault = "none" | "failed" | "failed-after-acting" | "hangs" | "unusable";

export interface CacheExchange {
  fault: CacheFault;
  /** The request is on its way, even if the process is killed meanwhile. */
  outlivesStep: boolean;
  requestMs: number;
  responseMs: number;
  /** The end of the error message. */
  text: string;
}

/**
 * What runs of the event may do with the cache. `read`, `none`: the runner says so; `refuses`: only a save shows that they may
 * not write.
 */
export type CacheMode = "write" | "read" | "none" | "refuses";

export interface CacheBehavior {
  /** `absent`: the runner offers no cache service; `no-saves`: every save fails. */
  state: "works" | "absent" | "no-saves" | "down";
  /** The first requests; later ones have no fault. */
  exchanges: CacheExchange[];
}

/** Where an attempt stands in the history, and how the world is then. */
export interface Execution {
  /** It belongs to the next workflow run, instead of being the next attempt of the same one. */
  isNewRun: boolean;
  /** It is the next attempt of the run before the newest one, if there is one. */
  isOlderRun: boolean;
  /** It runs the second step of the workflow. */
  isTwin: boolean;
  /** It is of the attempt of the workflow run in which the one before it ran the other step. */
  isSameAttempt: boolean;
  /** It begins this long after the attempt before it began, in milliseconds, if that is of another run and another session. */
  overlapsAfterMs: number | undefined;
  /** What the first attempt of a run has counts for all of them, as does `isPullRequest`. */
  cacheMode: CacheMode;
  /** What the run saves in the cache is visible only to runs for the same pull request. */
  isPullRequest: boolean;
  onRerun: "resume" | "new";
  cache: CacheBehavior;
  /** What happens to the entries of the cache before the attempt. */
  cacheLoss: "evicted" | "garbage" | "newer-version" | undefined;
  /** What happens to the newest job before the attempt. */
  jobLoss: "archived" | "not-found" | undefined;
  /** What happens to the open pull requests before the attempt. */
  pullRequests: "open" | "merged" | "closed";
  /** Something changed in the repository since the last run; only the first attempt of a run says so. */
  hasChanges: boolean;
}

/** A workflow with two steps that differ in one thing. */
export interface Workflow {
  twin: "step" | "job" | "matrix-leg" | "project" | "prompt" | "session" | "base";
  hasSession: boolean;
  changes: boolean;
  /** How long turns are active, and how they end, in the order of the turns. */
  turns: { activeMs: number; result: JobResult }[];
}

/** A scenario of several attempts and runs of a workflow that remembers through the Actions cache. */
export interface HistoryScenario extends Scenario {
  workflow: Workflow;
  attempts: (Attempt & { execution: Execution })[];
}

/** Where an attempt stands: the number of its workflow run, and its own number in it, both from 1. */
interface Place {
  run: number;
  number: number;
}

/** The places of all attempts, each of which is asked for after every event. */
const placesOf = new WeakMap<Scenario["attempts"], Place[]>();

/** Returns where an attempt stands. */
export function placeOf({ attempts }: Pick<Scenario, "attempts">, index: number): Place {
  let places = placesOf.get(attempts);
  if (places === undefined) {
    places = findPlaces(attempts);
    placesOf.set(attempts, places);
  }
  return places[index] ?? places.at(-1) ?? { run: 1, number: 1 };
}

function findPlaces(attempts: Scenario["attempts"]): Place[] {
  let newest = 1;
  let run = 1;
  let wasSame = false;
  const numbers: number[] = [];
  return attempts.map(({ execution }, at) => {
    const isNewRun = at > 0 && execution?.isNewRun === true;
    newest += isNewRun ? 1 : 0;
    const before = attempts[at - 1]?.execution;
    const isOther = before !== undefined && before.isTwin !== execution?.isTwin;
    // Each step runs once in an attempt.
    const isSame: boolean = !wasSame && !isNewRun && isOther && execution?.isSameAttempt === true;
    wasSame = isSame;
    if (!isSame) run = !isNewRun && execution?.isOlderRun === true ? Math.max(1, newest - 1) : newest;
    numbers[run] = (numbers[run] ?? 0) + (isSame && numbers[run] !== undefined ? 0 : 1);
    return { run, number: numbers[run] ?? 1 };
  });
}

/** Returns the first attempt of the workflow run of an attempt. */
export function firstOfRun(scenario: Pick<Scenario, "attempts">, index: number): Execution | undefined {
  const { run } = placeOf(scenario, index);
  return scenario.attempts.find((_, at) => placeOf(scenario, at).run === run)?.execution;
}

/** Returns whether the repository changed after one workflow run, up to another one. */
export function hasRunChangesOf(scenario: Pick<Scenario, "attempts">, after: number, upTo: number): boolean {
  return scenario.attempts.some(({ execution }, index) => {
    const { run, number } = placeOf(scenario, index);
    return number === 1 && run > after && run <= upTo && execution?.hasChanges === true;
  });
}

/** Returns whether the second step of a workflow is another one for GitHub, not the same with another input. */
export function hasOwnStep(twin: Workflow["twin"] | undefined): boolean {
  return twin === "step" || twin === "job" || twin === "matrix-leg";
}

const cacheExchange: fc.Arbitrary<CacheExchange> = fc.record({
  fault: fc.oneof(
    { weight: 6, arbitrary: fc.constant<CacheFault>("none") },
    { weight: 5, arbitrary: fc.constantFrom<CacheFault>("failed", "failed-after-acting", "hangs", "unusable") },
  ),
  outlivesStep: fc.boolean(),
  requestMs: latency,
  responseMs: latency,
  text,
});

const execution: fc.Arbitrary<Execution> = fc.record({
  isNewRun: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 2, arbitrary: fc.constant(true) }),
  isOlderRun: rarely(3, fc.constant(true)).map((isOlderRun) => isOlderRun ?? false),
  isTwin: rarely(4, fc.constant(true)).map((isTwin) => isTwin ?? false),
  isSameAttempt: fc.boolean(),
  overlapsAfterMs: rarely(3, fc.integer({ min: 0, max: 20_000 })),
  cacheMode: rarely(5, fc.constantFrom<CacheMode>("read", "none", "refuses", "read")).map((mode) => mode ?? "write"),
  isPullRequest: rarely(2, fc.constant(true)).map((isPullRequest) => isPullRequest ?? false),
  onRerun: rarely(1, fc.constant("new" as const)).map((onRerun) => onRerun ?? "resume"),
  cache: fc.record({
    state: rarely(2, fc.constantFrom("absent" as const, "no-saves" as const, "down" as const)).map(
      (state) => state ?? "works",
    ),
    exchanges: rarely(4, fc.array(cacheExchange, { maxLength: 6 })).map((exchanges) => exchanges ?? []),
  }),
  cacheLoss: rarely(1, fc.constantFrom("evicted" as const, "garbage" as const, "newer-version" as const)),
  jobLoss: rarely(1, fc.constantFrom("archived" as const, "not-found" as const)),
  pullRequests: fc.constantFrom("open", "open", "merged", "closed"),
  hasChanges: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});

const kill: fc.Arbitrary<Kill> = fc.oneof(
  fc.record({
    kind: fc.constant("request" as const),
    to: fc.constantFrom("service" as const, "cache" as const),
    index: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 9 })),
    moment: fc.constantFrom("answered", "acted", "sent"),
  }),
  fc.record({ kind: fc.constant("time" as const), at: milliseconds }),
);

/** For some seconds, a gateway or the service itself finds nothing. */
const notFound: fc.Arbitrary<Outage> = fc.record({
  at: fc.nat({ max: 500 }),
  ms: fc.integer({ min: 1000, max: 6000 }),
  fault: fc.record({
    kind: fc.constant("http-error" as const),
    status: fc.constant(404 as const),
    isJson: fc.boolean(),
    text: fc.constant("Not found"),
    retryAfter: fc.constant({ kind: "absent" as const }),
  }),
});

const attempt = fc.record({
  ...members,
  outages: fc.oneof({ weight: 8, arbitrary: members.outages }, { weight: 2, arbitrary: notFound.map((one) => [one]) }),
  exchanges: rarely(4, fc.array(exchange, { maxLength: 6 })).map((exchanges) => exchanges ?? []),
  github: rarely(4, fc.array(gitHubExchange, { maxLength: 4 })).map((exchanges) => exchanges ?? []),
  kill: rarely(4, kill),
  // A re-run begins later than what was on its way to the cache arrives.
  gapMs: fc.oneof(fc.integer({ min: 6000, max: 30_000 }), fc.integer({ min: 6000, max: 1_000_000 })),
  execution,
});

const workflow: fc.Arbitrary<Workflow> = fc
  .record({
    twin: fc.constantFrom("step", "job", "matrix-leg", "project", "prompt", "session", "base"),
    hasSession: fc.boolean(),
    hasChanges: rarely(4, fc.constant(true)),
    turns: fc.array(
      fc.record({
        activeMs: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 200_000 })),
        result: fc.oneof(
          { weight: 3, arbitrary: fc.constant<JobResult>("pull-request") },
          { weight: 2, arbitrary: fc.constantFrom<JobResult>("no-changes", "failed", "failed", "archived") },
        ),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ twin, hasChanges, ...others }) => ({
    ...others,
    twin: twin === "session" && !others.hasSession ? "step" : twin,
    changes: hasChanges ?? false,
  }));

/** All kinds of histories; shrinks towards one attempt without faults. */
export const histories: fc.Arbitrary<HistoryScenario> = fc
  .record({
    ...fields,
    // More polls would only take longer.
    minSeconds: fc.constant(5),
    task: fc.constantFrom("create" as const, "create" as const, "message" as const),
    workflow,
    attempts: fc.array(attempt, { minLength: 1, maxLength: 6 }),
  })
  .map(({ task, ...scenario }) => ({
    ...scenario,
    // A session cannot be used together with a job.
    mode: { kind: "plain" as const, task: scenario.workflow.hasSession ? ("create" as const) : task },
  }));
