import type { Machine } from "../../machine.ts";

/** How often a process may come too late before its next wake is delayed. With few processes, each soon gets a turn. */
const freeMisses = 3;
const firstSpreadMs = 20;
const lastSpreadMs = 2000;

/**
 * Decides when a notification that a turn is ready wakes this process. It wakes all processes with a free place, and one of them gets
 * the turn. So a process that has come too late several times waits for a random time before it looks. With many free processes, one of
 * them still looks soon, and the others look once for many turns.
 */
export class WakeUps {
  readonly #wake: () => void;
  readonly #machine: Pick<Machine, "sleep" | "random">;
  readonly #signal: AbortSignal;
  /** How often in a row this process came too late. */
  #misses = 0;
  #isDue = false;
  /** Whether it was woken, and has not looked yet. */
  #isWoken = false;

  /** @param signal - ends the waits. Nothing is woken then */
  constructor(wake: () => void, machine: Pick<Machine, "sleep" | "random">, signal: AbortSignal) {
    this.#wake = wake;
    this.#machine = machine;
    this.#signal = signal;
  }

  /** Wakes the process now or soon. */
  notified(): void {
    if (this.#misses < freeMisses) this.#wakeNow();
    else if (!this.#isDue) void this.#wakeLater();
  }

  /** Tells whether there was a turn when the process looked, for whatever reason. */
  looked(hasTurn: boolean): void {
    if (hasTurn) this.#misses = 0;
    else if (this.#isWoken) this.#misses++;
    this.#isWoken = false;
  }

  async #wakeLater(): Promise<void> {
    this.#isDue = true;
    const spreadMs = Math.min(lastSpreadMs, firstSpreadMs * 2 ** (this.#misses - freeMisses));
    await this.#machine.sleep(spreadMs * this.#machine.random(), this.#signal);
    this.#isDue = false;
    if (!this.#signal.aborted) this.#wakeNow();
  }

  #wakeNow(): void {
    this.#isWoken = true;
    this.#wake();
  }
}
