import { isRequestError } from "../client/errors.ts";
import { backoffMs, isTransientPollFailure } from "../client/retry.ts";
import type { Announcement, SentTurn } from "../client/step-lookup.ts";
import { retryAfterMs } from "../client/submit.ts";
import { canBeAsked, connectService } from "./connect-service.ts";
import { cancelledBeforeSending, type RunResult } from "./result.ts";
import type { Run } from "./run.ts";

/** How long a service that does not respond is asked again, in milliseconds. */
const askLimitMs = 20_000;

/** What the service says about the earlier attempts of the step. */
export type EarlierTurn =
  /** It does not say what was sent under the step. */
  | { kind: "unannounced" }
  /** Nothing was sent. */
  | { kind: "none" }
  | { kind: "turn"; turn: SentTurn; hasOtherPrompt: boolean }
  /** Nothing may be sent. */
  | { kind: "undecided"; result: RunResult };

/** The prompt of this attempt. */
export interface OwnPrompt {
  /** `undefined` if it depends on what changed. */
  known: string | undefined;
  /** Writes it, or returns why nothing may be sent. */
  write: () => Promise<{ prompt: string } | RunResult>;
}

/**
 * Asks the service what the earlier attempts of the step sent: the newest turn with the prompt of this attempt, otherwise the
 * only one. Never rejects.
 */
export async function findEarlierTurn(run: Run, prompt: OwnPrompt): Promise<EarlierTurn> {
  const announcement = await findAnnouncement(run);
  if (run.ports.signal.aborted) return { kind: "undecided", result: cancelledBeforeSending };
  if (!announcement) return { kind: "unannounced" };
  const { turns } = announcement;
  const [newest] = turns;
  if (!newest) return { kind: "none" };
  const isOnly = turns.length === 1;
  if (prompt.known === undefined && isOnly) return { kind: "turn", turn: newest, hasOtherPrompt: false };
  const written = prompt.known === undefined ? await prompt.write() : { prompt: prompt.known };
  if ("kind" in written) return { kind: "undecided", result: written };
  const same = run.key.find(written.prompt, turns);
  if (same) return { kind: "turn", turn: same, hasOtherPrompt: false };
  if (isOnly) return { kind: "turn", turn: newest, hasOtherPrompt: true };
  const jobIds = [...new Set(turns.map(({ jobId }) => jobId))];
  return { kind: "undecided", result: { kind: "blocked", cause: "several-turns", jobIds } };
}

/**
 * Asks the service what was sent under the step, and what it offers; `undefined` if it announces nothing. Asks until it answers,
 * but only for a short time. Never rejects because of the service.
 */
export async function findAnnouncement(run: Run): Promise<Announcement | undefined> {
  const { state, settings, ports } = run;
  const { clock, random, signal } = ports;
  if (!canBeAsked(run)) return undefined;
  state.startedAt ??= clock.now();
  const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
  const latest = Math.min(limits.deadline, clock.now() + askLimitMs);
  try {
    const client = connectService(run);
    for (let attempt = 0; ; attempt++) {
      try {
        const announcement = await client.lookUpStep(run.key.of(""), limits);
        if (announcement) state.features = announcement.features;
        return announcement;
      } catch (error) {
        if (!isRequestError(error) || !isTransientPollFailure(error) || signal.aborted) throw error;
        const delayMs = Math.max(500, backoffMs(attempt, random()), retryAfterMs(error));
        if (clock.now() + delayMs >= latest) throw error;
        await clock.sleep(delayMs, signal);
      }
    }
  } catch (error) {
    // A proxy setting that cannot be used is reported by the request that needs it.
    if (!isRequestError(error)) throw error;
    return undefined;
  }
}
