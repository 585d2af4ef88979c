import { stat } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import type { Worktree } from "./commit-worktree.ts";
import type { Start } from "./find-start.ts";
import type { GitRepository } from "./git-repository.ts";
import { SpareWorktrees } from "./spare-worktrees.ts";
import { isWorktree, lendWorktree, removeWorktree, takeBackWorktree, type WorktreePlace } from "./worktree.ts";

export interface WorktreesOptions {
  repository: GitRepository;
  /** For the spare worktrees. */
  folder: string;
  /** The branch that new jobs start from. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** How many worktrees are kept for the next turn of their job. 0: none, and no spare one either. */
  kept: number;
  /** In milliseconds. If a checkout from nothing takes longer, spare worktrees are prepared for the next new jobs. */
  slowCheckoutMs: number;
  /** How many spare worktrees are prepared, at most `kept`. Default: 1. */
  spares?: number | undefined;
}

/**
 * The worktrees of jobs, of which those used last are kept, because writing all files of a large repository takes most of the
 * time of a short turn. A new job takes over a spare worktree if there is one.
 */
export class Worktrees {
  readonly #options: WorktreesOptions;
  readonly #spares: SpareWorktrees;
  /** The worktrees of idle jobs by their paths, least recently used first. */
  readonly #kept = new Map<string, WorktreePlace>();
  readonly #inUse = new Set<string>();
  readonly #removals = new Map<string, Promise<void>>();
  #isSlow = false;

  constructor(options: WorktreesOptions) {
    this.#options = options;
    const { kept, spares = 1 } = options;
    this.#spares = new SpareWorktrees({ ...options, count: Math.min(kept, spares) });
  }

  /** Whether no turn uses a worktree. */
  get isIdle(): boolean {
    return this.#inUse.size === 0;
  }

  /**
   * Takes care of worktrees that an earlier service left: keeps those used last, and removes the others. Turns may be running meanwhile.
   */
  async adopt(places: readonly WorktreePlace[]): Promise<void> {
    await this.#spares.removeExcess();
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
    const isNew = !(await isWorktree(place)) && !(await this.#spares.take(place));
    const startedAt = performance.now();
    const worktree = await repository.checkOut(start, place, signal);
    if (isNew) this.#isSlow = performance.now() - startedAt >= slowCheckoutMs;
    await lendWorktree(place);
    return worktree;
  }

  /** Lends a worktree that was taken back to an agent again. */
  lend(place: WorktreePlace): Promise<void> {
    return lendWorktree(place);
  }

  /** Takes a worktree back from an agent whose processes have all ended. */
  takeBack(place: WorktreePlace): Promise<void> {
    return takeBackWorktree(place);
  }

  /** Ends the use of a worktree after a turn. It is kept for the next one, unless others were used later, or it was not taken back. */
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

  /** Prepares spare worktrees for the next new jobs, if checkouts are slow, until a turn begins. */
  async prepareSpares(): Promise<void> {
    if (this.#isSlow) await this.#spares.prepare(() => this.isIdle);
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
