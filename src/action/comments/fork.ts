/** The parts of a payload that are read here. A fork that was deleted is `null`. */
interface PullRequestPayload {
  pull_request?: { head?: { repo?: { id?: unknown } | null }; base?: { repo?: { id?: unknown } } };
}

/** The events for which GitHub gives a run no secrets if the pull request is from a fork. */
const eventsWithoutSecrets = ["pull_request", "pull_request_review", "pull_request_review_comment"];

/**
 * Returns whether an event is about a pull request from a fork, so that its run gets no secrets. GitHub's documentation:
 * "Workflows in forked repositories".
 */
export function isFromFork(name: string, readPayload: () => unknown): boolean {
  if (!eventsWithoutSecrets.includes(name)) return false;
  try {
    const { head, base } = (readPayload() as PullRequestPayload).pull_request ?? {};
    const id = base?.repo?.id;
    return head !== undefined && Number.isInteger(id) && head.repo?.id !== id;
  } catch {
    return false;
  }
}
