import type { TriggerKind } from "../result.ts";
import { readEvent } from "../runner/environment.ts";

/** What the action uses of an event. Untrusted, except the account and the place, which only GitHub can set. */
export interface ThreadEvent {
  /** What happened: `created`, `opened`, `labeled`, `edited` and so on. */
  action: string;
  /** The kind of thing that asks, or would ask, by this event. */
  triggerKind: TriggerKind;
  /** Identifies the request. It is the same in all attempts of a workflow run. */
  request: RequestId;
  owner: string;
  repo: string;
  /** Whether the repository is public, so that everybody has `read` permission. */
  isPublic: boolean;
  /** The account that asks, and that needs the permission. */
  author: { login: string; isBot: boolean };
  /** The text in which the trigger phrase counts. */
  text: string;
  /** How many parts of the text, and of the title of the issue or pull request, the page does not show. */
  hiddenCount: number;
  /** Whether the text takes too long to read, so that nothing in it counts. */
  isUnread?: boolean;
  /** Without what the page does not show. `comments`: how many there were. Default: unknown. */
  subject: {
    kind: "issue" | "pull request";
    number: number;
    title: string;
    body: string;
    url: string;
    author?: string | undefined;
    comments?: number | undefined;
  };
  /** When it happened, in milliseconds since 1970. Default: unknown. */
  at?: number | undefined;
  commentId?: number;
  /** Only for a review comment: the first comment of its thread, and its position in the diff. */
  position?: { rootId: number; path: string; line: number | undefined };
  /** For a review its id, and for a comment the id of the review that it is a part of. */
  reviewId?: number;
  /** Only for a review: its address. */
  reviewUrl?: string;
  label?: string;
}

/** A comment, a review, or a workflow run if there is neither, as it stands in a marker. */
export type RequestId = `${"comment" | "review" | "run"}=${number | string}`;

/** The kind of thing that asks for a job by an event, unless a label does. */
export const triggerKinds = {
  issue_comment: "comment",
  pull_request_review_comment: "comment",
  pull_request_review: "review",
  issues: "issue",
  pull_request: "pull request",
  pull_request_target: "pull request",
} as const satisfies Record<string, TriggerKind>;

/** The events that comment mode handles. GitHub's documentation: "Events that trigger workflows". */
export type ThreadEventName = keyof typeof triggerKinds;
export const threadEvents = Object.keys(triggerKinds) as ThreadEventName[];

export function isThreadEvent(name: string): name is ThreadEventName {
  return Object.hasOwn(triggerKinds, name);
}

/** Returns whether the trigger phrase or the trigger label, which may be empty, turns comment mode on for an event. */
export function isTriggeredBy(name: string, phrase: string, label: string): boolean {
  if (!isThreadEvent(name)) return false;
  const kind = triggerKinds[name];
  return phrase !== "" || (label !== "" && (kind === "issue" || kind === "pull request"));
}

/** What somebody says or opens, in the names of a payload's fields. */
const saidOrOpened = /(^|_)(comment|discussion|review|issue|pull_request)$/;

/**
 * Returns whether an event that turns comment mode on by neither trigger may start nothing, because whoever causes it only says or opens
 * something. That is so for events that are not known, too. @throws if the payload cannot be read
 */
export function isClosed(environment: NodeJS.ProcessEnv): boolean {
  if (isThreadEvent(environment.GITHUB_EVENT_NAME ?? "")) return true;
  if (!environment.GITHUB_EVENT_PATH) return false;
  const payload = readEvent(environment);
  return typeof payload === "object" && Object.keys(payload ?? {}).some((name) => saidOrOpened.test(name));
}

/** Repository permissions, in ascending order. GitHub's documentation: "Repository roles". */
export const permissions = ["read", "triage", "write", "maintain", "admin"] as const;

/** The parts of a payload that are read here. A fork that was deleted is `null`. */
interface PullRequestPayload {
  pull_request?: { head?: { repo?: { id?: unknown } | null }; base?: { repo?: { id?: unknown } } };
}

/** The events for which GitHub gives a run no secrets if the pull request is from a fork. */
const eventsWithoutSecrets = ["pull_request", "pull_request_review", "pull_request_review_comment"];

/** Returns whether a run for a fork gets no secrets. GitHub's documentation: "Workflows in forked repositories". */
export function isFromFork(environment: NodeJS.ProcessEnv): boolean {
  if (!eventsWithoutSecrets.includes(environment.GITHUB_EVENT_NAME ?? "")) return false;
  try {
    const { head, base } = (readEvent(environment) as PullRequestPayload).pull_request ?? {};
    const id = base?.repo?.id;
    return head !== undefined && Number.isInteger(id) && head.repo?.id !== id;
  } catch {
    return false;
  }
}
