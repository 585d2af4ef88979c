import * as z from "zod/mini";

/** A comment on an issue or pull request: the parts of its event that the action uses. */
export interface CommentEvent {
  /** What happened to the comment: `created`, `edited` or `deleted`. */
  action: string;
  owner: string;
  repo: string;
  /** Whether the repository is public, so that everybody has `read` permission. */
  isPublic: boolean;
  comment: { id: number; text: string };
  author: { login: string; isBot: boolean };
  /** The issue or pull request. */
  subject: { kind: "issue" | "pull request"; number: number; title: string; body: string; url: string };
  /** Only for a review comment: the first comment of its thread, and its position in the diff. */
  review?: { rootId: number; path: string; line: number | undefined };
}

/** The events that comment mode handles. GitHub's documentation: "Events that trigger workflows". */
export const commentEvents = ["issue_comment", "pull_request_review_comment"] as const;
export type CommentEventName = (typeof commentEvents)[number];

export function isCommentEvent(name: string): name is CommentEventName {
  return (commentEvents as readonly string[]).includes(name);
}

const nullableText = z.nullish(z.string());
const user = z.object({ login: z.string(), type: nullableText });
const repository = z.object({
  name: z.string(),
  owner: z.object({ login: z.string() }),
  private: z.catch(z.optional(z.boolean()), undefined),
});
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

/**
 * Parses the payload of an event.
 *
 * @throws if it is not a payload of that event
 */
export function parseEvent(name: CommentEventName, payload: unknown): CommentEvent {
  if (name === "issue_comment") {
    const data = parse(issueComment, name, payload);
    return { ...common(data), subject: describe(data.issue, data.issue.pull_request !== undefined) };
  }
  const data = parse(reviewComment, name, payload);
  const { id, path, line, original_line, in_reply_to_id } = data.comment;
  return {
    ...common(data),
    subject: describe(data.pull_request, true),
    review: { rootId: in_reply_to_id ?? id, path, line: line ?? original_line ?? undefined },
  };
}

function parse<T>(schema: z.ZodMiniType<T>, name: CommentEventName, payload: unknown): T {
  const { data, error } = schema.safeParse(payload);
  if (data !== undefined) return data;
  const paths = error?.issues.map(({ path }) => path.join(".")) ?? [];
  throw new Error(`the payload of ${name} lacks, or has a wrong type for: ${paths.join(", ")}`);
}

function common({ action, comment, repository }: Omit<z.infer<typeof issueComment>, "issue">) {
  const { login, type } = comment.user;
  return {
    action,
    owner: repository.owner.login,
    repo: repository.name,
    isPublic: repository.private === false,
    comment: { id: comment.id, text: comment.body },
    author: { login, isBot: type === "Bot" || login.endsWith("[bot]") },
  };
}

function describe(data: z.infer<typeof subject>, isPullRequest: boolean): CommentEvent["subject"] {
  const { number, title, body, html_url: url } = data;
  return { kind: isPullRequest ? "pull request" : "issue", number, title, body: body ?? "", url };
}
