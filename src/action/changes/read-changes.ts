import { GitHubError } from "../runner/github-error.ts";
import type { ChangedFile, Changes } from "./changes.ts";
import { rangeOfEvent, type TriggeringEvent } from "./event-range.ts";
import { withoutMergesOf } from "./own-merges.ts";
import type { PathFilter } from "./paths.ts";
import { type Comparison, Repository, type RepositoryPorts } from "./repository.ts";
import { formatChanges } from "./section.ts";
import type { Since } from "./since.ts";

const dayMs = 86_400_000;

export interface ChangesQuery {
  /** `changes-since`. */
  since: Since;
  /** `undefined` if all files count. */
  paths: PathFilter | undefined;
  /** Whether the section includes the patches. */
  withPatches: boolean;
  event: TriggeringEvent;
  /** `owner/name`: `GITHUB_REPOSITORY`. */
  repository: string;
  /** The address of the runner's GitHub: `GITHUB_SERVER_URL`. */
  serverUrl: string;
  /** The commit of the session's last run that completed, if there is one. */
  lastCommit: string | undefined;
  /** Where the range started that an earlier attempt of this workflow run compared, if there is one. */
  firstBase: string | undefined;
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

async function findRange(
  { since, event, lastCommit, firstBase }: ChangesQuery,
  repository: Repository,
  { clock, onReplacedStart }: ChangesPorts,
): Promise<Comparison | undefined> {
  const { sha } = event;
  const compareSince = async (ms: number): Promise<Comparison> =>
    repository.compare(firstBase ?? (await repository.commitBefore(sha, new Date(clock.wallTime() - ms))), sha);
  if (since.kind === "duration") return notBehind(await compareSince(since.ms));
  if (since.kind === "ref") return notBehind(await compareWithRef(firstBase ?? since.ref, sha, repository));

  const start = await rangeOfEvent(event, lastCommit, repository);
  switch (start.kind) {
    case "nothing":
      return undefined;
    case "day":
      return notBehind(await compareSince(dayMs));
    case "replaced":
      break;
    case "ref": {
      const compare = (base: string): Promise<Comparison | undefined> =>
        repository.compare(base, start.head).catch((error: unknown) => {
          if (start.mustBeAncestor && isNotFound(error)) return undefined;
          throw error;
        });
      let range = await compare(start.base);
      const isReplaced = start.mustBeAncestor && (!range || range.status === "diverged");
      if (range && start.mustBeAncestor) notBehind(range);
      // The session's last run that completed says what later runs have covered. This run compares what it compared first.
      const isOfSession = start.base === lastCommit && firstBase !== undefined && firstBase !== lastCommit;
      if (isOfSession && !isReplaced) range = (await compare(firstBase)) ?? range;
      if (range && !isReplaced) return range;
    }
  }
  onReplacedStart(start.base);
  return notBehind(await compareSince(dayMs));
}

/** @throws RangeBehindError if the head of the range is behind its base */
function notBehind(range: Comparison): Comparison {
  if (range.status === "behind") throw new RangeBehindError(range.base, range.head);
  return range;
}

/** Thrown if a range ends before it begins, which happens in an old run when a later one has covered it. */
export class RangeBehindError extends Error {
  override readonly name = "RangeBehindError";
  readonly base: string;
  readonly head: string;

  constructor(base: string, head: string) {
    super(`${head} is behind ${base}`);
    this.base = base;
    this.head = head;
  }
}

async function compareWithRef(ref: string, sha: string, repository: Repository): Promise<Comparison> {
  try {
    return await repository.compare(ref, sha);
  } catch (error) {
    throw isNotFound(error) ? new Error(`${ref}, the value of changes-since, was not found in the repository`) : error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof GitHubError && error.status === 404;
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
