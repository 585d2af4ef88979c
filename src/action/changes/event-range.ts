import * as z from "zod/mini";
import { isThreadEvent } from "../comments/event.ts";
import type { Repository } from "./repository.ts";
import { previousVersion } from "./version-order.ts";

/** The event that triggered the workflow. */
export interface TriggeringEvent {
  /** `GITHUB_EVENT_NAME`. */
  name: string;
  readPayload: () => unknown;
  /** The commit that the workflow runs for: `GITHUB_SHA`. */
  sha: string;
}

/** The start and the end of a range of changes. */
export type RangeStart =
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
export async function rangeOfEvent(
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
