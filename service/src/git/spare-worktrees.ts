import { mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GitRepository } from "./git-repository.ts";
import { isWorktree, removeWorktree, type WorktreePlace } from "./worktree.ts";

export interface SpareWorktreesOptions {
  repository: GitRepository;
  /** The clone's, with a folder for each spare worktree. */
  folder: string;
  /** The branch that new jobs start from. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** How many are prepared, and kept by a later service. */
  count: number;
}

/** Worktrees that are prepared for new jobs, each for one. No agent ever had access to them. */
export class SpareWorktrees {
  readonly #options: SpareWorktreesOptions;
  readonly #places: readonly WorktreePlace[];
  /** Those that a job is taking over. */
  readonly #claimed = new Set<WorktreePlace>();
  #preparation: Promise<void> = Promise.resolve();
  /** Ends when the one is ready that is being prepared. */
  #next: Promise<void> | undefined;
  /** Whether a job waits for that one. */
  #isAwaited = false;

  constructor(options: SpareWorktreesOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, (_, index) =>
      this.#placeOf(index === 0 ? "spare" : `spare-${index + 1}`),
    );
  }

  /** Removes the rest of an earlier service that prepared more. */
  async removeExcess(): Promise<void> {
    const used = this.#places.map(({ tree }) => tree);
    // Without the folder, there are none.
    const names = await readdir(this.#options.folder).catch(() => []);
    for (const place of names.filter((name) => /^spare(-\d+)?$/.test(name)).map((name) => this.#placeOf(name)))
      if (!used.includes(place.tree)) await removeWorktree(place);
  }

  /**
   * Prepares those that are missing, one after another.
   *
   * @param isIdle - whether no turn needs the machine. Asked before each but the first
   */
  prepare(isIdle: () => boolean): Promise<void> {
    this.#preparation = this.#preparation.catch(() => {}).then(() => this.#prepareMissing(isIdle));
    return this.#preparation;
  }

  /** Moves one to the place of a job. Returns `false` if there is none. */
  async take(place: WorktreePlace): Promise<boolean> {
    if (await this.#takeReady(place)) return true;
    if (this.#next === undefined || this.#isAwaited) return false;
    // It is ready earlier than another checkout.
    this.#isAwaited = true;
    await this.#next.catch(() => {});
    this.#isAwaited = false;
    return this.#takeReady(place);
  }

  async #takeReady(place: WorktreePlace): Promise<boolean> {
    for (const spare of this.#places) {
      if (this.#claimed.has(spare)) continue;
      this.#claimed.add(spare);
      try {
        if (!(await isWorktree(spare))) continue;
        await move(spare, place);
        return true;
      } finally {
        this.#claimed.delete(spare);
      }
    }
    return false;
  }

  async #prepareMissing(isIdle: () => boolean): Promise<void> {
    let head: string | undefined;
    let isFirst = true;
    for (const spare of this.#places) {
      if (this.#claimed.has(spare) || (await isWorktree(spare))) continue;
      if (!isFirst && !isIdle()) return;
      isFirst = false;
      const prepareOne = async (): Promise<void> => {
        head ??= await this.#fetchHead();
        if (head !== undefined) await this.#prepare(spare, head);
      };
      this.#next = prepareOne();
      await this.#next.finally(() => {
        this.#next = undefined;
      });
      if (head === undefined) return;
    }
  }

  async #fetchHead(): Promise<string | undefined> {
    const { repository, targetBranch } = this.#options;
    await repository.fetch(targetBranch === undefined ? [] : [targetBranch]);
    return repository.branchHead(await repository.targetBranch(targetBranch));
  }

  async #prepare(spare: WorktreePlace, head: string): Promise<void> {
    // Moved when it is complete, so that a spare one always is.
    const place = this.#placeOf("spare.new");
    for (const { tree } of [place, spare]) await mkdir(dirname(tree), { recursive: true });
    await this.#options.repository.restoreWorktree(place, head);
    await move(place, spare);
  }

  #placeOf(name: string): WorktreePlace {
    const { folder } = this.#options;
    return { tree: join(folder, name, "tree"), index: join(folder, name, "index") };
  }
}

async function move(from: WorktreePlace, to: WorktreePlace): Promise<void> {
  await removeWorktree(to);
  // The tree first: without the index, it is not taken for a worktree.
  await rename(from.tree, to.tree);
  await rename(from.index, to.index);
}
