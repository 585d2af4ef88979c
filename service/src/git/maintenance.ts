import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "./git.ts";

/** A turn adds some ten loose objects. Many of them make every command of Git slower. */
const maxLooseObjects = 1000;
/** Every fetch of many objects adds one. */
const maxPacks = 20;
/**
 * Younger objects are kept even if no ref needs them: a running turn may be about to use them, or the worktree of an agent refers to them.
 */
const unreachableExpiry = "14.days.ago";
/** A large repository takes long to pack. */
const timeLimitMs = 6 * 3_600_000;

/** Returns whether the clone has so many loose objects or packs that packing it pays. */
export async function needsPacking(objects: string): Promise<boolean> {
  let loose = 0;
  for (const folder of await readdir(objects)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    loose += (await readdir(join(objects, folder))).length;
    if (loose > maxLooseObjects) return true;
  }
  const packs = await readdir(join(objects, "pack")).catch(() => []);
  return packs.filter((name) => name.endsWith(".pack")).length > maxPacks;
}

/**
 * Packs all objects of the clone, and removes those that no ref has needed for two weeks. Other commands may run meanwhile.
 *
 * @param git - runs in the clone
 */
export async function pack(git: Git): Promise<void> {
  // With one thread, because agents may start while it runs. Without the files for transfers by plain HTTP.
  const repack = ["-c", "pack.threads=1", "repack", "-a", "-d", "-l", "-n", "--quiet"];
  await git.run([...repack, "--cruft", `--cruft-expiration=${unreachableExpiry}`], { timeLimitMs });
  // Loose objects that are not needed were not packed.
  await git.run(["prune", `--expire=${unreachableExpiry}`], { timeLimitMs });
}
