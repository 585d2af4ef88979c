export interface ShownFailure {
  /** The first cell of the failure's row in `docs/reliability.md`. */
  failure: string;
  /** The file of the test, below `test` and without its ending. Undefined if no test can show the failure. */
  file?: string;
  /** The name of the test in that file, with its placeholders. */
  name?: string;
}

/** The failures in `docs/reliability.md`, and the test that shows what the step does then: on real sockets or with a fake clock. */
export const shownFailures: ShownFailure[] = [
  {
    failure: "the service cannot be reached",
    file: "unit/action/submission",
    name: "fails after a minute without a connection",
  },
  {
    failure: "the certificate is not trusted",
    file: "e2e/network",
    name: "fails on an untrusted certificate before sending anything, and says how to trust it",
  },
  {
    failure: "a proxy rejects the connection",
    file: "integration/transport",
    name: "are used for https unless no_proxy names the host",
  },
  {
    failure: "the proxy's address has another scheme than `http` or `https`",
    file: "integration/proxy",
    name: "rejects %s by name, before anything is sent",
  },
  {
    failure: "a TLS handshake stalls, or `connect()` fails for lack of a route or a port",
    file: "integration/transport",
    name: "a TLS handshake that stalls",
  },
  {
    failure: "the connection is closed or reset after a create was sent",
    file: "integration/network",
    name: "closed without a response",
  },
  {
    failure: "the response to a create is cut off, not HTTP or larger than 1 MiB",
    file: "e2e/network",
    name: "closed within the body, after the id",
  },
  { failure: "it stalls", file: "integration/network", name: "stalled until the timeout" },
  {
    failure: "it has an id, but no complete record",
    file: "unit/action/submission",
    name: "publishes the id from a response that is not a complete record",
  },
  {
    failure: "a gateway answers a create with `502`, `408`, `101` or a web page",
    file: "integration/network",
    name: "502",
  },
  {
    failure: "or with an error that has an `id` of its own",
    file: "unit/action/submission",
    name: "does not publish an id from a 500: %s",
  },
  { failure: "a gateway sends a create again by itself, such as HAProxy with `retry-on all-retryable-errors`" },
  {
    failure: "the process is paused while the response to a create arrives",
    file: "integration/transport-timing",
    name: "a response that arrived while the process was paused is read, although its timeout has passed",
  },
  {
    failure: "a create is rate-limited",
    file: "integration/network",
    name: "retries a throttled create until it is accepted, and starts one job",
  },
  {
    failure: "for longer than the time left",
    file: "unit/action/submission",
    name: "fails immediately if Retry-After exceeds the time left",
  },
  { failure: "a redirect", file: "unit/action/submission", name: "does not follow a redirect: %i" },
  {
    failure: "a poll is closed, reset, garbled, on a stale connection or about another job",
    file: "integration/network",
    name: "%s, twice",
  },
  {
    failure: "a proxy cuts off polls that the service holds",
    file: "unit/action/held-polls",
    name: "twice is not held again: %s",
  },
  {
    failure: "the service says that it held a poll, and did not, or held it for too long",
    file: "unit/action/held-polls",
    name: "is polled by the schedule if it responds in less than a second",
  },
  { failure: "polls return `404`", file: "unit/action/waiting", name: "retries a 404 until 10 s after a create" },
  {
    failure: "an unknown status",
    file: "unit/action/waiting",
    name: "treats an unknown status as active, with one warning",
  },
  {
    failure: "the record still shows the state from before a message",
    file: "unit/action/waiting",
    name: "never takes a completed job that it has not seen active for a success, and says so after 15 s",
  },
  {
    failure: "the service is down until the time is up",
    file: "unit/action/waiting",
    name: "says that the state is unknown if the last poll failed",
  },
  {
    failure: "GitHub issues no OIDC token",
    file: "unit/action/id-token",
    name: "nothing is sent, and a minute later the step says that no job was started",
  },
  {
    failure: "an OIDC token cannot be renewed during the wait",
    file: "unit/action/id-token",
    name: "with %i is no failure of the job: polls continue when there are tokens again",
  },
  {
    failure: "cancelled while connecting",
    file: "e2e/signals",
    name: "a signal while connecting: ends immediately, nothing was started",
  },
  {
    failure: "cancelled while a create is in flight",
    file: "e2e/signals",
    name: "two signals while the create is in flight: waits for the response and publishes the id",
  },
  {
    failure: "cancelled, with a service that can stop a turn",
    file: "unit/action/stop",
    name: "stops the turn that it has sent, and says so once the service has confirmed it",
  },
  {
    failure: "cancelled while waiting, with another one",
    file: "e2e/signals",
    name: "%s while waiting: ends immediately and says how to wait for the job",
  },
  {
    failure: "the process is killed",
    file: "e2e/signals",
    name: "SIGKILL while waiting: the outputs have the outcome error and the job id",
  },
  {
    failure: "the runner's file for outputs cannot be written: the disk is full",
    file: "e2e/step",
    name: "fails if the outputs cannot be written, with the job id in the log",
  },
  {
    failure: "a response contains the key or an OIDC token",
    file: "integration/network",
    name: "never shows a key that the service rejects and echoes",
  },
  {
    failure: "a response contains workflow commands or markup",
    file: "e2e/network",
    name: "escapes commands, markup and mentions in text from the service",
  },
  {
    failure: "the commenter's permission, or a review, cannot be read",
    file: "integration/comment-step",
    name: "fails the step on a permanent %i, and starts and writes nothing",
  },
  {
    failure: "GitHub answers `5xx` or asks to slow down",
    file: "integration/comment-step",
    name: "retries after a secondary rate limit",
  },
  {
    failure: "GitHub rejects a reply or reaction (not both), or the removal of a label",
    file: "integration/comment-step",
    name: "warns once if the token can only react, and the job keeps running",
  },
  {
    failure: "GitHub does not answer",
    file: "integration/comment-step",
    name: "gives up a request to GitHub after ten seconds, and the job keeps running",
  },
  {
    failure: "the service no longer has the thread's job",
    file: "integration/comments",
    name: "starts a new job if the job of the thread is not found, and says so in the reply",
  },
  {
    failure: "the step is cancelled right after the create",
    file: "e2e/kill-and-rerun",
    name: "a cancellation right after the create leaves the job's marker in the reply, for a re-run to find",
  },
  {
    failure: "it is killed right after the create",
    file: "e2e/kill-and-rerun",
    name: "a re-run waits for the job of a step that was killed right after the create",
  },
  {
    failure: "it is killed while its create is in flight",
    file: "e2e/kill-and-rerun",
    name: "a re-run sends nothing if the step was killed while its create was in flight",
  },
  {
    failure: "the thread cannot be read",
    file: "unit/action/comments/rerun",
    name: "sends nothing if it cannot read the thread, because a job may be running",
  },
];

/** What `docs/memory.md` says of failures, and the test that shows it. */
export const rememberedFailures: ShownFailure[] = [
  {
    failure: "a run is re-run after a timeout, a cancellation or a later step's failure",
    file: "unit/action/memory/rerun",
    name: "waits for the job of an attempt that %s, and sends nothing",
  },
  {
    failure: "that job failed, was archived or is not found",
    file: "unit/action/memory/rerun",
    name: "starts another job if the earlier one %s",
  },
  {
    failure: "the earlier attempt does not know whether its request was accepted",
    file: "unit/action/memory/rerun",
    name: "sends nothing, and says how to start a job regardless",
  },
  {
    failure: "the cache cannot be read on a re-run, or its entry is garbage or of a newer version",
    file: "unit/action/memory/rerun",
    name: "that %s blocks the re-run",
  },
  {
    failure: "the cache cannot be written, or hangs",
    file: "unit/action/memory/rerun",
    name: "warns if the job cannot be saved, and says that a re-run starts another one",
  },
  {
    failure: "the cache's entry was evicted",
    file: "unit/action/memory/rerun",
    name: "that was evicted is none: the re-run sends the request",
  },
  {
    failure: "the runner offers no cache service",
    file: "unit/action/memory/rerun",
    name: "without a cache service, a re-run sends the request again, with one notice",
  },
  {
    failure: "a session's job failed, was archived, is not found or has no pull request",
    file: "unit/action/memory/session",
    name: "five nights: a job, two follow-ups, a new job after a merge, and one after a failed night",
  },
  {
    failure: "the cache cannot be read for a session",
    file: "unit/action/memory/session",
    name: "that cannot be read ends the step, and nothing is sent",
  },
  {
    failure: "a session's entry is garbage or of a newer version",
    file: "unit/action/memory/session",
    name: "that contains %s starts a new job",
  },
  {
    failure: "the state of a session's pull request cannot be read",
    file: "unit/action/memory/session",
    name: "whose pull request %s",
  },
  { failure: "a session's pull request was merged", file: "unit/action/changes/session", name: "merged by %s" },
  { failure: "with `changes`, GitHub cannot be asked", file: "unit/action/changes/changes", name: "an error" },
  {
    failure: "nothing that counts has changed",
    file: "integration/changes",
    name: "are not there on a quiet day, and the service gets no request",
  },
  {
    failure: "the start of the changes was lost in a force-push",
    file: "unit/action/changes/session",
    name: "a force-push falls back to the last day, with a notice",
  },
  {
    failure: "a job with changes failed, and its run is re-run",
    file: "unit/action/changes/session",
    name: "a re-run after a failed job sends the same range again, not an empty one",
  },
  {
    failure: "a comparison has thousands of commits and files",
    file: "unit/action/changes/changes",
    name: "a comparison of 5,000 commits costs 50 requests, and a longer one no more",
  },
];
