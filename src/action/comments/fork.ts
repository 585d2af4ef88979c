import * as z from "zod/mini";

const repository = z.object({ id: z.int() });
const event = z.object({
  pull_request: z.object({ head: z.object({ repo: z.nullish(repository) }), base: z.object({ repo: repository }) }),
});

/** The events for which GitHub gives a run no secrets if the pull request is from a fork. */
const eventsWithoutSecrets = ["pull_request", "pull_request_review", "pull_request_review_comment"];

/**
 * Returns whether an event is about a pull request from a fork, so that its run gets no secrets. A fork that was deleted
 * is `null`. GitHub's documentation: "Workflows in forked repositories".
 */
export function isFromFork(name: string, readPayload: () => unknown): boolean {
  if (!eventsWithoutSecrets.includes(name)) return false;
  try {
    const { head, base } = event.parse(readPayload()).pull_request;
    return head.repo?.id !== base.repo.id;
  } catch {
    return false;
  }
}
