import { lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { create, extract } from "tar";

/** In bytes, of all files together. Agents' sessions have a few megabytes; the cache of a repository has 10 GB in all. */
const maxBytes = 50_000_000;

/** Folders that agents fill again by themselves. */
const regenerated = [".cache", ".npm", "node_modules"];

/** Thrown if a home directory is too large to be kept. */
export class HomeTooLargeError extends Error {
  override readonly name = "HomeTooLargeError";
}

/**
 * Packs the files of a home directory. Left out are links and sockets, caches, and every file that has one of the secrets.
 *
 * @param file - the archive
 * @returns the files that have secrets, relative to the home directory
 * @throws HomeTooLargeError
 */
export async function packHome(home: string, file: string, secrets: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  const withSecrets: string[] = [];
  let bytes = 0;
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(home, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !regenerated.includes(entry.name)) await visit(path);
      if (!entry.isFile()) continue;
      bytes += (await lstat(join(home, path))).size;
      if (bytes > maxBytes) throw new HomeTooLargeError(`it has more than ${maxBytes / 1_000_000} MB`);
      const content = await readFile(join(home, path));
      if (secrets.some((secret) => content.includes(secret))) withSecrets.push(path);
      // Without the dot, a name that begins with @ would stand for an archive.
      else paths.push(`./${path}`);
    }
  };
  await visit("");
  await create({ file, cwd: home, noDirRecurse: true, strict: true }, paths);
  return withSecrets;
}

/**
 * Unpacks the files of a home directory, which does not exist yet. The archive is untrusted: only ordinary files within the
 * directory are written.
 *
 * @throws if it is not an archive that `packHome` can have made; then there is no home directory
 */
export async function unpackHome(file: string, home: string): Promise<void> {
  let bytes = 0;
  try {
    await mkdir(home, { recursive: true });
    await extract({
      file,
      cwd: home,
      strict: true,
      preserveOwner: false,
      filter: (_path, entry) => {
        if (!("type" in entry) || entry.type !== "File") return false;
        entry.mode = (entry.mode ?? 0o600) & 0o700;
        bytes += entry.size;
        return bytes <= maxBytes;
      },
    });
    if (bytes > maxBytes) throw new HomeTooLargeError(`it has more than ${maxBytes / 1_000_000} MB`);
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}
