import { existsSync } from "node:fs";
import { chmod, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Connection } from "./connection.ts";
import { checkStore } from "./schema.ts";

/**
 * Copies a store to a new file, as it was at one moment, even while a service runs on it. The copy gets its name when it is complete.
 *
 * @throws if there is no such store, or `file` exists already
 */
export async function backUpStore(store: string, file: string): Promise<void> {
  if (!existsSync(store)) throw new Error(`there is no store ${store}`);
  if (existsSync(file)) throw new Error(`${file} exists already: choose another one`);
  const partial = `${file}.partial`;
  await rm(partial, { force: true });
  try {
    {
      using db = new Connection(store, () => {});
      checkStore(db, store);
      db.run("VACUUM INTO ?", partial);
    }
    {
      using copy = new Connection(partial, () => {});
      checkStore(copy, partial);
    }
    // The store contains prompts.
    await chmod(partial, 0o600);
    await synchronize(partial);
    await rename(partial, file);
    await synchronize(dirname(file));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function synchronize(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}
