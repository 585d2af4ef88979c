import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
// The library's own client of both protocols. Its `exports` hide these files, because its API has only archives.
import {
  downloadCache,
  getCacheEntry,
  reserveCache,
  saveCache,
} from "../../node_modules/@actions/cache/lib/internal/cacheHttpClient.js";
import { getCacheVersion } from "../../node_modules/@actions/cache/lib/internal/cacheUtils.js";
import { getCacheServiceVersion } from "../../node_modules/@actions/cache/lib/internal/config.js";
import { internalCacheTwirpClient } from "../../node_modules/@actions/cache/lib/internal/shared/cacheTwirpClient.js";

// A program that saves and restores a text with `@actions/cache`, and prints what it restored as the last line:
// `node library-cache.ts save KEY TEXT FOLDER` or `restore PREFIX "" FOLDER`.

const [operation, key = "", text = "", folder = ""] = process.argv.slice(2);
const paths = ["agent-job-file"];
const anySystem = { enableCrossOsArchive: true };
const version = getCacheVersion(paths, undefined, true);
const isV2 = getCacheServiceVersion() === "v2";
const file = join(folder, "entry");

async function save(): Promise<void> {
  const size = Buffer.byteLength(text);
  await writeFile(file, text);
  if (!isV2) {
    const { result } = await reserveCache(key, paths, { ...anySystem, cacheSize: size });
    return saveCache(result?.cacheId ?? 0, file);
  }
  const client = internalCacheTwirpClient();
  const { signedUploadUrl } = await client.CreateCacheEntry({ key, version });
  const options = { useAzureSdk: true, uploadChunkSize: 64 * 1024 * 1024, uploadConcurrency: 8 };
  await saveCache(-1, file, signedUploadUrl, { ...options, archiveSizeBytes: size });
  const { ok } = await client.FinalizeCacheEntryUpload({ key, version, sizeBytes: String(size) });
  if (!ok) throw new Error("not finalized");
}

async function find(): Promise<string | undefined> {
  if (!isV2) return (await getCacheEntry([key, key], paths, anySystem))?.archiveLocation;
  const found = await internalCacheTwirpClient().GetCacheEntryDownloadURL({ key, restoreKeys: [key], version });
  return found.signedDownloadUrl;
}

if (operation === "save") {
  await save();
} else {
  await downloadCache((await find()) ?? "", file, { useAzureSdk: true });
  console.log(`\n${JSON.stringify(await readFile(file, "utf8"))}`);
}
