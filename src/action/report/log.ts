import { isKnownStatus, type Job } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import type { RetryNotice } from "../../client/submit.ts";
import type { Trace } from "../../client/trace.ts";
import type { WaitEvent } from "../../client/wait.ts";
import { capitalized, join, joinSentences, type Message, plain, say, type Text } from "../../runner-kit/text.ts";
import { excerpt, forAnnotation, forLog } from "../../runner-kit/untrusted.ts";
import { type Outcome, outcomes } from "../outcome.ts";
import type { RunState } from "../run-state.ts";
import type { Toolkit } from "../runner/toolkit.ts";
import type { Inputs } from "../settings.ts";
import { describeFiles, shortRef } from "./changes-text.ts";
import { count, delay, duration, elapsed, size } from "./format.ts";
import type { ChangesEvent, Forgotten, RerunEvent, SessionEvent } from "./log-events.ts";
import { failureReason } from "./request-failure.ts";

/** The runner shows ten warnings per step; recurring connection problems must leave room for others. */
const maxConnectionWarnings = 5;

/** A remark in the log and in the reply. */
export const jobReplaced = say`The job that this thread remembers was not found, so this request is for a new one.`;

const jobOver = {
  failed: "failed",
  archived: "was archived",
  "not found": "was not found",
  "no pull request": "finished without a pull request",
};

const startingOver = {
  failed: "is failed",
  stopped: "was stopped",
  archived: "is archived",
  "not found": "was not found",
  rejected: "rejected the message",
};

/** The log of a run: what people read at 3 a.m. Every line and annotation is escaped here. */
export class RunLog {
  readonly #toolkit: Toolkit;
  #isFailing = false;
  #connectionWarnings = 0;
  #address = "";
  #hasWarnedOfStatus = false;
  #hasWarnedOfMemory = false;
  #pageUrl = "";

  constructor(toolkit: Toolkit) {
    this.#toolkit = toolkit;
  }

  starting({ task, projectId, baseUrl }: Inputs): void {
    this.#address = baseUrl.href;
    const where = `in project ${projectId} at ${baseUrl.href}`;
    if (task.kind === "create") this.#line(`Creating an agent job ${where} (prompt of ${size(task.prompt)})`);
    else if (task.kind === "attach") this.#line(`Following job ${task.jobId} ${where}`);
    else this.#line(`Sending a message to job ${task.jobId} ${where} (prompt of ${size(task.prompt)})`);
  }

  /** The service accepted the create or message. */
  accepted(kind: "create" | "message", job: Job, state: RunState): void {
    this.#recovered();
    this.#line(kind === "create" ? `Created job ${state.jobId}` : `Sent the message to job ${state.jobId}`);
    for (const name of ["status", "model", "repository", "ref"] as const) {
      if (state[name]) this.#line(`  ${`${name}:`.padEnd(12)}${excerpt(state[name], 300)}`);
    }
    this.#warnOfUnknownStatus(job.status);
    this.#showPage(state);
  }

  /** Says what a re-run does because of an earlier attempt, and warns if a re-run of this one could not know of it. */
  rerun(event: RerunEvent): void {
    switch (event.kind) {
      case "resuming": {
        const earlier = event.earlierAttempt === undefined ? "an earlier attempt" : `attempt ${event.earlierAttempt}`;
        this.#line(`Attempt ${event.attempt}: ${earlier} started job ${event.jobId}; waiting for it`);
        if (event.besides !== undefined)
          this.#annotate(
            "warning",
            "Earlier attempt may have started a job",
            say`By GitHub's record, attempt ${event.besides} of this workflow run ran this step, too, but nothing says what it started. This attempt waits for job ${event.jobId}; another one may be running.`,
          );
        break;
      }
      case "resuming-turn":
        this.#line(
          `Attempt ${event.attempt}: the service says that an earlier attempt of this step sent its request as job ${event.jobId}; waiting for that`,
        );
        if (event.hasOtherPrompt) {
          this.#annotate(
            "notice",
            "Earlier attempt had another prompt",
            say`The prompt of this attempt differs from the one that an earlier attempt of this workflow run sent. Nothing is sent again: the result is that of the earlier prompt. To send the new one, run the workflow again from the start.`,
          );
        }
        break;
      case "starting-over":
        this.#line(`Job ${event.jobId} ${startingOver[event.reason]}; sending the request again`);
        break;
      case "not-saved": {
        const text = event.isInTime
          ? say`That a request is about to be sent could not be saved in the Actions cache (${messageOf(event.error)}). It is sent anyway. If this runner is lost now, a re-run of this workflow run may start a second job.`
          : say`The job could not be saved in the Actions cache (${messageOf(event.error)}). The job is not affected, but a re-run of this workflow run, or the next run of its session, may not know of it.`;
        // Two annotations would say the same.
        if (this.#hasWarnedOfMemory) this.#line(plain(text));
        else this.#annotate("warning", "Cannot remember the job", text);
        this.#hasWarnedOfMemory = true;
        break;
      }
    }
  }

  /** Says what later runs will not know, because the Actions cache cannot be written. */
  forgets({ access, forgetsAttempt, session }: Forgotten): void {
    const why =
      access === "read"
        ? say`GitHub lets runs of this event only read the Actions cache.`
        : access === "none"
          ? say`ACTIONS_CACHE_MODE keeps this run from the Actions cache.`
          : say`The runner offers no cache service.`;
    if (forgetsAttempt) {
      this.#annotate(
        "notice",
        access === "absent" ? "Re-run without a memory" : "A re-run may not find the job",
        joinSentences(
          why,
          access === "absent"
            ? say`So this attempt cannot know what an earlier one started, and GitHub did not say that it ran this step. It sends the request.`
            : say`So a re-run of this workflow run sends nothing, unless GitHub says that this step did not run (permissions: actions: read). To wait for the job, run the action with its job-id.`,
        ),
      );
    }
    if (session !== "") {
      this.#annotate(
        "notice",
        "Session without a memory",
        joinSentences(
          why,
          say`So the session cannot remember the job of this run. Run it on schedule, push or workflow_dispatch.`,
        ),
      );
    }
  }

  /** GitHub's documentation: "Dependency caching reference", restrictions for accessing a cache. */
  sessionOnTag(): void {
    this.#annotate(
      "notice",
      "Session of a tag",
      say`This run is on a tag, and GitHub gives each tag a cache of its own. So the next release does not find the job of this run, and starts a new one. To keep one pull request, run on schedule, or on push to a branch.`,
    );
  }

  /** Says why a session sends a follow-up or starts a new job. */
  session(event: SessionEvent, name: string): void {
    const prefix = `Session ${excerpt(name, 100)}:`;
    switch (event.kind) {
      case "first-job":
        this.#line(`${prefix} no job is remembered, starting one`);
        break;
      case "job-active":
        this.#line(`${prefix} job ${event.jobId} is active, sending a follow-up`);
        break;
      case "job-over":
        this.#line(`${prefix} job ${event.jobId} ${jobOver[event.reason]}, starting a new one`);
        break;
      case "pull-request": {
        const { url, number } = event.pullRequest;
        const pullRequest = number ? `pull request #${number}` : `pull request ${url}`;
        if (event.state === "merged" || event.state === "closed") {
          this.#line(`${prefix} ${pullRequest} is ${event.state}, starting a new job`);
          break;
        }
        this.#line(
          `${prefix} ${pullRequest} is ${event.state === "open" ? "open" : "treated as open"}, sending a follow-up to job ${event.jobId}`,
        );
        if (event.state === "unknown") {
          this.#annotate(
            "notice",
            "Cannot read the state of the pull request",
            say`The state of ${url} could not be read, so the session sends a follow-up to its job. To let the action see whether it is merged or closed, give the step a github-token with pull-requests: read for its repository.`,
          );
        }
        break;
      }
      case "rejected":
        this.#annotate(
          "notice",
          "Session starts a new job",
          say`Job ${event.jobId} failed before, and rejects the follow-up, so the session starts a new job. It leaves ${event.pullRequest.url}: merge or close it.`,
        );
        break;
      case "failed-again":
        this.#annotate(
          "notice",
          "Session starts a new job",
          say`The last ${event.failures} turns of job ${event.jobId} failed, so the session starts a new job. It leaves ${event.pullRequest.url}: merge or close it.`,
        );
        break;
    }
  }

  /** Says which changes the prompt is about, or why there is nothing to do. */
  changes(event: ChangesEvent): void {
    switch (event.kind) {
      case "found": {
        const { base, commitCount } = event.changes;
        const size = `${count(commitCount, "commit")}, ${describeFiles(event.changes)}`;
        this.#line(`Changes since ${shortRef(base)}: ${size} (${event.changes.url})`);
        break;
      }
      case "nothing-new": {
        const { base, paths } = event.changes;
        const where = paths.length === 0 ? "" : ` in ${excerpt(paths.join(", "), 300)}`;
        this.#line(`No changes${where} since ${shortRef(base)}: nothing to do`);
        break;
      }
      case "nothing-to-compare":
        this.#line(`Changes: the ${event.eventName} event has nothing to compare, so the prompt is sent without any`);
        break;
      case "by-message":
        this.#annotate(
          "notice",
          "Own changes by commit messages",
          say`GitHub does not show pull request #${event.pullRequest} to this step, so the messages of commits decide what it brought: that does not count as a change. To let the action read it, give the job pull-requests: read.`,
        );
        break;
      case "replaced-start":
        this.#annotate(
          "notice",
          "Changes of the last day",
          say`Commit ${shortRef(event.base)}, after which the changes should start, is no longer in the history of the branch (a force-push, or it was deleted). The changes of the last 24 hours are used.`,
        );
        break;
    }
  }

  /** Prints the prompt that would be sent. */
  dryRun(prompt: string): void {
    this.#toolkit.startGroup(`Prompt (${size(prompt)})`);
    for (const line of prompt.split(/\r\n|[\r\n]/)) this.#line(line);
    this.#toolkit.endGroup();
  }

  waiting({ wait, timeoutMs, intervals }: Inputs, state: RunState): void {
    const limit = duration(timeoutMs);
    const title = wait
      ? `Waiting up to ${limit} for job ${state.jobId} (poll interval ${delay(intervals.minMs)} to ${delay(intervals.maxMs)} before jitter)`
      : `Reading the state of job ${state.jobId} once; failed requests are retried for up to ${limit}`;
    this.#toolkit.startGroup(forLog(title).line);
  }

  waited(): void {
    this.#toolkit.endGroup();
  }

  /** Prints one line per poll, one warning when polls begin to fail and one line when they succeed again. */
  poll(event: WaitEvent, state: RunState, elapsedMs: number): void {
    const next = nextPoll(event.nextDelayMs);
    if (event.kind === "poll-failed") {
      const reason = failureReason(event.error, this.#address);
      this.#line(`${elapsed(elapsedMs)}  poll failed${next}: ${plain(reason)}`);
      this.#warnOfConnection("Polling is failing", say`${capitalized(reason)}. The job is not affected.`);
      return;
    }
    this.#recovered();
    const stale = event.isStale ? " (may be the status from before the message)" : "";
    this.#line(`${elapsed(elapsedMs)}  ${excerpt(event.job.status, 100)}${stale}${next}`);
    this.#warnOfUnknownStatus(event.job.status);
    this.#showPage(state);
  }

  /** A create or message will be sent again. */
  retrying({ error, delayMs, isDoubt = false }: RetryNotice, elapsedMs: number): void {
    const reason = failureReason(error, this.#address);
    if (isDoubt) {
      this.#line(`${elapsed(elapsedMs)}  no answer, sending the request again in ${delay(delayMs)}: ${plain(reason)}`);
      this.#warnOfConnection(
        "Request not answered, retrying",
        say`${capitalized(reason)}. The service knows the request by its key, so it is safe to send it again.`,
      );
      return;
    }
    this.#line(`${elapsed(elapsedMs)}  not accepted, retrying in ${delay(delayMs)}: ${plain(reason)}`);
    this.#warnOfConnection(
      "Request not accepted, retrying",
      say`${capitalized(reason)}. The request started nothing, so it is safe to send it again.`,
    );
  }

  #recovered(): void {
    if (this.#isFailing) this.#line("The service is responding again.");
    this.#isFailing = false;
  }

  tlsIsNotVerified(): void {
    this.#annotate(
      "warning",
      "TLS certificates are not verified",
      say`NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone between the runner and the service can read the API key or token. Remove it, and set NODE_EXTRA_CA_CERTS to the file of a private certificate authority instead.`,
    );
  }

  /** Comment mode: the thread has a job, but one of another project, which is not continued. */
  otherProject(other: string, own: string): void {
    this.#annotate(
      "notice",
      "The thread's job is of another project",
      say`The last job of this thread is one of the project ${other}, and this step works for ${own}, so it starts a new job. With the agent service as a step, each repository and each agent has a project of its own.`,
    );
  }

  certificatesAreMissing(file: string): void {
    this.#annotate(
      "warning",
      "Certificates are not used",
      say`NODE_EXTRA_CA_CERTS is ${file}, which does not exist on this runner, so Node ignores it. A service with a certificate of a private authority cannot be reached without it.`,
    );
  }

  /** Comment mode: anyone with a GitHub account has the required permission. */
  anyoneCanAsk(): void {
    this.#annotate(
      "warning",
      "Anyone can start jobs",
      say`This repository is public and required-permission is read, so anyone with a GitHub account can start jobs. Set required-permission to triage or write.`,
    );
  }

  /**
   * Comment mode: a request to GitHub failed.
   *
   * @param action - what could not be done; continues "Could not …"
   */
  threadFailed(action: string, error: unknown): void {
    this.#annotate(
      "warning",
      "Cannot update the thread",
      say`Could not ${action} (${messageOf(error)}). The job is not affected, but replies and reactions may be missing, and a follow-up comment may start a new job, and a re-run of this workflow run may not find the job of this one. The step needs a github-token with issues: write and pull-requests: write.`,
    );
  }

  /** Comment mode: a create replaces the job that the thread remembers. */
  replacingJob(): void {
    this.#line(plain(jobReplaced));
  }

  invalidPullRequestLink(link: string): void {
    this.#annotate(
      "warning",
      "Invalid pull request link",
      say`The service returned ${excerpt(link, 300)} as the pull request, which is not an http(s) URL without credentials. Ignored.`,
    );
  }

  outputsNotWritten(error: string): void {
    this.#annotate(
      "error",
      "Cannot write outputs",
      say`The outputs could not be written, so the step fails: ${error}. The job's id is in the log.`,
    );
  }

  summaryNotWritten(error: unknown): void {
    this.#annotate("warning", "Cannot write the job summary", say`The job summary is missing: ${String(error)}.`);
  }

  /** Prints one debug line per request; the runner shows it if step debug logging is on. */
  trace({ method, path, durationMs, result }: Trace): void {
    const end =
      "error" in result
        ? result.error
        : `${result.status}${result.requestId ? `, request ${excerpt(result.requestId, 100)}` : ""}`;
    this.debug(`${method} ${path}: ${end} (${Math.round(durationMs)} ms)`);
  }

  debug(text: string): void {
    this.#toolkit.debug(forLog(text).line);
  }

  /** Prints an unexpected error with its stack, as debug output. */
  debugError(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const line of text.split("\n")) this.debug(line);
  }

  /** Prints the last line and one annotation, which says what happened, whether a job is running and what to do. */
  ended(outcome: Outcome, message: Message, hasPassed: boolean, state: RunState, elapsedMs: number): void {
    const time = state.startedAt === undefined ? "" : ` after ${duration(elapsedMs)}`;
    const link = state.pullRequest ? `: ${state.pullRequest.url}` : "";
    this.#line(`Outcome: ${outcome}${time}${link}`);
    if (state.finalMessage !== "") {
      this.#line("The agent's last message:");
      for (const line of state.finalMessage.split("\n")) this.#line(`  ${line}`);
    }
    const paragraphs = [message.what, ...(message.points ?? []).map((point) => ["- ", ...point]), message.next];
    const level = hasPassed ? outcomes[outcome].level : "error";
    if (level) this.#annotate(level, message.title, join(paragraphs, "\n"));
    else for (const paragraph of paragraphs) if (paragraph.length > 0) this.#line(plain(paragraph));
  }

  /** Prints the address of the job's page, once. */
  #showPage({ pageUrl }: RunState): void {
    if (pageUrl !== "" && pageUrl !== this.#pageUrl) this.#line(`Job page: ${pageUrl}`);
    this.#pageUrl = pageUrl;
  }

  #warnOfConnection(title: string, text: Text): void {
    if (!this.#isFailing && this.#connectionWarnings++ < maxConnectionWarnings) this.#annotate("warning", title, text);
    this.#isFailing = true;
  }

  #warnOfUnknownStatus(status: string): void {
    if (isKnownStatus(status) || this.#hasWarnedOfStatus) return;
    this.#hasWarnedOfStatus = true;
    this.#annotate(
      "warning",
      "Unknown status",
      say`The service returned the unknown status ${excerpt(status, 100)} for the job. Treated as active.`,
    );
  }

  #annotate(level: "notice" | "warning" | "error", title: string, text: Text): void {
    this.#toolkit.annotate(level, title, forAnnotation(text));
  }

  #line(text: string): void {
    const { line, hasCommand } = forLog(text);
    if (hasCommand) this.#toolkit.infoWithoutCommands(line);
    else this.#toolkit.info(line);
  }
}

function nextPoll(delayMs: number | undefined): string {
  if (delayMs === undefined) return "";
  return delayMs === 0 ? ", next poll at once" : `, next poll in ${delay(delayMs)}`;
}
