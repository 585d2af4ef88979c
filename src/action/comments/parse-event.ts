import * as z from "zod/mini";
import { readShown } from "../../runner-kit/shown-text.ts";
import { invisible } from "../../runner-kit/untrusted.ts";
import { parse } from "../runner/read-repository.ts";
import { type ThreadEvent, type ThreadEventName, triggerKinds } from "./event.ts";

const nullableText = z.nullish(z.string());
const user = z.object({ login: z.string(), type: nullableText });
const optionalText = z.catch(z.optional(z.string()), undefined);
const event = z.object({
  action: z.string(),
  repository: z.object({
    name: z.string(),
    owner: z.object({ login: z.string() }),
    private: z.catch(z.optional(z.boolean()), undefined),
  }),
});
const subject = z.object({
  number: z.int(),
  title: z.string(),
  body: nullableText,
  html_url: z.string(),
  pull_request: z.optional(z.unknown()),
  user: z.catch(z.nullish(user), undefined),
  comments: z.catch(z.optional(z.int()), undefined),
  updated_at: optionalText,
});
const comment = z.object({ id: z.int(), body: z.string(), user, created_at: optionalText });
const issueComment = z.object({ comment, issue: subject });
const reviewComment = z.object({
  comment: z.extend(comment, {
    path: z.string(),
    line: z.nullish(z.int()),
    original_line: z.nullish(z.int()),
    in_reply_to_id: z.nullish(z.int()),
    pull_request_review_id: z.nullish(z.int()),
  }),
  pull_request: subject,
});
const review = z.object({
  review: z.object({
    id: z.int(),
    body: nullableText,
    user: z.nullish(user),
    html_url: z.string(),
    submitted_at: optionalText,
  }),
  pull_request: subject,
});
/** An account that was deleted is `null`, which the author of a new issue or pull request is not. */
const opening = z.extend(subject, { user: z.nullish(user) });
const openingEvent = z.object({ label: z.nullish(z.object({ name: z.string() })), sender: user });
const issues = z.object({ issue: opening });
const pullRequest = z.object({ pull_request: opening });

/** Parses the payload of an event. @throws if it is not one. `runId` identifies a request that is not a comment. */
export function parseEvent(name: ThreadEventName, payload: unknown, runId: string): ThreadEvent {
  const read = <T>(schema: z.ZodMiniType<T>): T => parse(schema, payload, `the payload of ${name}`);
  const { action, repository } = read(event);
  const { owner, name: repo, private: isPrivate } = repository;
  const place = { action, owner: owner.login, repo, isPublic: isPrivate === false };

  const openedOrLabeled = (opened: z.infer<typeof opening>, isPullRequest: boolean): ThreadEvent => {
    const { label, sender } = read(openingEvent);
    const isLabel = action === "labeled";
    const person = isLabel ? sender : opened.user;
    if (action === "opened" && !person) throw new Error(`the payload of ${name} lacks the author`);
    if (!/^\d+$/.test(runId)) throw new Error("GITHUB_RUN_ID is not a number");
    return {
      ...place,
      triggerKind: isLabel ? "label" : triggerKinds[name],
      request: `run=${runId}`,
      author: personOf(person),
      ...said(opened.body, opened),
      subject: describe(opened, isPullRequest),
      at: timeOf(opened.updated_at),
      ...(isLabel && label && { label: label.name }),
    };
  };
  switch (name) {
    case "issue_comment": {
      const { comment, issue } = read(issueComment);
      return { ...place, ...commented(comment, issue), subject: describe(issue, issue.pull_request !== undefined) };
    }
    case "pull_request_review_comment": {
      const { comment, pull_request: pull } = read(reviewComment);
      const { id, path, line, original_line, in_reply_to_id, pull_request_review_id: reviewId } = comment;
      return {
        ...place,
        ...commented(comment, pull),
        subject: describe(pull, true),
        position: { rootId: in_reply_to_id ?? id, path, line: line ?? original_line ?? undefined },
        ...(typeof reviewId === "number" && { reviewId }),
      };
    }
    case "pull_request_review": {
      const { review: submitted, pull_request: pull } = read(review);
      const { id, body, user: reviewer, html_url: reviewUrl, submitted_at: time } = submitted;
      if (action === "submitted" && !reviewer) throw new Error(`the payload of ${name} lacks the reviewer`);
      const asked = { request: `review=${id}`, author: personOf(reviewer), ...said(body, pull), reviewId: id } as const;
      return { ...place, triggerKind: "review", ...asked, subject: describe(pull, true), at: timeOf(time), reviewUrl };
    }
    case "issues": {
      const { issue } = read(issues);
      return openedOrLabeled(issue, issue.pull_request !== undefined);
    }
    case "pull_request":
    case "pull_request_target":
      return openedOrLabeled(read(pullRequest).pull_request, true);
  }
}

function commented(
  { id, body, user: author, created_at: time }: z.infer<typeof comment>,
  about: z.infer<typeof subject>,
) {
  const request = `comment=${id}` as const;
  const place = { commentId: id, at: timeOf(time) } as const;
  return { triggerKind: "comment", request, author: personOf(author), ...said(body, about), ...place } as const;
}

const timeOf = (text: string | undefined): number | undefined => Date.parse(text ?? "") || undefined;

function said(body: string | null | undefined, { title }: z.infer<typeof subject>) {
  const text = body ?? "";
  const { hiddenCount, isUnread } = readShown(text);
  return { text, isUnread, hiddenCount: hiddenCount + [...title.matchAll(invisible)].length };
}

function personOf(person: z.infer<typeof user> | null | undefined): ThreadEvent["author"] {
  const { login, type } = person ?? { login: "" };
  return { login, isBot: type === "Bot" || login.endsWith("[bot]") };
}

function describe(data: z.infer<typeof subject>, isPullRequest: boolean): ThreadEvent["subject"] {
  const { number, title, body, html_url: url, user: opener, comments } = data;
  const shown = { title: title.replace(invisible, ""), body: readShown(body ?? "").from() };
  return { kind: isPullRequest ? "pull request" : "issue", number, ...shown, url, author: opener?.login, comments };
}
