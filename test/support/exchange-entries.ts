import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { connectCache } from "../../src/runner-kit/connect-cache.ts";

/** What each client of a cache restored of the other. */
export interface Exchanged {
  fromLibrary: string | undefined;
  byLibrary: string;
}

const program = join(import.meta.dirname, "library-cache.ts");

/**
 * Saves a text with `@actions/cache` and restores it with our client, and the other way round.
 *
 * @param prefix - of the keys, which must be new
 */
export async function exchangeEntries(
  prefix: string,
  text: string,
  environment: NodeJS.ProcessEnv,
): Promise<Exchanged> {
  const folder = mkdtempSync(join(tmpdir(), "library-cache-"));
  const library = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, folder], { env: environment });
    return stdout.trimEnd().split("\n").at(-1) ?? "";
  };
  try {
    const cache = connectCache(environment);
    await library("save", `${prefix}library-1`, text);
    await cache.save(`${prefix}ours-1`, text);
    return {
      fromLibrary: await cache.restore(`${prefix}library-`),
      byLibrary: String(JSON.parse(await library("restore", `${prefix}ours-`, ""))),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
