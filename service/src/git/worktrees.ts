import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { Worktree } from "./commit-worktree.ts";
import type { Start } from "./find-start.ts";
import type { Repository } from "./repository.ts";
import { isWorktree, lendWorktree, removeWorktree, takeBackWorktree, type WorktreePlace } from "./worktree.ts";

export interface WorktreesOptions {
  repository: Repository;
  /** For the spare worktree. */
  folder: string;
  /** The branch that new jobs start from. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** How many worktrees are kept for the next turn of their job. 0: none, and no spare one either. */
  kept: number;
  /** In milliseconds. If a checkout from nothing takes longer, a spare worktree is prepared for the next new job. */
  slowCheckoutMs: number;
}

/**
 * The worktrees of jobs, of which those used last are kept, because writing all files of a large repository takes most of the
 * time of a short turn. A new job takes over a spare worktree if there is one. No agent ever had access to a spare one.
 */
export class Worktrees {
  readonly #options: WorktreesOptions;
  readonly #spare: WorktreePlace;
  /** The worktrees of idle jobs by their paths, least recently used first. */
  readonly #kept = new Map<string, WorktreePlace>();
  readonly #inUse = new Set<string>();
  readonly #removals = new Map<string, Promise<void>>();
  #isSlow = false;
  #preparation: Promise<void> = Promise.resolve();

  constructor(options: WorktreesOptions) {
    this.#options = options;
    this.#spare = { tree: join(options.folder, "spare/tree"), index: join(options.folder, "spare/index") };
  }

  /** Whether no turn uses a worktree. */
  get isIdle(): boolean {
    return this.#inUse.size === 0;
  }

  /**
   * Takes care of worktrees that an earlier service left: keeps those used last, and removes the others. Turns may be running
   * meanwhile.
   */
  async adopt(places: readonly WorktreePlace[]): Promise<void> {
    if (this.#options.kept === 0) await removeWorktree(this.#spare);
    const isOurs = ({ tree }: WorktreePlace): boolean => this.#inUse.has(tree) || this.#kept.has(tree);
    const found: { place: WorktreePlace; usedAt: number }[] = [];
    for (const place of places) {
      const index = (await isWorktree(place)) ? await stat(place.index).catch(() => undefined) : undefined;
      if (isOurs(place)) continue;
      if (index === undefined) await this.#remove(place);
      else found.push({ place, usedAt: index.mtimeMs });
    }
    found.sort((one, other) => one.usedAt - other.usedAt);
    const later = [...this.#kept.values()];
    this.#kept.clear();
    for (const place of [...found.map((one) => one.place).filter((one) => !this.#inUse.has(one.tree)), ...later])
      this.#kept.set(place.tree, place);
    await this.#removeExcess();
  }

  /**
   * Checks out the start of a turn, for an agent. When the agent has ended by itself, call `takeBack`, and after the turn in any
   * case `release`.
   *
   * @param signal - kills Git
   */
  async checkOut(place: WorktreePlace, start: Start, signal?: AbortSignal): Promise<Worktree> {
    this.#inUse.add(place.tree);
    this.#kept.delete(place.tree);
    await this.#removals.get(place.tree)?.catch(() => {});
    const { repository, slowCheckoutMs } = this.#options;
    const isNew = !(await isWorktree(place)) && !(await this.#takeSpare(place));
    const startedAt = performance.now();
    const worktree = await repository.checkOut(start, place, signal);
    if (isNew) this.#isSlow = performance.now() - startedAt >= slowCheckoutMs;
    await lendWorktree(place);
    return worktree;
  }

  /** Takes a worktree back from an agent whose processes have all ended. */
  takeBack(place: WorktreePlace): Promise<void> {
    return takeBackWorktree(place);
  }

  /**
   * Ends the use of a worktree after a turn. It is kept for the next one, unless others were used later, or it was not taken
   * back.
   */
  async release(place: WorktreePlace): Promise<void> {
    this.#inUse.delete(place.tree);
    this.#kept.delete(place.tree);
    if (await isWorktree(place)) this.#kept.set(place.tree, place);
    else await this.#remove(place);
    await this.#removeExcess();
  }

  /** Removes the worktrees of idle jobs that are no longer needed. */
  async removeUnneeded(isNeeded: (place: WorktreePlace) => Promise<boolean>): Promise<void> {
    for (const place of [...this.#kept.values()])
      if (!(await isNeeded(place)) && this.#kept.get(place.tree) === place) await this.#remove(place);
  }

  /** Prepares a spare worktree for the next new job, if checkouts are slow and there is none. */
  prepareSpare(): Promise<void> {
    this.#preparation = this.#preparation.catch(() => {}).then(() => this.#prepareSpareNow());
    return this.#preparation;
  }

  async #prepareSpareNow(): Promise<void> {
    const { repository, folder, kept, targetBranch } = this.#options;
    if (!this.#isSlow || kept === 0 || (await isWorktree(this.#spare))) return;
    // Moved when it is complete, so that the one in `spare` always is.
    const place = { tree: join(folder, "spare.new/tree"), index: join(folder, "spare.new/index") };
    await mkdir(join(folder, "spare.new"), { recursive: true });
    await mkdir(join(folder, "spare"), { recursive: true });
    await repository.fetch();
    const head = await repository.branchHead(await repository.targetBranch(targetBranch));
    if (head === undefined) return;
    await repository.restoreWorktree(place, head);
    await this.#move(place, this.#spare);
  }

  async #takeSpare(place: WorktreePlace): Promise<boolean> {
    // If one is being prepared, that is done earlier than another checkout.
    await this.#preparation.catch(() => {});
    if (this.#options.kept === 0 || !(await isWorktree(this.#spare))) return false;
    await this.#move(this.#spare, place);
    return true;
  }

  async #move(from: WorktreePlace, to: WorktreePlace): Promise<void> {
    await removeWorktree(to);
    // The tree first: without the index, it is not taken for a worktree.
    await rename(from.tree, to.tree);
    await rename(from.index, to.index);
  }

  async #removeExcess(): Promise<void> {
    const excess = Math.max(0, this.#kept.size - this.#options.kept);
    for (const place of [...this.#kept.values()].slice(0, excess)) await this.#remove(place);
  }

  /** A turn of the job may begin meanwhile. It waits. */
  async #remove(place: WorktreePlace): Promise<void> {
    this.#kept.delete(place.tree);
    const removal = removeWorktree(place).finally(() => this.#removals.delete(place.tree));
    this.#removals.set(place.tree, removal);
    await removal;
  }
}
