import type { ChangedFile, Changes } from "./changes.ts";
import { withoutMergesOf } from "./own-merges.ts";
import type { PathFilter } from "./paths.ts";
import { findRange, type RangeQuery } from "./range.ts";
import { type Comparison, Repository, type RepositoryPorts } from "./repository.ts";
import { formatChanges } from "./section.ts";

export interface ChangesQuery extends RangeQuery {
  /** `undefined` if all files count. */
  paths: PathFilter | undefined;
  /** Whether the section includes the patches. */
  withPatches: boolean;
  /** `owner/name`: `GITHUB_REPOSITORY`. */
  repository: string;
  /** The address of the runner's GitHub: `GITHUB_SERVER_URL`. */
  serverUrl: string;
  /** The numbers of the session's pull requests in this repository, whose changes do not count. */
  ownPullRequests: readonly number[];
}

export interface ChangesPorts extends RepositoryPorts {
  /** Called if `base` is no longer part of the history, so that the range is the last day. */
  onReplacedStart: (base: string) => void;
  /** Called if only the messages of commits say that a pull request of the session was merged. */
  onMessages: (pullRequest: number) => void;
}

/**
 * Reads from GitHub what changed in the repository, without a checkout, and formats it as a section of a prompt.
 *
 * @returns `undefined` if the event has nothing to compare
 * @throws RangeBehindError
 * @throws if GitHub cannot be asked, or if the ref of `changes-since` does not exist
 */
export async function readChanges(
  query: ChangesQuery,
  ports: ChangesPorts,
): Promise<{ changes: Changes; section: string } | undefined> {
  const repository = new Repository(query.repository, ports);
  const range = await findRange(query, repository, ports);
  if (!range) return undefined;
  const segments = await withoutMergesOf(query.ownPullRequests, range, repository, ports.onMessages);
  const parts = segments
    ? await Promise.all(segments.map(({ base, head }) => repository.compare(base, head)))
    : [range];

  const files = mergeFiles(parts);
  const { paths } = query;
  const counts = ({ name, previousName }: ChangedFile): boolean =>
    !paths || paths.matches(name) || (previousName !== undefined && paths.matches(previousName));
  const counting = files.filter(counts);
  const { base, head } = range;
  const changes: Changes = {
    repository: query.repository,
    base,
    head,
    url: `${query.serverUrl}/${query.repository}/compare/${encodePath(base)}...${encodePath(head)}`,
    commitCount: parts.reduce((sum, { commitCount }) => sum + commitCount, 0),
    commits: parts.flatMap(({ commits }) => commits),
    files: counting,
    otherFiles: files.length - counting.length,
    isTruncated: parts.some(({ isTruncated }) => isTruncated),
    paths: paths?.patterns ?? [],
  };
  return { changes, section: formatChanges(changes, query.withPatches) };
}

function encodePath(ref: string): string {
  return ref.split("/").map(encodeURIComponent).join("/");
}

/** Adds up what the parts of a range say about the same file. */
function mergeFiles(parts: readonly Comparison[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const file of parts.flatMap((part) => part.files)) {
    const before = files.get(file.name);
    files.set(file.name, {
      ...file,
      previousName: before?.previousName ?? file.previousName,
      additions: (before?.additions ?? 0) + file.additions,
      deletions: (before?.deletions ?? 0) + file.deletions,
      patch: [before?.patch, file.patch].filter((patch) => patch !== undefined).join("\n") || undefined,
    });
  }
  return [...files.values()];
}
