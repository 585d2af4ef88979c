import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { stat } from "node:fs/promises";
// The library's own client of both protocols. Its `exports` hide these files, because its API has only archives: it starts
// `tar` and `zstd`, and does not find on one runner what another saved without `zstd`. `imports` of package.json cannot name
// a file in node_modules, so the paths are relative. The version is pinned, and the tests of the cache run all of this.
import { getCacheVersion } from "../../node_modules/@actions/cache/lib/internal/cacheUtils.js";
import { getCacheServiceVersion } from "../../node_modules/@actions/cache/lib/internal/config.js";
import { internalCacheTwirpClient } from "../../node_modules/@actions/cache/lib/internal/shared/cacheTwirpClient.js";

/**
 * What the library hashes into the version of an entry, in place of the paths in an archive. It is the same for all files and
 * on all systems: the key tells what an entry is, and the version only that it is a file as it is.
 */
const paths = ["agent-job-file"];
const anySystem = { enableCrossOsArchive: true };
/** The version of all entries. An entry with another version is not found. */
const version = getCacheVersion(paths, undefined, anySystem.enableCrossOsArchive);

/**
 * Loads the part that has v1 and the transfer of files, with Azure's client. That takes a third of the process's time, and in v2, a
 * look-up that finds nothing needs none of it.
 */
const loadTransfers = () => import("../../node_modules/@actions/cache/lib/internal/cacheHttpClient.js");

/** The library's own options for v2. Files of up to 128 MiB are one request. */
const blockUpload = { useAzureSdk: true, uploadChunkSize: 64 * 1024 * 1024, uploadConcurrency: 8 };

/**
 * Writes the newest entry whose key has this prefix to a file.
 *
 * @returns whether there is one
 * @throws if that is unknown, or it was not downloaded completely
 */
export async function restoreFile(prefix: string, file: string): Promise<boolean> {
  checkKey(prefix);
  const url = getCacheServiceVersion() === "v2" ? await findV2(prefix) : await findV1(prefix);
  if (url === undefined) return false;
  await download(url, file);
  return true;
}

/**
 * Saves a file.
 *
 * @throws with GitHub's `cache write denied` in the message if the run may not write the cache
 */
export async function saveFile(key: string, file: string): Promise<void> {
  checkKey(key);
  const { size } = await stat(file);
  if (getCacheServiceVersion() === "v2") await saveV2(key, file, size);
  else await saveV1(key, file, size);
}

/** A list of keys is separated by commas in v1. */
function checkKey(key: string): void {
  if (key.length > 512 || key.includes(",")) throw new Error(`${JSON.stringify(key)} cannot be a key of a cache entry`);
}

// Both protocols look for the first key as it is, and then for the others as prefixes.

async function findV1(prefix: string): Promise<string | undefined> {
  const { getCacheEntry } = await loadTransfers();
  const entry = await getCacheEntry([prefix, prefix], paths, anySystem);
  return entry?.archiveLocation;
}

async function findV2(prefix: string): Promise<string | undefined> {
  const request = { key: prefix, restoreKeys: [prefix], version };
  const { ok, signedDownloadUrl } = await internalCacheTwirpClient().GetCacheEntryDownloadURL(request);
  return ok ? signedDownloadUrl : undefined;
}

async function saveV1(key: string, file: string, cacheSize: number): Promise<void> {
  const { reserveCache, saveCache } = await loadTransfers();
  const { result, statusCode, error } = await reserveCache(key, paths, { ...anySystem, cacheSize });
  if (!result?.cacheId) throw new Error(reserveError(key, error?.message ?? `HTTP ${statusCode}`));
  await saveCache(result.cacheId, file);
}

async function saveV2(key: string, file: string, size: number): Promise<void> {
  const client = internalCacheTwirpClient();
  const reserved = await client.CreateCacheEntry({ key, version });
  if (!reserved.ok) throw new Error(reserveError(key, reserved.message));
  const { saveCache } = await loadTransfers();
  await saveCache(-1, file, reserved.signedUploadUrl, { ...blockUpload, archiveSizeBytes: size });
  const saved = await client.FinalizeCacheEntryUpload({ key, version, sizeBytes: String(size) });
  if (!saved.ok)
    throw new Error(`The cache service did not finalize the entry ${key}: ${saved.message || "no reason"}`);
}

function reserveError(key: string, reason: string): string {
  return `The cache service did not reserve the key ${key}: ${reason || "no reason"}`;
}

/**
 * Downloads a file.
 *
 * @throws unless the last response is a success. The library leaves that to `tar`: for some addresses it also writes the text
 *   of an HTTP error to the file, which would be taken for an entry that is unusable forever.
 */
async function download(url: string, file: string): Promise<void> {
  const { downloadCache } = await loadTransfers();
  let status: number | undefined;
  const onResponse = (message: unknown): void => {
    status = (message as { response: { statusCode: number } }).response.statusCode;
  };
  subscribe("http.client.response.finish", onResponse);
  try {
    await downloadCache(url, file, { useAzureSdk: true });
  } finally {
    unsubscribe("http.client.response.finish", onResponse);
  }
  if (status !== 200 && status !== 206) throw new Error(`The cache service responded to the download with ${status}`);
}
