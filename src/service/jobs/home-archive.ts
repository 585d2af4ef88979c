import { lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { create, extract } from "tar";

/** In bytes, of all files together. Agents' sessions have a few megabytes. */
const maxBytes = 50_000_000;

/** Folders that agents fill again by themselves. */
const regenerated = [".cache", ".npm", "node_modules"];

/** Files and folders of all kinds. Without a limit, empty ones would take a long time. */
const maxEntries = 10_000;

/** Counts what an archive has. */
class Size {
  #bytes = 0;
  #entries = 0;

  /** @throws if that is too much */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.#entries += 1;
    if (this.#bytes > maxBytes) throw new Error(`it has more than ${maxBytes / 1_000_000} MB`);
    if (this.#entries > maxEntries) throw new Error(`it has more than ${maxEntries} files`);
  }
}

/**
 * Packs the files of a home directory. Left out are links and sockets, caches, and every file that has one of the secrets.
 *
 * @param file - the archive
 * @param isCompressed - with gzip. Default: not
 * @returns the files that have secrets, relative to the home directory
 * @throws if it is too large, has no files, or cannot be read
 */
export async function packHome(
  home: string,
  file: string,
  secrets: readonly string[],
  isCompressed = false,
): Promise<string[]> {
  const paths: string[] = [];
  const withSecrets: string[] = [];
  const size = new Size();
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(home, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      size.add(entry.isFile() ? (await lstat(join(home, path))).size : 0);
      if (entry.isDirectory() && !regenerated.includes(entry.name)) await visit(path);
      if (!entry.isFile()) continue;
      const content = await readFile(join(home, path));
      if (secrets.some((secret) => content.includes(secret))) withSecrets.push(path);
      // Without the dot, a name that begins with @ would stand for an archive.
      else paths.push(`./${path}`);
    }
  };
  await visit("");
  if (paths.length === 0) throw new Error("it has no files to keep");
  await create({ file, cwd: home, noDirRecurse: true, strict: true, gzip: isCompressed }, paths);
  return withSecrets;
}

/**
 * Unpacks the files of a home directory, which does not exist yet. The archive is untrusted: only ordinary files within the
 * directory are written.
 *
 * @throws if it is not an archive that `packHome` can have made; then there is no home directory
 */
export async function unpackHome(file: string, home: string): Promise<void> {
  const size = new Size();
  let excess: unknown;
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
        try {
          size.add(entry.size);
        } catch (error) {
          excess ??= error;
        }
        return excess === undefined;
      },
    });
    if (excess !== undefined) throw excess;
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}
