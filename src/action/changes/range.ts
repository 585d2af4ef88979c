import * as z from "zod/mini";
import { message } from "../../runner-kit/text.ts";
import { isThreadEvent } from "../comments/event.ts";
import { wholeHistory } from "../commit-of.ts";
import { shortRef } from "../report/format.ts";
import type { BlockedResult } from "../result.ts";
import type { Run } from "../run.ts";
import { readEvent } from "../runner/environment.ts";
import { GitHubError } from "../runner/github-error.ts";
import { parse } from "../runner/read-repository.ts";
import type { Comparison, Repository } from "./repository.ts";
import type { Since } from "./since.ts";
import { previousVersion } from "./version-order.ts";

const dayMs = 86_400_000;

/** What the prompts of earlier runs were about, which no longer counts as a change. */
export interface RememberedChanges {
  /** Whether they are a session's. A thread's range is none, in a re-run as in the first attempt. */
  isOfSession: boolean;
  /** The commit up to which the session was told, by its entry, if there is one. */
  lastCommit: string | undefined;
  /** The last of these commits by its service, the newest first. */
  covered: readonly string[];
  /** Whether this workflow run itself has told the session up to there. */
  isOwn: boolean;
  /** The session's jobs. What they made does not count, either. */
  ownJobs: readonly string[];
  /** Where the range started that an earlier attempt of this workflow run compared, if there is one. */
  firstBase: string | undefined;
  /** The numbers of the session's pull requests in this repository. */
  ownPullRequests: readonly number[];
}

/**
 * `base`: default: a day ago. `replaced`: it left the history by a force-push; `ancestor`: it may have.
 */
interface EventRange {
  base: string | undefined;
  head: string;
  kind: "exact" | "ancestor" | "replaced";
}

const pushEvent = z.object({
  ref: z.string(),
  before: z.string(),
  forced: z.optional(z.boolean()),
  repository: z.object({ default_branch: z.string() }),
});
const end = z.object({ sha: z.string() });
const pullRequestEvent = z.object({ pull_request: z.object({ base: end, head: end }) });
const mergeGroupEvent = z.object({ merge_group: z.object({ base_sha: z.string(), head_sha: z.string() }) });
const releaseEvent = z.object({ release: z.object({ tag_name: z.string() }) });
const threadEvent = z.object({
  issue: z.optional(z.object({ number: z.int(), pull_request: z.optional(z.unknown()) })),
  pull_request: z.optional(z.object({ number: z.int() })),
});

/**
 * Returns the range of an event, for `changes-since: auto`; `undefined` if it has nothing to compare.
 * @throws if the payload or GitHub cannot be read. GitHub's documentation: "Webhook events and payloads"
 */
async function rangeOfEvent(
  environment: NodeJS.ProcessEnv,
  repository: Repository,
): Promise<EventRange | "session" | undefined> {
  const { GITHUB_EVENT_NAME: name = "", GITHUB_SHA: sha = "" } = environment;
  const read = <T>(schema: z.ZodMiniType<T>): T =>
    parse(schema, readEvent(environment), `the payload of the ${name} event`);
  if (name === "push") return rangeOfPush(read(pushEvent), sha, repository);
  if (name === "pull_request" || name === "pull_request_target") {
    const { base, head } = read(pullRequestEvent).pull_request;
    return { kind: "exact", base: base.sha, head: head.sha };
  }
  if (name === "merge_group") {
    const { base_sha: base, head_sha: head } = read(mergeGroupEvent).merge_group;
    return { kind: "exact", base, head };
  }
  if (name === "release")
    return afterPreviousVersion(read(releaseEvent).release.tag_name, await repository.releaseTags());
  if (isThreadEvent(name)) {
    const { issue, pull_request: pull } = read(threadEvent);
    const number = pull?.number ?? (issue?.pull_request === undefined ? undefined : issue.number);
    return number === undefined ? undefined : { kind: "exact", ...(await repository.pullRequest(number)) };
  }
  return "session";
}

/**
 * Compares the commit up to which the session was told with `head`. Both memories name some, of which the nearest in the history of `head` counts:
 * another branch's say nothing about this one. `undefined` if none is in it. @throws if GitHub fails
 */
export async function compareTold(
  { lastCommit, covered }: RememberedChanges,
  head: string,
  repository: Repository,
): Promise<Comparison | undefined> {
  const related = async (commit: string): Promise<Comparison | undefined> => {
    const compared = await compareIfFound(commit, head, repository);
    return compared?.status === "diverged" ? undefined : compared;
  };
  let told: Comparison | undefined;
  for (const commit of covered) {
    told = await related(commit);
    if (told) break;
  }
  const isKnown = lastCommit !== undefined && lastCommit !== told?.base && lastCommit !== wholeHistory;
  const last = isKnown ? await related(lastCommit) : undefined;
  if (!told || !last) return told ?? last;
  const distance = ({ isUnlisted, commitCount }: Comparison) => (isUnlisted ? Infinity : commitCount);
  return last.status === "behind" || distance(last) < distance(told) ? last : told;
}

/** Returns whether the session has been told of all up to the end of a range, once it is told of that. @throws if GitHub fails */
export async function continuesTold(
  base: string,
  told: Comparison | undefined,
  repository: Repository,
): Promise<boolean> {
  if (told?.status === "behind") return false;
  if (!told || told.base === base) return true;
  return ["ahead", "identical"].includes((await repository.compare(base, told.base)).status);
}

async function rangeOfPush(
  { ref, before, forced, repository: { default_branch: defaultBranch } }: z.infer<typeof pushEvent>,
  head: string,
  repository: Repository,
): Promise<EventRange | undefined> {
  const tag = /^refs\/tags\/(.+)$/.exec(ref)?.[1];
  if (tag !== undefined) return afterPreviousVersion(tag, await repository.tags());
  const isNew = /^0+$/.test(before);
  if (!isNew && !forced) return { kind: "ancestor", base: before, head };
  // The merge base of the default branch with itself is its head, which would leave nothing.
  if (ref === `refs/heads/${defaultBranch}`) return { kind: "replaced", base: isNew ? undefined : before, head };
  return { kind: "exact", base: defaultBranch, head };
}

function afterPreviousVersion(tag: string, tags: readonly string[]): EventRange | undefined {
  const base = previousVersion(tag, tags);
  return base === undefined ? undefined : { kind: "exact", base, head: tag };
}

/** Finds and compares the range; `undefined` without one, a result if nothing may be sent. @throws if GitHub fails */
export async function findRange(
  since: Since,
  remembered: RememberedChanges,
  told: Comparison | undefined,
  repository: Repository,
  { ports, log }: Run,
): Promise<Comparison | BlockedResult | undefined> {
  const { environment, clock } = ports;
  const { firstBase, lastCommit, covered, isOwn } = remembered;
  const sha = environment.GITHUB_SHA ?? "";
  const compareSince = async (ms: number, first = firstBase) => {
    const isWhole = first === wholeHistory;
    const since = isWhole ? new Date(0) : new Date(clock.wallTime() - ms);
    const found = first && !isWhole ? { base: first } : await repository.commitBefore(sha, since);
    const range = await repository.compare(found.base, sha);
    return "root" in found && found.root ? { ...range, root: found.root } : notBehind(range);
  };
  if (since.kind === "duration") return compareSince(since.ms);
  if (since.kind === "ref") {
    const ref = firstBase ?? since.ref;
    const compared = await compareIfFound(ref, sha, repository);
    if (!compared) throw new Error(`${ref}, the value of changes-since, was not found in the repository`);
    return { ...notBehind(compared), ...(compared.status === "behind" && { since: since.ref }) };
  }

  const range = await rangeOfEvent(environment, repository);
  if (!range) return undefined;
  let base: string | undefined;
  if (range === "session") {
    if (told) {
      const { status, head } = told;
      const isOther = firstBase !== undefined && firstBase !== told.base;
      // Another run was told of the same.
      if (isOther && status === "identical" && !isOwn)
        return { kind: "blocked", cause: "range-behind", base: head, head };
      // This run compares what it compared first.
      const compareFirst = async () =>
        firstBase === wholeHistory ? compareSince(dayMs) : compareIfFound(firstBase ?? "", head, repository);
      const first = isOther && status !== "behind" && (await compareFirst());
      return first || notBehind(told);
    }
    base = lastCommit ?? covered[0];
  } else {
    base = range.base;
    if (base !== undefined && range.kind === "exact") return repository.compare(base, range.head);
    const compared =
      base !== undefined && range.kind === "ancestor" && (await compareIfFound(base, range.head, repository));
    if (compared && compared.status !== "diverged") return notBehind(compared);
  }
  if (base === undefined || base === wholeHistory) return compareSince(dayMs, firstBase ?? base);
  log.notice(message`
    Changes of the last day
    Commit ${shortRef(base)}, after which the changes should start, is no longer in the history of the branch (a force-push, or it was deleted). The changes of the last 24 hours are used.`);
  return compareSince(dayMs);
}

/** Refuses a range that ends before it begins, which happens in an old run when another one has covered it. */
function notBehind(range: Comparison): Comparison | BlockedResult {
  const { base, head, status } = range;
  return status === "behind" ? { kind: "blocked", cause: "range-behind", base, head } : range;
}

/** Returns `undefined` if GitHub does not find one of the ends. */
async function compareIfFound(base: string, head: string, repository: Repository): Promise<Comparison | undefined> {
  try {
    return await repository.compare(base, head);
  } catch (error) {
    if (error instanceof GitHubError && error.status === 404) return undefined;
    throw error;
  }
}
