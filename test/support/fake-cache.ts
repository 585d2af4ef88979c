import type { Cache } from "../../src/runner-kit/cache.ts";

/** The Actions cache, at the port. Keys are immutable, and a restore takes the newest with a prefix. */
export class FakeCache implements Cache {
  readonly entries: { key: string; text: string }[] = [];
  restores = 0;
  readonly #used = new Set<string>();
  /** May throw in place of an answer, or delay it. */
  fault: (operation: "restore" | "save") => void | Promise<void> = () => {};

  async restore(prefix: string): Promise<string | undefined> {
    this.restores++;
    await this.fault("restore");
    return this.entries.findLast(({ key }) => key.startsWith(prefix))?.text;
  }

  async save(key: string, text: string): Promise<void> {
    // A save that fails has used its key up, too.
    if (this.#used.has(key)) throw new Error("the key already exists");
    this.#used.add(key);
    await this.fault("save");
    this.entries.push({ key, text });
  }
}
