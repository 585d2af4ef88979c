import type { Random } from "../../service/test/chaos/random.ts";
import type { CacheProtocol, RunAccess } from "../support/cache-service.ts";
import { drawMoment, formatMoment, type Moment } from "./moment.ts";
import type { ServiceKind } from "./services.ts";

/** A history: perhaps an earlier run, then three attempts of one run, of which the first ones are killed. */
export interface Scenario {
  service: ServiceKind;
  mode: "plain" | "session" | "comment";
  cache: { protocol: CacheProtocol; access: RunAccess | "absent" };
  /** Whether an earlier run of the session, or an earlier comment in the thread, has started a job. */
  hasEarlierRun: boolean;
  /** Whether GitHub's record of the attempts can be read. */
  isRecordReadable: boolean;
  /** Whether the token may write to the thread. */
  isThreadWritable: boolean;
  /** What ends each attempt; `undefined`: nothing does. */
  attempts: (Moment | "never started" | undefined)[];
  /**
   * How attempts end at their moments: by SIGKILL, alone or with the processes that the action has started, as on a lost machine;
   * or as a runner cancels a step.
   */
  ending: "kill" | "kill tree" | "cancel";
  /** How long a request, and a response, may be held up in the first attempt. */
  delays: { serviceMs: number; cacheMs: number };
}

/** Draws a history. */
export function drawScenario(service: ServiceKind, random: Random): Scenario {
  const mode = random.pick(["plain", "session", "comment"] as const);
  const access = random.pick(["write", "write", "read", "none", "403", "absent"] as const);
  const isThreadWritable = mode !== "comment" || random.next() < 0.8;
  const isFirstSkipped = service === "keyless" && random.next() < 0.3;
  return {
    service,
    mode,
    cache: { protocol: random.pick(["v1", "v2"]), access },
    // What the earlier run started has to be found, for which the session needs the cache, and the thread its reply.
    hasEarlierRun:
      mode !== "plain" &&
      (mode === "comment" ? isThreadWritable : ["write", "read", "403"].includes(access)) &&
      random.next() < 0.5,
    isRecordReadable: random.next() < 0.6,
    isThreadWritable,
    attempts: [
      isFirstSkipped ? "never started" : drawMoment(random),
      random.next() < 1 / 3 ? drawMoment(random) : undefined,
      undefined,
    ],
    ending: random.pick(["kill", "kill tree"] as const),
    delays: { serviceMs: 0, cacheMs: 0 },
  };
}

/** Draws a history in which the first attempt is cancelled while the service and the cache are slow. */
export function drawCancellation(service: ServiceKind, random: Random): Scenario {
  return {
    ...drawScenario(service, random),
    // What was sent can only be stopped while the step polls.
    attempts: [drawMoment(random, 1), undefined],
    ending: "cancel",
    delays: { serviceMs: random.pick([100, 100, 2000, 8000]), cacheMs: random.pick([100, 2000, 8000]) },
  };
}

/** Formats a history for a report. */
export function formatScenario(scenario: Scenario): string {
  const { service, mode, cache, hasEarlierRun, isRecordReadable, isThreadWritable, attempts, ending } = scenario;
  return [
    `${service} service`,
    mode,
    `cache ${cache.access} ${cache.protocol}`,
    ...(hasEarlierRun ? ["after an earlier run"] : []),
    ...(isRecordReadable ? [] : ["record not readable"]),
    ...(isThreadWritable ? [] : ["thread not writable"]),
    ...attempts.map((end) => (typeof end === "string" ? end : formatMoment(end))),
    ending,
  ].join(", ");
}
