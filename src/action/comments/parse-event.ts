import * as z from "zod/mini";
import { type RequestId, type ThreadEvent, type ThreadEventName, triggerKindOf } from "./event.ts";

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
    pull_request_review_id: z.nullish(z.int()),
  }),
  pull_request: subject,
  repository,
});

const review = z.object({
  action: z.string(),
  review: z.object({ id: z.int(), body: nullableText, user: z.nullish(user), html_url: z.string() }),
  pull_request: subject,
  repository,
});

/** An account that was deleted is `null`, which the author of a new issue or pull request is not. */
const opening = z.extend(subject, { user: z.nullish(user) });
const label = z.object({ name: z.string() });
const issues = z.object({ action: z.string(), issue: opening, label: z.nullish(label), sender: user, repository });
const pullRequest = z.object({
  action: z.string(),
  pull_request: opening,
  label: z.nullish(label),
  sender: user,
  repository,
});

/**
 * Parses the payload of an event.
 *
 * @param runId - `GITHUB_RUN_ID`, which identifies a request that is not a comment
 * @throws if it is not a payload of that event
 */
export function parseEvent(name: ThreadEventName, payload: unknown, runId: string): ThreadEvent {
  switch (name) {
    case "issue_comment": {
      const data = parse(issueComment, name, payload);
      return { ...commented(data), subject: describe(data.issue, data.issue.pull_request !== undefined) };
    }
    case "pull_request_review_comment": {
      const data = parse(reviewComment, name, payload);
      const { id, path, line, original_line, in_reply_to_id, pull_request_review_id: reviewId } = data.comment;
      return {
        ...commented(data),
        subject: describe(data.pull_request, true),
        position: { rootId: in_reply_to_id ?? id, path, line: line ?? original_line ?? undefined },
        ...(typeof reviewId === "number" && { reviewId }),
      };
    }
    case "pull_request_review": {
      const { action, review: submitted, pull_request: pull, repository } = parse(review, name, payload);
      const { id, body, user: reviewer, html_url: reviewUrl } = submitted;
      if (action === "submitted" && !reviewer) throw new Error(`the payload of ${name} lacks the reviewer`);
      return {
        action,
        triggerKind: "review",
        request: `review=${id}`,
        ...placeOf(repository),
        author: personOf(reviewer ?? { login: "", type: undefined }),
        text: body ?? "",
        subject: describe(pull, true),
        reviewId: id,
        reviewUrl,
      };
    }
    case "issues": {
      const { issue, ...data } = parse(issues, name, payload);
      return openedOrLabeled(name, issue, issue.pull_request !== undefined, data, runId);
    }
    case "pull_request":
    case "pull_request_target": {
      const { pull_request: pull, ...data } = parse(pullRequest, name, payload);
      return openedOrLabeled(name, pull, true, data, runId);
    }
  }
}

function parse<T>(schema: z.ZodMiniType<T>, name: ThreadEventName, payload: unknown): T {
  const { data, error } = schema.safeParse(payload);
  if (data !== undefined) return data;
  const paths = error?.issues.map(({ path }) => path.join(".")) ?? [];
  throw new Error(`the payload of ${name} lacks, or has a wrong type for: ${paths.join(", ")}`);
}

function commented({ action, comment, repository }: Omit<z.infer<typeof issueComment>, "issue">) {
  return {
    action,
    triggerKind: "comment",
    request: `comment=${comment.id}`,
    ...placeOf(repository),
    author: personOf(comment.user),
    text: comment.body,
    commentId: comment.id,
  } as const;
}

function openedOrLabeled(
  name: ThreadEventName,
  opened: z.infer<typeof opening>,
  isPullRequest: boolean,
  { action, label, sender, repository }: Omit<z.infer<typeof issues>, "issue">,
  runId: string,
): ThreadEvent {
  const isLabel = action === "labeled";
  const person = isLabel ? sender : opened.user;
  if (action === "opened" && !person) throw new Error(`the payload of ${name} lacks the author`);
  return {
    action,
    triggerKind: isLabel ? "label" : triggerKindOf(name),
    request: requestOfRun(runId),
    ...placeOf(repository),
    author: personOf(person ?? { login: "", type: undefined }),
    text: opened.body ?? "",
    subject: describe(opened, isPullRequest),
    ...(isLabel && label && { label: label.name }),
  };
}

function requestOfRun(runId: string): RequestId {
  if (!/^\d+$/.test(runId)) throw new Error("GITHUB_RUN_ID is not a number");
  return `run=${runId}`;
}

function placeOf({ owner, name, private: isPrivate }: z.infer<typeof repository>) {
  return { owner: owner.login, repo: name, isPublic: isPrivate === false };
}

function personOf({ login, type }: z.infer<typeof user>): ThreadEvent["author"] {
  return { login, isBot: type === "Bot" || login.endsWith("[bot]") };
}

function describe(data: z.infer<typeof subject>, isPullRequest: boolean): ThreadEvent["subject"] {
  const { number, title, body, html_url: url } = data;
  return { kind: isPullRequest ? "pull request" : "issue", number, title, body: body ?? "", url };
}
