/** Logs when something stops working and when it works again, once each, however often it is tried in between. */
export class OutageLog {
  readonly #log: (line: string) => void;
  #isOut = false;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Whether it does not work. */
  get isOut(): boolean {
    return this.#isOut;
  }

  begin(line: string): void {
    if (!this.#isOut) this.#log(line);
    this.#isOut = true;
  }

  end(line: string): void {
    if (this.#isOut) this.#log(line);
    this.#isOut = false;
  }
}
