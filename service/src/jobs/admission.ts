import pLimit, { type LimitFunction } from "p-limit";
import { type Machine, thisMachine } from "../machine.ts";
import type { RateLimited } from "../model.ts";

/** Of the ten connections to a database, so that some are left for those who read. */
const atOnce = 6;
/** So that a project whose creates wait for each other does not keep those of other projects waiting. */
const ofProjectAtOnce = 3;

type Kind = "create" | "message";

/**
 * Decides when creates and messages may use the store: few at a time, and none that the hourly limit of its project is known to
 * reject. Otherwise a project beyond its limit that does not stop asking takes all connections, and time from everybody.
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

  /** Uses the store for a create or message, when few others do. */
  run<T>(project: string, use: () => Promise<T>): Promise<T> {
    const own = this.#projects.get(project) ?? pLimit(ofProjectAtOnce);
    this.#projects.set(project, own);
    return own(() => this.#all(use));
  }

  /** Returns how long a project is limited still; `undefined` if that is unknown. */
  limitOf(kind: Kind, project: string): RateLimited | undefined {
    const retryAfterMs = (this.#limitedUntil.get(`${kind} ${project}`) ?? 0) - this.#machine.now();
    return retryAfterMs > 0 ? { retryAfterMs } : undefined;
  }

  /** Remembers that the store has rejected a create or message. */
  remember(kind: Kind, project: string, { retryAfterMs }: RateLimited): void {
    this.#limitedUntil.set(`${kind} ${project}`, this.#machine.now() + retryAfterMs);
  }
}
