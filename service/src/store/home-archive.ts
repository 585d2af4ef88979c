import { lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { create, extract } from "tar";
import { SecretPatterns } from "../secret-patterns.ts";

export interface ArchiveLimits {
  megabytes: number;
  /** The number of files and folders of all kinds. */
  entries: number;
}

/** For homes that steps remember. Without a limit, empty files would take a long time. */
const defaultLimits: ArchiveLimits = { megabytes: 50, entries: 10_000 };

/** Folders that agents fill again on their own. */
const regenerated = [".cache", ".npm", "node_modules"];

/** Returns a function that adds up the sizes of entries, and throws if they become too many or too large. */
function within({ megabytes, entries }: ArchiveLimits): (bytes: number) => void {
  let [size, count] = [0, 0];
  return (bytes) => {
    size += bytes;
    if (size > megabytes * 1_000_000) throw new Error(`it has more than ${megabytes} MB`);
    if (++count > entries) throw new Error(`it has more than ${entries} files`);
  };
}

/**
 * Packs the files of a home directory, except links, sockets, caches, and every file that contains one of the secrets, as it is or encoded.
 *
 * @param file - the archive
 * @param isCompressed - with Zstandard, because sessions repeat long parts, which gzip does not see. Default: not
 * @returns the files that contain secrets, relative to the home directory
 * @throws if it is too large, has no files, or cannot be read
 */
export async function packHome(
  home: string,
  file: string,
  secrets: readonly string[],
  limits = defaultLimits,
  isCompressed = false,
): Promise<string[]> {
  const paths: string[] = [];
  const withSecrets: string[] = [];
  const patterns = new SecretPatterns(secrets.map((value) => ({ name: "", value })));
  const add = within(limits);
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(home, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      add(entry.isFile() ? (await lstat(join(home, path))).size : 0);
      if (entry.isDirectory() && !regenerated.includes(entry.name)) await visit(path);
      if (!entry.isFile()) continue;
      const content = await readFile(join(home, path));
      const searched = `${Buffer.from(path).toString("latin1")}\n${content.toString("latin1")}`;
      if (await patterns.find(searched)) withSecrets.push(await patterns.remove(path));
      // Without the dot, a name that begins with @ would mean an archive.
      else paths.push(`./${path}`);
    }
  };
  await visit("");
  if (paths.length === 0) throw new Error("it has no files to keep");
  await create({ file, cwd: home, strict: true, zstd: isCompressed }, paths);
  return withSecrets;
}

/**
 * Unpacks the files of a home directory, which does not exist yet. The archive is untrusted: only ordinary files within the
 * directory are written.
 *
 * @throws if it is not an archive that `packHome` can have made. There is no home directory then
 */
export async function unpackHome(file: string, home: string, limits = defaultLimits): Promise<void> {
  const add = within(limits);
  await mkdir(home, { recursive: true });
  try {
    // Asynchronously, it would still write files after an error, while the directory is removed.
    extract({
      file,
      cwd: home,
      sync: true,
      strict: true,
      preserveOwner: false,
      // Files of zeros compress well. What comes out is bounded here, also for entries that are left out.
      maxDecompressionRatio: Number.POSITIVE_INFINITY,
      filter: (_path, entry) => {
        if (!("type" in entry)) return false;
        add(entry.size);
        if (entry.type !== "File") return false;
        entry.mode = (entry.mode ?? 0o600) & 0o700;
        return true;
      },
    });
  } catch (error) {
    await rm(home, { recursive: true });
    throw error;
  }
}
