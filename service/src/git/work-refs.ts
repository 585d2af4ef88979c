import type { Clone } from "./clone.ts";
import { workRefPrefix } from "./clone-refs.ts";
import { GitError } from "./git.ts";
import type { Settings } from "./settings.ts";

/** In bytes: anyone with push access can create such a ref. */
const maxBytes = 60_000_000;

/** What Git says if a ref is gone, or has no such file. */
const noTextMessages = /couldn't find remote ref|^git cat-file exited/;

/**
 * Stores texts in refs of the repository, each as a parentless commit with one file. Anyone with push access can write them; no branch can
 * be merged with one.
 */
export class WorkRefs {
  readonly #clone: Clone;

  constructor(clone: Clone) {
    this.#clone = clone;
  }

  /** Adds the credentials with which they are pushed first; see `Clone.useForRefs`. */
  useFirst(settings: Settings): void {
    this.#clone.useForRefs(settings);
  }

  /** Names without the prefix, as of the last branch listing, updated by writes and removals since then. */
  get names(): readonly string[] {
    return [...this.#clone.workRefs];
  }

  /** Lists the names, unless they were listed at most `maxAgeMs` ago. @throws GitError */
  list(maxAgeMs = 0): Promise<void> {
    return this.#clone.list(maxAgeMs);
  }

  /**
   * Writes a text.
   *
   * @param name - must be unused
   * @param job - the clone drops its local copy together with this job's commits
   * @param replaces - names of texts that it replaces
   * @returns see `Clone.pushRefs`
   * @throws GitError if it cannot be pushed
   */
  async write(
    name: string,
    job: string,
    text: Uint8Array,
    replaces: readonly string[] = [],
  ): Promise<GitError | undefined> {
    const { git } = this.#clone;
    const local = `refs/earlier/${job}/work`;
    const head = `commit ${local}\ncommitter agent-work <agent-work@localhost> 0 +0000\ndata 11\nKept work.\n\n`;
    const file = `M 100644 inline change\ndata ${text.length}\n`;
    const input = Buffer.concat([Buffer.from(head + file), text, Buffer.from("\n")]);
    await git.run(["fast-import", "--quiet", "--force"], { input });
    const push = (): Promise<GitError | undefined> => {
      const there = replaces.filter((replaced) => this.#clone.workRefs.has(replaced));
      return this.#clone.pushRefs([`${local}:${workRefPrefix}${name}`, ...there.map(deletion)]);
    };
    const denied = await push().catch(async (error: unknown) => {
      const isListed = await this.list().then(
        () => true,
        () => false,
      );
      // The push arrived, and its answer was lost: nobody else writes this name.
      if (isListed && this.#clone.workRefs.has(name)) return undefined;
      // Another machine may have removed a replaced one, which fails the whole push.
      if (!isListed || replaces.length === 0) throw error;
      return push();
    });
    for (const replaced of replaces) this.#clone.workRefs.delete(replaced);
    this.#clone.workRefs.add(name);
    return denied;
  }

  /** Returns a text; `undefined` if it is gone or has another format. @throws GitError if it cannot be read now */
  async read(name: string): Promise<Uint8Array | undefined> {
    const { git } = this.#clone;
    const local = "refs/read-work/one";
    try {
      return await this.#clone.updateRefs(async () => {
        await this.#clone.fetchRef(`${workRefPrefix}${name}`, local);
        const text = await git.run(["cat-file", "blob", `${local}:change`], { encoding: "latin1", maxBytes });
        return Buffer.from(text, "latin1");
      });
    } catch (error) {
      if (error instanceof GitError && noTextMessages.test(error.message)) return undefined;
      throw error;
    }
  }

  /** Removes texts. @throws GitError if they cannot be removed */
  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await this.#clone.pushRefs(names.map(deletion));
    for (const name of names) this.#clone.workRefs.delete(name);
  }
}

const deletion = (name: string): string => `:${workRefPrefix}${name}`;
