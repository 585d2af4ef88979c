import type { PerProject } from "../per-project.ts";

/** The repositories that the jobs in a store belong to, by the names that `repositoryIdentity` returns. */
export interface KnownRepositories {
  /** By project. */
  ofProjects: ReadonlyMap<string, string>;
  /** The repository whose clone is in the service's folder itself; `undefined` before there is any. */
  main: string | undefined;
}

/**
 * Checks that the jobs of each project belong to its repository. With another one, the branches of all its jobs would be missing,
 * and the jobs would be archived. Projects that are not configured are not checked.
 *
 * @param withJobs - the projects that have jobs
 * @throws if they belong to another one; the message says what to do
 */
export function checkRepositories(
  { ofProjects, main }: KnownRepositories,
  configured: PerProject<string>,
  withJobs: readonly string[],
): void {
  const others = [...ofProjects].filter(([project, name]) => (configured.get(project) ?? name) !== name);
  if (configured.names === undefined) {
    const [name] = configured.values;
    const other = others[0]?.[1] ?? (ofProjects.size === 0 && main !== name ? main : undefined);
    if (other !== undefined)
      throw new Error(
        `the jobs of this store belong to the repository ${other}, not to ${name}. Start the service with the right ` +
          "--repository or with another --store. If the repository has moved, start it once with --repository-moved.",
      );
    return;
  }
  const [project, known] = others.find(([each]) => withJobs.includes(each)) ?? [];
  if (project !== undefined)
    throw new Error(
      `the jobs of the project ${project} belong to the repository ${known}, not to ${configured.get(project)}. Correct the ` +
        "repository in --config, or give the project another name. If the repository has moved, start the service once with " +
        "--repository-moved.",
    );
}

/**
 * Returns the projects of a service whose jobs still belong to its repositories; `undefined` if all do. Another process on the
 * same store may have given some of them another repository since this one started.
 */
export async function ownProjects(
  stored: { ofProjects(): Promise<ReadonlyMap<string, string>> },
  configured: PerProject<string>,
): Promise<readonly string[] | undefined> {
  const names = await stored.ofProjects();
  const isForeign = (project: string): boolean => {
    const name = names.get(project);
    return name !== undefined && name !== configured.get(project);
  };
  const known = configured.names ?? [...names.keys()];
  return known.some(isForeign) ? known.filter((project) => !isForeign(project)) : undefined;
}

/**
 * Returns which repositories the jobs in a store belong to from now on.
 *
 * @param projects - the projects that have jobs or can get some
 */
export function updateRepositories(
  { ofProjects, main }: KnownRepositories,
  configured: PerProject<string>,
  projects: readonly string[],
): KnownRepositories {
  const all = [...new Set([...ofProjects.keys(), ...projects])];
  const updated = new Map(
    all.flatMap((project) => {
      const name = configured.get(project) ?? ofProjects.get(project);
      return name === undefined ? [] : [[project, name] as const];
    }),
  );
  const names = [...updated.values()];
  if (main !== undefined && names.includes(main)) return { ofProjects: updated, main };
  // The repository has moved, and so does the place of its clone.
  const moved = all.find((project) => main !== undefined && ofProjects.get(project) === main);
  const successor = moved === undefined ? undefined : updated.get(moved);
  return { ofProjects: updated, main: successor ?? configured.values[0] ?? main };
}

/** Returns the name under which a store remembers a repository: its URL without password, query and `.git`. */
export function repositoryIdentity(repositoryName: string): string {
  // `URL` cannot parse some URLs, and cannot change the password of others.
  const name = repositoryName.replace(/^([^/]*:\/\/[^/:]*):[^/]*@/, "$1@");
  if (!URL.canParse(name)) return name;
  const url = new URL(name);
  url.search = "";
  url.hash = "";
  const path = url.href.replace(/\/+$/, "");
  // On this machine, `docs` and `docs.git` are two folders.
  return url.protocol === "file:" ? path : path.replace(/\.git$/, "");
}
