import type { Store } from "../store/store.ts";

/** What a store remembers of its repository. */
export type RepositoryRecord = Pick<Store, "repository">;

/**
 * Checks that a store belongs to a repository. With another one, the branches of all its jobs would be missing, and the jobs
 * would be archived.
 *
 * @param name - as `repositoryIdentity` returns it
 * @throws if it belongs to another one, with what to do
 */
export async function checkRepository(store: RepositoryRecord, name: string): Promise<void> {
  const known = await store.repository();
  if (known === undefined || known === name) return;
  throw new Error(
    `the jobs of this store belong to the repository ${known}, not to ${name}. Start the service with the right ` +
      "--repository or with another --store. If the repository has moved, start it once with --repository-moved.",
  );
}

/** Returns the name under which a store remembers a repository: its URL without password, query and `.git`. */
export function repositoryIdentity(repositoryName: string): string {
  // Also for URLs that `URL` cannot parse, or whose password it cannot change.
  const name = repositoryName.replace(/^([^/]*:\/\/[^/:]*):[^/]*@/, "$1@");
  if (!URL.canParse(name)) return name;
  const url = new URL(name);
  url.search = "";
  url.hash = "";
  const path = url.href.replace(/\/+$/, "");
  // On this machine, `docs` and `docs.git` are two folders.
  return url.protocol === "file:" ? path : path.replace(/\.git$/, "");
}
