import type { Log } from "./log.ts";

/** Logs once when something stops working and once when it works again, however many attempts are between. */
export class OutageLog {
  readonly #log: Log;
  readonly #onBegin: () => void;
  #isOut = false;

  /** @param onBegin - called once for each outage. Default: does nothing */
  constructor(log: Log, onBegin: () => void = () => {}) {
    this.#log = log;
    this.#onBegin = onBegin;
  }

  /** Whether the outage lasts. */
  get isOut(): boolean {
    return this.#isOut;
  }

  begin(line: string): void {
    if (this.#isOut) return;
    this.#isOut = true;
    this.#log(line, "warn");
    this.#onBegin();
  }

  end(line: string): void {
    if (this.#isOut) this.#log(line);
    this.#isOut = false;
  }
}
