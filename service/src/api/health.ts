import { type Machine, thisMachine } from "../machine.ts";
import { cached } from "./cached.ts";

/** Returns a problem in words that anyone may read, or `undefined`. Never rejects. */
export type HealthCheck = () => Promise<string | undefined>;

/** Whether everything works. */
export interface HealthReport {
  status: "ok" | "failing";
  /** `ok`, or the problem, by the name of the check. */
  checks: Readonly<Record<string, string>>;
}

export interface HealthOptions {
  /** How long a check may take, in milliseconds. Default: 3 seconds. */
  limitMs?: number;
  /** Default: this machine. */
  machine?: Pick<Machine, "now" | "sleep">;
}

/** Clients that ask more often get the last answer. */
const keptMs = 5000;

/** Returns a function that makes the checks, at most every five seconds however often it is called. */
export function createHealth(
  checks: Readonly<Record<string, HealthCheck>>,
  { limitMs = 3000, machine = thisMachine }: HealthOptions = {},
): () => Promise<HealthReport> {
  const entries = Object.entries(checks).map(([name, check]) => [name, boundedCheck(check, limitMs, machine)] as const);
  const read = async (): Promise<HealthReport> => {
    const results = await Promise.all(entries.map(async ([name, check]) => [name, (await check()) ?? "ok"] as const));
    const status = results.every(([, result]) => result === "ok") ? "ok" : "failing";
    return { status, checks: Object.fromEntries(results) };
  };
  return cached(read, () => keptMs, machine);
}

/** Returns a check that ends in time. While a slow check is still running, the next call waits for it and starts no second one. */
function boundedCheck(check: HealthCheck, limitMs: number, machine: Pick<Machine, "sleep">): HealthCheck {
  let pending: Promise<string | undefined> | undefined;
  return async () => {
    pending ??= check().finally(() => {
      pending = undefined;
    });
    const end = new AbortController();
    const late = machine.sleep(limitMs, end.signal).then(() => `no answer within ${limitMs / 1000} s`);
    const result = await Promise.race([pending, late]);
    end.abort();
    return result;
  };
}
