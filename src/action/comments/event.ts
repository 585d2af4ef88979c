import type { TriggerKind } from "../result.ts";

/**
 * An event of an issue or pull request that may ask for a job: the parts of its payload that the action uses. Untrusted,
 * except for the account that caused it and the place, which only GitHub can set.
 */
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
  /** The issue or pull request. */
  subject: { kind: "issue" | "pull request"; number: number; title: string; body: string; url: string };
  /** Only for a comment: its id. */
  commentId?: number;
  /** Only for a review comment: the first comment of its thread, and its position in the diff. */
  position?: { rootId: number; path: string; line: number | undefined };
  /** For a review its id, and for a comment the id of the review that it is a part of. */
  reviewId?: number;
  /** Only for a review: its address. */
  reviewUrl?: string;
  /** The label that was set. */
  label?: string;
}

/** A comment, a review, or a workflow run if there is neither, as it stands in a marker. */
export type RequestId = `${"comment" | "review" | "run"}=${number | string}`;

/** The kind of thing that asks for a job by an event, unless a label does, and the inputs that make it ask. */
const events = {
  issue_comment: { triggerKind: "comment", inputs: ["trigger-phrase"] },
  pull_request_review_comment: { triggerKind: "comment", inputs: ["trigger-phrase"] },
  pull_request_review: { triggerKind: "review", inputs: ["trigger-phrase"] },
  issues: { triggerKind: "issue", inputs: ["trigger-phrase", "trigger-label"] },
  pull_request: { triggerKind: "pull request", inputs: ["trigger-phrase", "trigger-label"] },
  pull_request_target: { triggerKind: "pull request", inputs: ["trigger-phrase", "trigger-label"] },
} as const satisfies Record<
  string,
  { triggerKind: TriggerKind; inputs: readonly ("trigger-phrase" | "trigger-label")[] }
>;

/** The events that comment mode handles. GitHub's documentation: "Events that trigger workflows". */
export type ThreadEventName = keyof typeof events;
export const threadEvents = Object.keys(events) as ThreadEventName[];

export function isThreadEvent(name: string): name is ThreadEventName {
  return Object.hasOwn(events, name);
}

/** Returns the kind of thing that asks for a job by an event, unless a label does. */
export function triggerKindOf(name: ThreadEventName): TriggerKind {
  return events[name].triggerKind;
}

/** Returns whether an input that is set turns comment mode on for an event. */
export function isTriggeredBy(name: string, inputs: readonly ("trigger-phrase" | "trigger-label")[]): boolean {
  return isThreadEvent(name) && inputs.some((input) => (events[name].inputs as readonly string[]).includes(input));
}
