import { execFile } from "node:child_process";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import type { Log } from "../log/log.ts";
import { OutageLog } from "../log/outage-log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { DiskUse as Measured } from "../model.ts";
import { jobsFolder, logsFolder } from "../service-folder.ts";
import { minuteMs } from "../time.ts";
import type { Round } from "./rounds.ts";

/** A repository whose clone is in the service's folder. */
export interface ClonePlace {
  name: string;
  folder: string;
  /** Returns the size of a worktree of its target branch. */
  checkoutBytes(): Promise<number>;
}

export interface DiskUseOptions {
  folder: string;
  clones: readonly ClonePlace[];
  /** How many worktrees of a repository there can be at a time. */
  worktreesPerClone: number;
  onMeasured: (measured: Measured) => void;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: Log;
  machine?: Pick<Machine, "freeBytes" | "now">;
  /** Returns the bytes of each folder in a folder, to a depth of three. Default: as `du` says. */
  folderSizes?: typeof folderSizes;
}

/** The sizes are measured at most this often, and take at most this part of the time. */
const intervalMs = 15 * minuteMs;
const measuringRatio = 1 / 100;
/** Besides what worktrees may still need. Below a quarter of it, health fails, and below a tenth, no turn starts. */
const spareBytes = 1_000_000_000;

/** Measures what the service has on its disk. Says at first how much that may become, and later when the disk is getting full. */
export class DiskUse implements Round {
  readonly name = "DiskUse";
  readonly #options: DiskUseOptions;
  readonly #machine: Pick<Machine, "freeBytes" | "now">;
  readonly #low: OutageLog;
  #measured: Omit<Measured, "freeBytes"> | undefined;
  /** What the worktrees of all repositories take together if there are as many as can be. */
  #mostWorktreeBytes = 0;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(options: DiskUseOptions) {
    this.#options = options;
    this.#machine = options.machine ?? thisMachine;
    this.#low = new OutageLog(options.log);
  }

  async run(): Promise<void> {
    const { folder, onMeasured, signal } = this.#options;
    const isFirst = this.#measured === undefined;
    if (this.#machine.now() >= this.#nextAt) await this.#measure();
    const freeBytes = await this.#machine.freeBytes(folder);
    if (signal.aborted || this.#measured === undefined) return;
    onMeasured({ ...this.#measured, freeBytes });
    if (isFirst) this.#announce(freeBytes);
    const { worktreeBytes } = this.#measured;
    const neededBytes = spareBytes + Math.max(0, this.#mostWorktreeBytes - worktreeBytes);
    if (freeBytes < neededBytes)
      this.#low.begin(
        `The disk of ${folder} is getting full: ${inMb(freeBytes)} are free, and worktrees may still need ${inMb(neededBytes - spareBytes)}. Below 100 MB, no turn starts.`,
      );
    else if (freeBytes > 1.1 * neededBytes) this.#low.end(`The disk of ${folder} has room again: ${inMb(freeBytes)}.`);
  }

  async #measure(): Promise<void> {
    const { folder, clones, worktreesPerClone, signal } = this.#options;
    const startedAt = this.#machine.now();
    const checkouts = await Promise.all(clones.map((clone) => clone.checkoutBytes()));
    this.#mostWorktreeBytes = checkouts.reduce((sum, bytes) => sum + bytes * worktreesPerClone, 0);
    const sizes = await (this.#options.folderSizes ?? folderSizes)(folder, signal);
    const sum = (pattern: RegExp) =>
      [...sizes].reduce((total, [path, bytes]) => (pattern.test(path) ? total + bytes : total), 0);
    const jobs = relative(folder, jobsFolder(folder));
    const treeBytes = sum(new RegExp(`^${jobs}/[^/]+/tree$`));
    this.#measured = {
      clones: clones.map((clone) => ({
        repository: clone.name,
        bytes: sizes.get(relative(folder, join(clone.folder, "mirror.git"))) ?? 0,
      })),
      worktreeBytes: treeBytes + sum(/^(?:clones\/[^/]+\/)?spare(?:-\d+)?$/),
      // With the events of agents, and what `--setup` caches.
      homeBytes: sum(new RegExp(`^${jobs}/[^/]+$`)) - treeBytes,
      logBytes: sizes.get(relative(folder, logsFolder(folder))) ?? 0,
    };
    const now = this.#machine.now();
    this.#nextAt = now + Math.max(intervalMs, (now - startedAt) / measuringRatio);
  }

  #announce(freeBytes: number): void {
    const { clones, worktreeBytes, homeBytes, logBytes } = this.#measured ?? noUse;
    const cloneBytes = clones.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#options.log(
      `Disk: clones ${inMb(cloneBytes)}, worktrees ${inMb(worktreeBytes)}, which may become ${inMb(this.#mostWorktreeBytes)}, homes ${inMb(homeBytes)} and logs ${inMb(logBytes)}, which grow with the number of jobs. Free: ${inMb(freeBytes)}.`,
    );
  }
}

const noUse: Omit<Measured, "freeBytes"> = { clones: [], worktreeBytes: 0, homeBytes: 0, logBytes: 0 };

const inMb = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;

/** For each of 100,000 jobs, a few lines. */
const maxOutputBytes = 200_000_000;

/** Returns the bytes of each folder in a folder, to a depth of three, by its path in it. A process of its own reads them. */
async function folderSizes(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  // It exits with 1 if a file was removed meanwhile, and still prints the sizes.
  const run = promisify(execFile)("du", ["-k", "-d", "3", "--", folder], { signal, maxBuffer: maxOutputBytes });
  const { stdout } = await run.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }));
  const lines = [...stdout.matchAll(/^(\d+)\s+(.*)$/gm)];
  return new Map(lines.map(([, kb, path = ""]) => [relative(folder, path), Number(kb) * 1024]));
}
