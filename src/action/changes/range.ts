import * as z from "zod/mini";
import { isThreadEvent } from "../comments/event.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { Comparison, Repository, RepositoryPorts } from "./repository.ts";
import type { Since } from "./since.ts";
import { previousVersion } from "./version-order.ts";

const dayMs = 86_400_000;

/** The event that triggered the workflow. */
export interface TriggeringEvent {
  /** `GITHUB_EVENT_NAME`. */
  name: string;
  readPayload: () => unknown;
  /** The commit that the workflow runs for: `GITHUB_SHA`. */
  sha: string;
}

/** The start and the end of a range of changes. */
type RangeStart =
  /** After `base`. `mustBeAncestor`: a `base` that `head` does not have was replaced by a force-push. */
  | { kind: "ref"; base: string; head: string; mustBeAncestor: boolean }
  /** A day ago: the start that the event names no longer exists. */
  | { kind: "replaced"; base: string }
  /** A day ago: nothing names a start. */
  | { kind: "day" }
  /** The event has nothing to compare. */
  | { kind: "nothing" };

const pushEvent = z.object({
  ref: z.string(),
  before: z.string(),
  forced: z.optional(z.boolean()),
  repository: z.object({ default_branch: z.string() }),
});
const end = z.object({ sha: z.string() });
const pullRequestEvent = z.object({ pull_request: z.object({ base: end, head: end }) });
const releaseEvent = z.object({ release: z.object({ tag_name: z.string() }) });
const threadEvent = z.object({
  issue: z.optional(z.object({ number: z.int(), pull_request: z.optional(z.unknown()) })),
  pull_request: z.optional(z.object({ number: z.int() })),
});

/**
 * Returns the start of the changes of an event, for `changes-since: auto`. GitHub's documentation: "Webhook events and
 * payloads".
 *
 * @param lastCommit - the commit of the session's last run, if there is one
 * @throws if the payload cannot be read, or if GitHub cannot be asked
 */
async function rangeOfEvent(
  { name, readPayload, sha }: TriggeringEvent,
  lastCommit: string | undefined,
  repository: Repository,
): Promise<RangeStart> {
  if (name === "push") return rangeOfPush(parse(pushEvent, name, readPayload()), sha, repository);
  if (name === "pull_request" || name === "pull_request_target") {
    const { base, head } = parse(pullRequestEvent, name, readPayload()).pull_request;
    return { kind: "ref", base: base.sha, head: head.sha, mustBeAncestor: false };
  }
  if (name === "release") {
    const tag = parse(releaseEvent, name, readPayload()).release.tag_name;
    return afterPreviousVersion(tag, await repository.releaseTags());
  }
  if (isThreadEvent(name)) {
    const { issue, pull_request: pull } = parse(threadEvent, name, readPayload());
    const number = pull?.number ?? (issue?.pull_request === undefined ? undefined : issue.number);
    if (number === undefined) return { kind: "nothing" };
    const { base, head } = await repository.pullRequest(number);
    return { kind: "ref", base, head, mustBeAncestor: false };
  }
  return lastCommit === undefined
    ? { kind: "day" }
    : { kind: "ref", base: lastCommit, head: sha, mustBeAncestor: true };
}

async function rangeOfPush(
  { ref, before, forced, repository: { default_branch: defaultBranch } }: z.infer<typeof pushEvent>,
  sha: string,
  repository: Repository,
): Promise<RangeStart> {
  const tag = /^refs\/tags\/(.+)$/.exec(ref)?.[1];
  if (tag !== undefined) return afterPreviousVersion(tag, await repository.tags());
  const isNew = /^0+$/.test(before);
  if (!isNew && !forced) return { kind: "ref", base: before, head: sha, mustBeAncestor: true };
  // The merge base of the default branch with itself is its head, which would leave nothing.
  if (ref === `refs/heads/${defaultBranch}`) return isNew ? { kind: "day" } : { kind: "replaced", base: before };
  return { kind: "ref", base: defaultBranch, head: sha, mustBeAncestor: false };
}

function afterPreviousVersion(tag: string, tags: readonly string[]): RangeStart {
  const base = previousVersion(tag, tags);
  return base === undefined ? { kind: "nothing" } : { kind: "ref", base, head: tag, mustBeAncestor: false };
}

function parse<T>(schema: z.ZodMiniType<T>, name: string, payload: unknown): T {
  const { data } = schema.safeParse(payload);
  if (data === undefined) throw new Error(`the payload of the ${name} event is not usable`);
  return data;
}

/** Which commits are compared. */
export interface RangeQuery {
  /** `changes-since`. */
  since: Since;
  event: TriggeringEvent;
  /** The commit of the session's last run that completed, if there is one. */
  lastCommit: string | undefined;
  /** Where the range started that an earlier attempt of this workflow run compared, if there is one. */
  firstBase: string | undefined;
}

/**
 * Finds the range of changes, and compares its ends; `undefined` if the event has nothing to compare.
 *
 * @throws RangeBehindError
 * @throws if GitHub cannot be asked, or if the ref of `changes-since` does not exist
 */
export async function findRange(
  { since, event, lastCommit, firstBase }: RangeQuery,
  repository: Repository,
  { clock, onReplacedStart }: Pick<RepositoryPorts, "clock"> & { onReplacedStart: (base: string) => void },
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
