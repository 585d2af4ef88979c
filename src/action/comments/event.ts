import * as z from "zod/mini";

/** A comment in the thread of an issue or pull request: what its event says, and only what is used of it. */
export interface CommentEvent {
  /** What happened to the comment; `created` is a new one. */
  action: string;
  owner: string;
  repo: string;
  comment: { id: number; text: string };
  author: { login: string; isBot: boolean };
  /** The issue or pull request. */
  subject: { kind: "issue" | "pull request"; number: number; title: string; body: string; url: string };
  /** Only for a comment in a review: the comment that began its thread, and where in the change it stands. */
  review?: { rootId: number; path: string; line: number | undefined };
}

/** Events that comment mode answers to. GitHub's documentation: "Events that trigger workflows". */
export const commentEvents = ["issue_comment", "pull_request_review_comment"] as const;
export type CommentEventName = (typeof commentEvents)[number];

export function isCommentEvent(name: string | undefined): name is CommentEventName {
  return (commentEvents as readonly (string | undefined)[]).includes(name);
}

const nullableText = z.nullish(z.string());
const user = z.object({ login: z.string(), type: nullableText });
const repository = z.object({ name: z.string(), owner: z.object({ login: z.string() }) });
const subject = z.object({
  number: z.int(),
  title: z.string(),
  body: nullableText,
  html_url: z.string(),
  pull_request: z.optional(z.unknown()),
});

const issueComment = z.object({
  action: z.string(),
  comment: z.object({ id: z.int(), body: z.string(), user }),
  issue: subject,
  repository,
});

const reviewComment = z.object({
  action: z.string(),
  comment: z.object({
    id: z.int(),
    body: z.string(),
    user,
    path: z.string(),
    line: z.nullish(z.int()),
    original_line: z.nullish(z.int()),
    in_reply_to_id: z.nullish(z.int()),
  }),
  pull_request: subject,
  repository,
});

/** The event in a payload, or `undefined` where the payload is none of that name. */
export function parseEvent(name: CommentEventName, payload: unknown): CommentEvent | undefined {
  if (name === "issue_comment") {
    const { data } = issueComment.safeParse(payload);
    return data && { ...common(data), subject: describe(data.issue, data.issue.pull_request !== undefined) };
  }
  const { data } = reviewComment.safeParse(payload);
  if (!data) return undefined;
  const { id, path, line, original_line, in_reply_to_id } = data.comment;
  return {
    ...common(data),
    subject: describe(data.pull_request, true),
    review: { rootId: in_reply_to_id ?? id, path, line: line ?? original_line ?? undefined },
  };
}

function common({ action, comment, repository }: Omit<z.infer<typeof issueComment>, "issue">) {
  const { login, type } = comment.user;
  return {
    action,
    owner: repository.owner.login,
    repo: repository.name,
    comment: { id: comment.id, text: comment.body },
    author: { login, isBot: type === "Bot" || login.endsWith("[bot]") },
  };
}

function describe(data: z.infer<typeof subject>, isPullRequest: boolean): CommentEvent["subject"] {
  const { number, title, body, html_url: url } = data;
  return { kind: isPullRequest ? "pull request" : "issue", number, title, body: body ?? "", url };
}
