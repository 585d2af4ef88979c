import { isRequestError, type RequestError } from "../../client/errors.ts";
import { backoffMs, isTransientPollFailure } from "../../client/retry.ts";
import type { Announcement } from "../../client/step-lookup.ts";
import { retryAfterMs } from "../../client/submit.ts";
import { canBeAsked, connectService, type Run } from "../run.ts";

/** How long a service that does not announce itself is asked, in milliseconds. */
const askLimitMs = 20_000;
/** Between two questions, in milliseconds. */
const pauseMs = 500;
/** How often a service without a cache entry must deny that it knows the question. */
const minDenials = 2;

/** The service's answer about requests of the step. `mute`: it does not support the question. */
export type Answer =
  | { kind: "announced"; announcement: Announcement }
  | { kind: "mute" }
  | { kind: "unreadable"; error: RequestError | undefined };

/**
 * Asks the service, for a short time, what was sent under the step and which features it has. Never rejects because of the service.
 *
 * @param hadAnnounced - returns whether it had announced itself to an earlier attempt; `undefined` if no entry says so. Default: none does
 * @param maxOutageMs - how long to retry while it fails transiently, in milliseconds. Default: 20,000
 */
export async function askService(
  run: Run,
  hadAnnounced: () => Promise<boolean | undefined> = async () => undefined,
  maxOutageMs = askLimitMs,
): Promise<Answer> {
  const { announcement: known, session, askedSession } = run.state;
  if (known && session === askedSession && !run.settings.dryRun) return { kind: "announced", announcement: known };
  const answer = await ask(run, hadAnnounced, maxOutageMs);
  // It was first asked before the session was known, to find the job's base branch. An outage is no answer to the new question.
  return known && answer.kind === "mute" ? { kind: "announced", announcement: known } : answer;
}

/**
 * Returns whether the service accepts sections beside the prompt. They are then not part of the request's key, so that a re-run finds it.
 *
 * @param hasSections - whether the prompt has any
 */
export async function acceptsSections(hasSections: boolean, run: Run): Promise<boolean> {
  const { settings, state } = run;
  if (settings.dryRun) return false;
  if (settings.agent) return true;
  const hasAny = hasSections || state.refusal !== "" || state.author !== "";
  if (hasAny && state.features === undefined && !state.isMute) await askService(run);
  return state.features?.has("sections") === true;
}

async function ask(run: Run, hadAnnounced: () => Promise<boolean | undefined>, maxOutageMs: number): Promise<Answer> {
  const { state, settings, ports } = run;
  const { clock, random, signal } = ports;
  // A dry run sends it nothing, unless it runs inside the step.
  if ((settings.dryRun && !settings.agent) || !canBeAsked(run)) return { kind: "mute" };
  state.startedAt ??= clock.now();
  const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
  const askedAt = clock.now();
  const client = connectService(run);
  let denials = 0;
  for (let attempt = 0; ; attempt++) {
    let failure: RequestError | undefined;
    try {
      const announcement = await client.lookUpStep(run.key.of(""), limits, state.session, state.claimsSession);
      if (announcement) {
        state.features = announcement.features;
        state.announcement = announcement;
        state.askedSession = state.session;
        return { kind: "announced", announcement };
      }
      denials++;
    } catch (error) {
      // An invalid proxy setting is reported by the request that needs it.
      if (!isRequestError(error)) throw error;
      failure = error;
    }
    if (signal.aborted) return { kind: "unreadable", error: failure };
    // An own agent's service always announces itself.
    const had = settings.agent ? true : await hadAnnounced();
    const isDenied = failure ? !isTransientPollFailure(failure) : true;
    if (had === false ? isDenied : had === undefined && failure === undefined && denials >= minDenials) {
      state.isMute = true;
      return { kind: "mute" };
    }
    const delayMs = Math.max(pauseMs, backoffMs(attempt, random()), failure ? retryAfterMs(failure) : 0);
    const isOutage = failure !== undefined && isTransientPollFailure(failure);
    if (clock.now() + delayMs >= Math.min(limits.deadline, askedAt + (isOutage ? maxOutageMs : askLimitMs)))
      return had === false ? { kind: "mute" } : { kind: "unreadable", error: failure };
    await clock.sleep(delayMs, signal);
  }
}
