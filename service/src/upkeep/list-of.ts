/** Keeps a line of the log readable when a round affects thousands of jobs. */
const maxNames = 20;

/** Returns names as text, the first 20 of them if there are more: "a, b and 980 more". */
export function listOf(names: readonly string[]): string {
  return new NameList().add(names).text;
}

/** Names for the log, of which it keeps no more than it shows. */
export class NameList {
  readonly #first: string[] = [];
  /** How many names were added. */
  count = 0;

  add(names: readonly string[]): this {
    this.#first.push(...names.slice(0, maxNames - this.#first.length));
    this.count += names.length;
    return this;
  }

  /** The first 20 names, and how many more there are. */
  get text(): string {
    const rest = this.count - this.#first.length;
    return this.#first.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  }
}
