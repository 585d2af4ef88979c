import * as z from "zod/mini";
import { readShown } from "../../runner-kit/shown-text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import type { RunResult } from "../result.ts";
import type { RepositoryReader } from "../runner/read-repository.ts";
import type { ThreadEvent } from "./event.ts";
import { inLine } from "./prompt-template.ts";
import { parseRequest, type Trigger } from "./trigger.ts";

const reviewPath = "pulls/{pull_number}/reviews/{review_id}";

/** How many comments of a review go into a prompt, and how many UTF-16 units of each and of all together. */
const maxComments = 50;
const maxCommentLength = 4000;
const maxLength = 60_000;
const maxPathLength = 300;

const reviewResponse = z.object({ body: z.nullish(z.string()) });
const commentResponse = z.object({
  body: z.string(),
  user: z.nullish(z.object({ login: z.string() })),
  path: z.string(),
  line: z.nullish(z.int()),
  original_line: z.nullish(z.int()),
  diff_hunk: z.catch(z.optional(z.string()), undefined),
});
type ReviewComment = z.infer<typeof commentResponse>;

/**
 * GitHub fires an event for a comment on a diff and one for its review. To handle each request once, the review's event takes
 * reviews with a text or several comments, and the comment's event a comment that is all there is.
 */
function isHandledAsReview(text: string, commentCount: number): boolean {
  return text.trim() !== "" || commentCount > 1;
}

/** Returns why a comment that the review's own event handles is skipped. @throws if the review cannot be read */
export async function checkReview(event: ThreadEvent, repository: RepositoryReader): Promise<RunResult | undefined> {
  const { position, reviewId, triggerKind } = event;
  if (!position || reviewId === undefined) return undefined;
  const review = await repository.get(reviewPath, reviewResponse, placeOf(event, reviewId));
  const isHandled =
    isHandledAsReview(review.body ?? "", 1) ||
    isHandledAsReview("", (await listComments(event, reviewId, repository)).length);
  if (!isHandled) return undefined;
  return { kind: "skipped", reason: "no-trigger", triggerKind, handledBy: "pull_request_review" };
}

/** Parses a review: the request in its text with its comments, or those in the comments. @throws if it cannot be read */
export async function parseReview(event: ThreadEvent, phrase: string, repository: RepositoryReader): Promise<Trigger> {
  const { action, text, reviewId, author } = event;
  if (action !== "submitted" || reviewId === undefined) return { skip: action === "edited" ? "edited" : "no-trigger" };
  const comments = await listComments(event, reviewId, repository);
  // The permission that is checked is the reviewer's.
  const own = comments.filter(({ user }) => user?.login.toLowerCase() === author.login.toLowerCase());
  const read = own.map((comment) => {
    const asks = parseRequest(comment.body, phrase);
    const request = asks && "instruction" in asks ? asks : undefined;
    const shown = readShown(comment.body);
    event.hiddenCount += shown.hiddenCount;
    return { ...comment, asks, request, body: request?.instruction ?? shown.from() };
  });

  const asked = parseRequest(text, phrase);
  if (asked && "command" in asked) return asked;
  if (asked) {
    const instruction = [asked.instruction, formatComments(read)].filter(Boolean).join("\n\n");
    return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew: asked.isNew };
  }
  const asking = read.filter(({ asks }) => asks !== undefined);
  if (asking.length === 0) return { skip: "no-trigger" };
  if (!isHandledAsReview(text, comments.length))
    return { skip: "no-trigger", handledBy: "pull_request_review_comment" };
  const requests = asking.filter(({ request }) => request !== undefined);
  const command = asking.map(({ asks }) => asks).find((asks) => asks && "command" in asks);
  if (requests.length === 0 && command) return command;
  const instruction = formatComments(requests);
  const isNew = requests.some(({ request }) => request?.isNew);
  const rest = formatComments(read.filter((comment) => !asking.includes(comment)));
  return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew, rest };
}

/** GitHub's documentation: "List comments for a pull request review". */
function listComments(event: ThreadEvent, reviewId: number, repository: RepositoryReader): Promise<ReviewComment[]> {
  return repository.list(`${reviewPath}/comments`, commentResponse, placeOf(event, reviewId));
}

function placeOf({ subject }: ThreadEvent, reviewId: number) {
  return { pull_number: subject.number, review_id: reviewId };
}

/** Formats the comments that say something, each under its file and line. */
function formatComments(comments: readonly ReviewComment[]): string {
  const said = comments.filter(({ body }) => body.trim() !== "");
  let length = 0;
  const shown = said.slice(0, maxComments).flatMap((comment) => {
    const line = comment.line ?? comment.original_line ?? lineOf(comment.diff_hunk ?? "");
    const file = `File: ${excerpt(inLine(comment.path), maxPathLength)}${line === undefined ? "" : `, line ${line}`}`;
    const text = `${file}\n${excerpt(comment.body.trim(), maxCommentLength)}`;
    length += text.length;
    return length > maxLength ? [] : [text];
  });
  const left = said.length - shown.length;
  return [...shown, ...(left > 0 ? [`(and ${left} more ${left === 1 ? "comment" : "comments"})`] : [])].join("\n\n");
}

/** Returns the line that a comment is on, by the last line of its hunk: in the old file if it was removed. */
function lineOf(hunk: string): number | undefined {
  const [header = "", ...lines] = hunk.split("\n");
  const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(header) ?? [];
  const last = lines.at(-1);
  if (last === undefined) return undefined;
  const [start, other] = last.startsWith("-") ? [oldStart, "+"] : [newStart, "-"];
  return (
    Number(start) + lines.filter((line) => !line.startsWith(other) && !line.startsWith("\\")).length - 1 || undefined
  );
}
