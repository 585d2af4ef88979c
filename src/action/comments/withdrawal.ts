import * as z from "zod/mini";
import { messageOf } from "../../client/errors.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { RepositoryReader } from "../runner/read-repository.ts";
import type { CommentMode } from "../settings.ts";
import type { ThreadEvent } from "./event.ts";
import { parseRequest } from "./trigger.ts";

/** A comment, review, issue or pull request, as far as it is told. A hidden comment is `minimized`. */
const askedNow = z.object({
  body: z.nullish(z.string()),
  minimized: z.optional(z.unknown()),
  state: z.optional(z.string()),
  labels: z.optional(z.array(z.object({ name: z.string() }))),
});

/** GitHub's documentation: "REST API endpoints for issue events". */
const issueEvent = z.object({
  event: z.string(),
  label: z.optional(z.object({ name: z.string() })),
  actor: z.nullish(z.object({ type: z.optional(z.string()) })),
});

/**
 * Reads again what asks for a job, and returns why nothing is started if that was taken back: it is gone or hidden, it no longer has the
 * phrase, the label is off, or its issue is closed. Never rejects.
 *
 * @param isRerun - then an earlier attempt may have removed the label itself
 */
export async function findWithdrawal(
  event: ThreadEvent,
  { phrase, label }: Pick<CommentMode, "phrase" | "label">,
  isRerun: boolean,
  repository: RepositoryReader,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  const { triggerKind, commentId, reviewId, position, subject, text } = event;
  const withdrawn = { kind: "skipped", reason: "withdrawn", triggerKind } as const;
  const [path, place] =
    commentId !== undefined
      ? [`${position ? "pulls" : "issues"}/comments/{comment_id}`, { comment_id: commentId }]
      : reviewId !== undefined
        ? ["pulls/{pull_number}/reviews/{review_id}", { pull_number: subject.number, review_id: reviewId }]
        : ["issues/{issue_number}", { issue_number: subject.number }];
  try {
    const { body, minimized, state, labels } = await repository.get(path, askedNow, place);
    const isOff = labels?.every(({ name }) => name.toLowerCase() !== label.toLowerCase()) && !isRerun;
    if (triggerKind === "label") {
      const isClosed = state === "closed" && subject.kind === "issue";
      return isClosed || (isOff && !(await isTakenByStep(label, subject.number, repository))) ? withdrawn : undefined;
    }
    const at = triggerKind === "issue" || triggerKind === "pull request" ? "line" : "start";
    const hasAsked = parseRequest(text, phrase, at) !== undefined;
    const asks = body === undefined || parseRequest(body ?? "", phrase, at) !== undefined;
    return minimized || (hasAsked && !asks) ? withdrawn : undefined;
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    const status = error instanceof GitHubError ? error.status : undefined;
    if (status === 404 || status === 410) return withdrawn;
    // A token that may not read the thread can still start jobs: then the event counts.
    if (status === 403) return undefined;
    return { kind: "blocked", cause: "request", triggerKind, detail: messageOf(error) };
  }
}

/**
 * Returns whether a step took the label off, as each does once its job has started: another leg of a matrix, or another workflow, has the
 * same label. Such a step is a bot, unless its token is a person's. @throws without a status if that cannot be read
 */
async function isTakenByStep(label: string, issue_number: number, repository: RepositoryReader): Promise<boolean> {
  const isOff = (one: z.infer<typeof issueEvent>): boolean =>
    one.event === "unlabeled" && one.label?.name.toLowerCase() === label.toLowerCase();
  const events = await repository
    .list("issues/{issue_number}/events", issueEvent, { issue_number })
    .catch((error: unknown) => {
      throw new Error(messageOf(error));
    });
  return events.findLast(isOff)?.actor?.type === "Bot";
}
