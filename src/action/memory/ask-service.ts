import { isRequestError, type RequestError } from "../../client/errors.ts";
import { backoffMs, isTransientPollFailure } from "../../client/retry.ts";
import type { Announcement } from "../../client/step-lookup.ts";
import { retryAfterMs } from "../../client/submit.ts";
import { canBeAsked, connectService, type Run } from "../run.ts";

/** How long a service that does not announce itself is asked again, in milliseconds. */
const askLimitMs = 20_000;
/** Before it is asked again, in milliseconds. */
const pauseMs = 500;
/** How often a service without an entry has to say that it does not know the question. */
const minDenials = 2;

/** What a service answers to the question what was sent under the step. `mute`: it is not one that can be asked. */
export type Answer =
  | { kind: "announced"; announcement: Announcement }
  | { kind: "mute" }
  | { kind: "unreadable"; error: RequestError | undefined };

/**
 * Asks the service what was sent under the step, and what it offers, for a short time. Never rejects because of the service.
 *
 * @param hadAnnounced - returns whether the service had announced itself to an earlier attempt; `undefined` if no entry says it.
 *   Default: none does
 * @param maxOutageMs - how long it is asked while it fails for a passing reason, in milliseconds. Default: 20,000
 */
export async function askService(
  run: Run,
  hadAnnounced: () => Promise<boolean | undefined> = async () => undefined,
  maxOutageMs = askLimitMs,
): Promise<Answer> {
  const { announcement: known, session, askedSession } = run.state;
  if (known && session === askedSession && !run.settings.dryRun) return { kind: "announced", announcement: known };
  const answer = await ask(run, hadAnnounced, maxOutageMs);
  // To find the branch that a job starts from, it was asked before the session was known.
  return known && answer.kind !== "announced" ? { kind: "announced", announcement: known } : answer;
}

async function ask(run: Run, hadAnnounced: () => Promise<boolean | undefined>, maxOutageMs: number): Promise<Answer> {
  const { state, settings, ports } = run;
  const { clock, random, signal } = ports;
  // A dry run sends nothing to it, unless it runs with the step.
  if ((settings.dryRun && !settings.agent) || !canBeAsked(run)) return { kind: "mute" };
  state.startedAt ??= clock.now();
  const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
  const askedAt = clock.now();
  const client = connectService(run);
  let denials = 0;
  for (let attempt = 0; ; attempt++) {
    let failure: RequestError | undefined;
    try {
      const announcement = await client.lookUpStep(run.key.of(""), limits, state.session);
      if (announcement) {
        state.features = announcement.features;
        state.announcement = announcement;
        state.askedSession = state.session;
        return { kind: "announced", announcement };
      }
      denials++;
    } catch (error) {
      // A proxy setting that cannot be used is reported by the request that needs it.
      if (!isRequestError(error)) throw error;
      failure = error;
    }
    if (signal.aborted) return { kind: "unreadable", error: failure };
    // That of an own agent always does.
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
