/**
 * What happens first of several things at the same time. After a pause, a process runs its timers, then reads its
 * sockets, and only then the timers that let everything be read first.
 */
export const order = { timer: 0, read: 1, timerAfterReads: 2 } as const;
export type Order = (typeof order)[keyof typeof order];

interface TimelineEvent {
  at: number;
  order: Order;
  run: () => void;
  isCancelled: boolean;
}

/** More events than this mean that a run does not end. */
const maxEvents = 100_000;

/** Simulated time, in milliseconds: it jumps from one event to the next. */
export class Timeline {
  now = 0;
  #events: TimelineEvent[] = [];
  readonly #settled: () => Promise<void>;

  /** @param settled - resolves once everything has happened that needs no time. Default: it waits for promises alone */
  constructor(settled = microtasks) {
    this.#settled = settled;
  }

  /** Calls `run` at a time, or now if that has passed. Returns a function that cancels it. */
  at(time: number, when: Order, run: () => void): () => void {
    const event = { at: Math.max(time, this.now), order: when, run, isCancelled: false };
    const index = this.#events.findLastIndex(
      (other) => other.at < event.at || (other.at === event.at && other.order <= event.order),
    );
    this.#events.splice(index + 1, 0, event);
    return () => {
      event.isCancelled = true;
    };
  }

  /**
   * Lets time pass until `isOver`, which is called when everything that an event caused has run.
   *
   * @returns false if nothing is left to happen, or too much happens
   */
  async run(isOver: () => boolean): Promise<boolean> {
    for (let count = 0; count < maxEvents; count++) {
      await this.#settled();
      if (isOver()) return true;
      const event = this.#next();
      if (!event) return false;
      this.now = event.at;
      event.run();
    }
    return false;
  }

  #next(): TimelineEvent | undefined {
    let event: TimelineEvent | undefined;
    do event = this.#events.shift();
    while (event?.isCancelled);
    return event;
  }
}

/** Resolves once every promise that can settle without time passing has settled. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
