import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the folder that has the clone of a repository: the service's own for one of them, so that a service with one
 * repository has no other folder; one in `clones` for each other one.
 *
 * @param folder - the service's
 * @param identity - names the repository
 * @param main - the repository whose clone is in the service's folder
 */
export function cloneFolder(folder: string, identity: string, main: string | undefined): string {
  if (identity === main) return folder;
  // Readable, and different for each repository.
  const name =
    /([^/:]*)$/
      .exec(identity)?.[1]
      ?.replace(/[^\w-]/g, "_")
      .slice(0, 40) ?? "";
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  return join(folder, "clones", `${name}-${hash}`);
}

/** Gives the clone of a repository that has moved the folder of its new address, unless that exists. */
export function moveCloneFolder(from: string, to: string): void {
  if (!existsSync(from) || existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
}
