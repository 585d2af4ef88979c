import type { Cache } from "../../src/runner-kit/cache.ts";

/** The Actions cache, at the port. Keys are immutable, and a restore takes the newest with a prefix. */
export class FakeCache implements Cache {
  readonly entries: { key: string; text: string }[] = [];
  restores = 0;
  /** May throw in place of an answer, or delay it. */
  fault: (operation: "restore" | "save") => void | Promise<void> = () => {};

  async restore(prefix: string): Promise<string | undefined> {
    this.restores++;
    await this.fault("restore");
    return this.entries.findLast(({ key }) => key.startsWith(prefix))?.text;
  }

  async save(key: string, text: string): Promise<void> {
    await this.fault("save");
    if (this.entries.some((entry) => entry.key === key)) throw new Error("the key already exists");
    this.entries.push({ key, text });
  }
}
