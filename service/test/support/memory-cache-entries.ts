import { readFileSync, writeFileSync } from "node:fs";
import { CacheReadOnlyError } from "../../../src/runner-kit/cache.ts";
import type { CacheEntries } from "../../step/memory/cache-entries.ts";

interface Entry {
  scope: string;
  key: string;
  content: Buffer;
}

/** The Actions cache of a repository, at the port. Entries belong to the branch or pull request whose run saved them. */
export class RepositoryCache {
  readonly entries: Entry[] = [];

  /**
   * Returns the cache as a run sees it: its own entries and the default branch's.
   *
   * @param access - default: the least that GitHub grants
   * @param scope - default: the default branch
   */
  ofRun({ access = "read", scope = "main" }: { access?: "read" | "write"; scope?: string } = {}): CacheEntries {
    return {
      save: async (key, file) => {
        if (access === "read") throw new CacheReadOnlyError("cache write denied: token has no writable scopes");
        if (this.entries.some((entry) => entry.key === key && entry.scope === scope))
          throw new Error("the key is used");
        this.entries.push({ scope, key, content: readFileSync(file) });
      },
      restore: async (prefix, file) => {
        const found = [scope, "main"]
          .map((one) => this.entries.findLast((entry) => entry.scope === one && entry.key.startsWith(prefix)))
          .find((entry) => entry !== undefined);
        if (found !== undefined) writeFileSync(file, found.content);
        return found !== undefined;
      },
    };
  }
}
