import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { type Machine, thisMachine } from "../../machine.ts";
import { rateLimitWindowMs } from "./rate-limit.ts";

export interface GateOptions {
  /** Default: the one that the process runs on. */
  machine?: Pick<Machine, "now" | "sleep"> | undefined;
  /** How long a second of waiting takes, in milliseconds. Default: 1000; less in tests. */
  secondMs?: number | undefined;
}

/** GitHub allows 100 requests at a time, of all programs with the token. */
const maxAtOnce = 50;
/** GitHub has a rate limit for each. */
export type Resource = "rest" | "graphql";

/** When requests to an API may be sent with a token. Setting the machine's clock changes nothing. */
export class GitHubGate {
  readonly #machine: Pick<Machine, "now" | "sleep">;
  readonly #secondMs: number;
  readonly #atOnce = pLimit(maxAtOnce);
  readonly #limitedUntil = new Map<Resource, number>();
  #lastWriteAt = Number.NEGATIVE_INFINITY;

  constructor({ machine = thisMachine, secondMs = 1000 }: GateOptions = {}) {
    this.#machine = machine;
    this.#secondMs = secondMs;
  }

  /** Returns for how long a rate limit still applies, in milliseconds; 0 if none is known. */
  limitedMs(resource: Resource): number {
    const leftMs = (this.#limitedUntil.get(resource) ?? 0) - this.#machine.now();
    return Math.max(0, Math.ceil((leftMs / this.#secondMs) * 1000));
  }

  /** Remembers what GitHub said, for at most its window. A secondary limit applies to all resources. */
  limit(resource: Resource, seconds: number, isSecondary: boolean): void {
    const until = this.#machine.now() + Math.min(seconds, rateLimitWindowMs / 1000) * this.#secondMs;
    for (const one of isSecondary ? (["rest", "graphql"] as const) : [resource])
      this.#limitedUntil.set(one, Math.max(until, this.#limitedUntil.get(one) ?? 0));
  }

  /** Waits for a time that is given in milliseconds, or until `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#machine.sleep((ms / 1000) * this.#secondMs, signal);
  }

  /** Sends a request, if it is a write a second after the last one. GitHub's documentation: "Best practices for using the REST API". */
  async send<T>(isWrite: boolean, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (isWrite) {
      const now = this.#machine.now();
      this.#lastWriteAt = Math.max(now, this.#lastWriteAt + this.#secondMs);
      if (this.#lastWriteAt > now) await this.#machine.sleep(this.#lastWriteAt - now, signal);
    }
    return this.#atOnce(() => {
      signal.throwIfAborted();
      return request();
    });
  }
}

/** More tokens are not in use at a time. */
const maxGates = 100;

/** One gate for each API and token: repositories share it, because GitHub counts their requests together. */
export class GitHubGates {
  readonly #gates = new LRUCache<string, GitHubGate>({ max: maxGates });
  readonly #options: GateOptions;

  constructor(options: GateOptions = {}) {
    this.#options = options;
  }

  of({ apiUrl, token }: { apiUrl: string; token: string }): GitHubGate {
    const key = `${apiUrl} ${token}`;
    const gate = this.#gates.get(key) ?? new GitHubGate(this.#options);
    this.#gates.set(key, gate);
    return gate;
  }
}
