import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeDirectory } from "../remove-directory.ts";

/** The entries of a bare repository that the service's commands use. The others, such as hooks, only change what Git does. */
const used = /^(HEAD|FETCH_HEAD|config|objects|refs|packed-refs(\.new)?|.*\.lock)$/;

/**
 * Keeps the control files of a bare repository as the service created them. Otherwise an agent that can write to them could
 * make a later Git command of the service run a program, or use objects from elsewhere.
 */
export class ControlFiles {
  readonly #repository: string;
  readonly #configFile: string;
  #config: Buffer | undefined;
  #writes = 0;

  constructor(repository: string) {
    this.#repository = repository;
    this.#configFile = join(repository, "config");
  }

  /** Removes the configuration too, which an agent of an earlier service may have changed. `git init` creates it again. */
  async reset(): Promise<void> {
    this.#config = undefined;
    await this.#removeUnused();
    await removeDirectory(this.#configFile);
  }

  /** Remembers the configuration that `git init` created. */
  async remember(): Promise<void> {
    this.#config = readFileSync(this.#configFile);
  }

  /** The configuration that `git init` created. */
  get config(): string {
    return this.#config?.toString() ?? "";
  }

  /**
   * Undoes all changes. Does nothing before `remember` was called. Each command waits for this, and there is hardly ever anything to
   * undo, so it looks without the thread pool, which costs several times as much.
   */
  async restore(): Promise<void> {
    if (this.#config === undefined) return;
    await this.#removeUnused();
    const config = lstatSync(this.#configFile, { throwIfNoEntry: false });
    // A file of another size, which may be huge, is not read.
    const isSame = config?.isFile() && config.size === this.#config.length;
    if (isSame && this.#config.equals(readFileSync(this.#configFile))) return;
    if (config?.isDirectory()) await removeDirectory(this.#configFile);
    // Renamed, because another command may be starting at the same time.
    const file = `${this.#configFile}-${++this.#writes}.lock`;
    await removeDirectory(file);
    await writeFile(file, this.#config, { flag: "wx" });
    await rename(file, this.#configFile);
  }

  async #removeUnused(): Promise<void> {
    await Promise.all(this.#unused().map((entry) => removeDirectory(join(this.#repository, entry))));
  }

  #unused(): string[] {
    const unused = readdirSync(this.#repository).filter((entry) => !used.test(entry));
    // Git puts nothing into `objects/info` without being asked, but `alternates` in it would add objects of an agent's choice.
    const info = "objects/info";
    return lstatSync(join(this.#repository, info), { throwIfNoEntry: false }) === undefined
      ? unused
      : [...unused, info];
  }
}
