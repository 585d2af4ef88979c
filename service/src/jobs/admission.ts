import pLimit, { type LimitFunction } from "p-limit";
import { type Machine, thisMachine } from "../machine.ts";
import type { RateLimited } from "../model.ts";

/** A process has ten connections to its database. Some must stay free for reads. */
const atOnce = 6;
/** Creates of one project can wait for each other. They must not hold up other projects. */
const ofProjectAtOnce = 3;

type Kind = "create" | "message";

/**
 * Limits how many creates and messages use the store at a time, and remembers which projects have reached their hourly limit. Otherwise
 * a client that keeps sending beyond the limit would occupy all connections and slow down everybody.
 */
export class Admission {
  readonly #machine: Pick<Machine, "now">;
  readonly #all = pLimit(atOnce);
  readonly #projects = new Map<string, LimitFunction>();
  /** When the next create or message of a project is accepted. */
  readonly #limitedUntil = new Map<string, number>();

  constructor(machine: Pick<Machine, "now"> = thisMachine) {
    this.#machine = machine;
  }

  /** Runs a create or message as soon as few enough others use the store. */
  run<T>(project: string, use: () => Promise<T>): Promise<T> {
    const own = this.#projects.get(project) ?? pLimit(ofProjectAtOnce);
    this.#projects.set(project, own);
    return own(() => this.#all(use));
  }

  /** Returns how long the limit of a project still applies; `undefined` if it is not known to apply. */
  limitOf(kind: Kind, project: string): RateLimited | undefined {
    const retryAfterMs = (this.#limitedUntil.get(`${kind} ${project}`) ?? 0) - this.#machine.now();
    return retryAfterMs > 0 ? { retryAfterMs } : undefined;
  }

  /** Remembers that the store rejected a create or message. */
  remember(kind: Kind, project: string, { retryAfterMs }: RateLimited): void {
    this.#limitedUntil.set(`${kind} ${project}`, this.#machine.now() + retryAfterMs);
  }
}
