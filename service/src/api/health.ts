import { setTimeout } from "node:timers/promises";
import { cached } from "./cached.ts";

/** Returns what is wrong, in words for anyone, or `undefined`. Never rejects. */
export type HealthCheck = () => Promise<string | undefined>;

/** Whether everything works. */
export interface HealthReport {
  status: "ok" | "failing";
  /** `ok`, or what is wrong. */
  checks: Readonly<Record<string, string>>;
}

export interface HealthOptions {
  /** A check that takes longer has failed, in milliseconds. Default: 3 seconds. */
  limitMs?: number;
  /** Returns milliseconds since any moment. Default: since the process started. */
  now?: () => number;
}

/** Whoever asks more often gets the last answer. */
const keptMs = 5000;

/** Returns what makes the checks, however many ask for that, at most every five seconds. */
export function createHealth(
  checks: Readonly<Record<string, HealthCheck>>,
  { limitMs = 3000, now }: HealthOptions = {},
): () => Promise<HealthReport> {
  const entries = Object.entries(checks).map(([name, check]) => [name, boundedCheck(check, limitMs)] as const);
  const read = async (): Promise<HealthReport> => {
    const results = await Promise.all(entries.map(async ([name, check]) => [name, (await check()) ?? "ok"] as const));
    const status = results.every(([, result]) => result === "ok") ? "ok" : "failing";
    return { status, checks: Object.fromEntries(results) };
  };
  return cached(read, () => keptMs, now);
}

/** Returns a check that ends in time. One that still goes on is waited for again, and not begun a second time. */
function boundedCheck(check: HealthCheck, limitMs: number): HealthCheck {
  let pending: Promise<string | undefined> | undefined;
  return async () => {
    pending ??= check().finally(() => {
      pending = undefined;
    });
    const end = new AbortController();
    const late = setTimeout(limitMs, `no answer within ${limitMs / 1000} s`, { signal: end.signal });
    // Also if the check is first: nobody waits for it then.
    late.catch(() => {});
    const result = await Promise.race([pending, late]);
    end.abort();
    return result;
  };
}
