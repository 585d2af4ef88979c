import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Enough for the clone, the worktrees and the logs, besides what the service wants to be free. */
const megabytes = 400;

/** A file system of its own in memory, which can be filled. Disposing of it removes it. */
export class SmallDisk implements Disposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Mounts one at a folder, which need not exist. Returns `undefined` if this process may not mount anything. */
  static mount(folder: string): SmallDisk | undefined {
    mkdirSync(folder, { recursive: true });
    const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder];
    return spawnSync("mount", options).status === 0 ? new SmallDisk(folder) : undefined;
  }

  /** Returns one that is mounted. */
  static at(folder: string): SmallDisk {
    return new SmallDisk(folder);
  }

  /** Leaves no space. */
  fill(): void {
    const file = openSync(this.#ballast, "w");
    const block = Buffer.alloc(65_536);
    try {
      for (;;) writeSync(file, block);
    } catch {
      // It is full.
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    spawnSync("umount", ["--lazy", this.folder]);
  }

  get #ballast(): string {
    return join(this.folder, "ballast");
  }
}
