import * as z from "zod/mini";
import type { GitHub, RequestLimits } from "../runner/github.ts";
import type { ThreadEvent } from "./event.ts";
import { parseRequest, type Trigger } from "./trigger.ts";

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

/** A connection to GitHub, with the limits of the requests. */
export interface ReviewPorts {
  github: Pick<GitHub, "request" | "paginate">;
  /** Returns the limits of the next request. */
  limits: () => RequestLimits & { totalTimeoutMs: number };
}

/**
 * GitHub fires two events for a comment on a diff: one for the comment, and one for the review that it belongs to. Each
 * request must be handled once, whichever of them the workflow runs on. So the review event handles a review that has a
 * text of its own or several comments, and the comment event a comment that is all there is.
 */
function isHandledAsReview(text: string, commentCount: number): boolean {
  return text.trim() !== "" || commentCount > 1;
}

/**
 * Returns whether a review comment is a part of a review that the review's own event handles.
 *
 * @throws if the review cannot be read
 */
export async function isPartOfReview(event: ThreadEvent, ports: ReviewPorts): Promise<boolean> {
  if (event.reviewId === undefined) return false;
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}";
  const review = reviewResponse.parse(
    await ports.github.request(route, placeOf(event, event.reviewId), ports.limits()),
  );
  if (isHandledAsReview(review.body ?? "", 1)) return true;
  return isHandledAsReview("", (await listComments(event, event.reviewId, ports)).length);
}

/**
 * Parses a review that was submitted: the request in its text, together with its comments; or the requests in the comments
 * that begin with the phrase.
 *
 * @throws if its comments cannot be read
 */
export async function parseReview(event: ThreadEvent, phrase: string, ports: ReviewPorts): Promise<Trigger> {
  const { action, text, reviewId, author } = event;
  if (action !== "submitted" || reviewId === undefined) return { skip: action === "edited" ? "edited" : "no-trigger" };
  const comments = await listComments(event, reviewId, ports);
  // The permission that is checked is the reviewer's.
  const own = comments.filter(({ user }) => user?.login.toLowerCase() === author.login.toLowerCase());
  const asking = own.map((comment) => ({ ...comment, asks: parseRequest(comment.body, phrase) }));

  const asked = parseRequest(text, phrase);
  if (asked && "command" in asked) return asked;
  if (asked) {
    const all = asking.map(({ asks, ...comment }) => ({
      ...comment,
      body: asks && "instruction" in asks ? asks.instruction : comment.body,
    }));
    const instruction = [asked.instruction, formatComments(all)].filter(Boolean).join("\n\n");
    return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew: asked.isNew };
  }
  const requests = asking.filter(({ asks }) => asks !== undefined);
  if (requests.length === 0) return { skip: "no-trigger" };
  if (!isHandledAsReview(text, comments.length))
    return { skip: "no-trigger", handledBy: "pull_request_review_comment" };
  const instructions = requests.flatMap(({ asks, ...comment }) =>
    asks && "instruction" in asks ? [{ ...comment, body: asks.instruction, isNew: asks.isNew }] : [],
  );
  const command = requests.map(({ asks }) => asks).find((asks) => asks && "command" in asks);
  if (instructions.length === 0 && command) return command;
  const instruction = formatComments(instructions);
  return instruction === ""
    ? { skip: "no-instruction" }
    : { instruction, isNew: instructions.some(({ isNew }) => isNew) };
}

/** GitHub's documentation: "List comments for a pull request review". */
async function listComments(event: ThreadEvent, reviewId: number, { github, limits }: ReviewPorts) {
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments";
  return z.array(commentResponse).parse(await github.paginate(route, placeOf(event, reviewId), limits()));
}

function placeOf({ owner, repo, subject }: ThreadEvent, reviewId: number) {
  return { owner, repo, pull_number: subject.number, review_id: reviewId };
}

/** Formats the comments that say something, each under its file and line. */
function formatComments(comments: readonly ReviewComment[]): string {
  const said = comments.filter(({ body }) => body.trim() !== "");
  let length = 0;
  const shown = said.slice(0, maxComments).flatMap((comment) => {
    const line = comment.line ?? comment.original_line ?? lineOf(comment.diff_hunk ?? "");
    const file = `File: ${shorten(comment.path, maxPathLength)}${line === undefined ? "" : `, line ${line}`}`;
    const text = `${file}\n${shorten(comment.body.trim(), maxCommentLength)}`;
    length += text.length;
    return length > maxLength ? [] : [text];
  });
  const left = said.length - shown.length;
  return [...shown, ...(left > 0 ? [`(and ${left} more ${left === 1 ? "comment" : "comments"})`] : [])].join("\n\n");
}

/**
 * Returns the line that a comment is on, which GitHub leaves out of a review's list: the last line of its hunk, numbered as
 * in the new file, or as in the old file if it was removed.
 */
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

function shorten(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1).toWellFormed()}…` : text;
}
