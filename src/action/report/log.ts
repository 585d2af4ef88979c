import { isKnownStatus, type Job } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import type { RetryNotice } from "../../client/submit.ts";
import type { WaitEvent } from "../../client/wait.ts";
import { capitalized, join, type Message, message, plain, say, trusted } from "../../runner-kit/text.ts";
import { excerpt, forAnnotation, forLog } from "../../runner-kit/untrusted.ts";
import type { Ending } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { Toolkit } from "../runner/toolkit.ts";
import { promptOf, type Settings, type Task } from "../settings.ts";
import { delay, duration, elapsed, size } from "./format.ts";
import { addressOf, reportBug } from "./message.ts";
import { failureReason } from "./request-failure.ts";

/** The runner shows ten warnings per step; recurring connection problems must leave room for others. */
const maxConnectionWarnings = 5;

const startingOver = {
  failed: "is failed",
  stopped: "was stopped",
  archived: "is archived",
  "not found": "was not found",
  rejected: "rejected the message",
};

type Annotation = Pick<Message, "title" | "what">;

/** The log of a run: what people read at 3 a.m. Every line and annotation is escaped here. */
export class RunLog {
  readonly #toolkit: Toolkit;
  #isFailing = false;
  #connectionWarnings = 0;
  #address: string | undefined;
  #hasWarnedOfStatus = false;
  /** What was said last of saves that failed, or empty. */
  #notSaved = "";
  #pageUrl = "";
  /** Whether lines of polls are in a group, and not between the agent's. */
  #isGrouped = false;

  constructor(toolkit: Toolkit) {
    this.#toolkit = toolkit;
  }

  starting(task: Task, settings: Settings): void {
    this.#address = addressOf(settings);
    const { agent } = settings;
    const there = agent && !agent.isOwnRepository ? `, for ${agent.repository},` : "";
    const where =
      this.#address === undefined ? `on this runner${there}` : `in project ${settings.projectId} at ${this.#address}`;
    if (task.kind === "create") this.line(`Creating an agent job ${where} (prompt of ${size(promptOf(task))})`);
    else if (task.kind === "attach") this.line(`Following job ${task.jobId} ${where}`);
    else this.line(`Sending a message to job ${task.jobId} ${where} (prompt of ${size(promptOf(task))})`);
  }

  accepted(kind: "create" | "message", job: Job, state: RunState): void {
    this.#recovered();
    this.line(kind === "create" ? `Created job ${state.jobId}` : `Sent the message to job ${state.jobId}`);
    for (const name of ["status", "model", "repository", "ref"] as const) {
      if (state[name]) this.line(`  ${`${name}:`.padEnd(12)}${excerpt(state[name], 300)}`);
    }
    this.#heardOf(job.status, state);
  }

  /** The job of an earlier attempt, or of a session, is of no use, so that another request follows. */
  startingOver(jobId: string, reason: keyof typeof startingOver): void {
    this.line(`Job ${jobId} ${startingOver[reason]}; sending the request again`);
  }

  /** Something could not be saved in the cache; `isInTime`: nothing has been sent yet. */
  notSaved(error: unknown, isInTime: boolean): void {
    const text = isInTime
      ? say`That a request is about to be sent could not be saved in the Actions cache (${messageOf(error)}). If it is sent and this runner is lost then, a re-run of this workflow run may start a second job.`
      : say`The job could not be saved in the Actions cache (${messageOf(error)}). The job is not affected, but a re-run of this workflow run, or the next run of its session, may not know of it.`;
    // Two annotations would say the same, and two lines need not.
    if (this.#notSaved === "") this.warning({ title: "Cannot remember the job", what: text });
    else if (this.#notSaved !== plain(text)) this.line(plain(text));
    this.#notSaved = plain(text);
  }

  dryRun(prompt: string): void {
    this.#toolkit.startGroup(`Prompt (${size(prompt)})`);
    for (const line of prompt.split(/\r\n|[\r\n]/)) this.line(line);
    this.#toolkit.endGroup();
  }

  waiting({ wait, timeoutMs, intervals, agent }: Settings, state: RunState): void {
    const limit = duration(timeoutMs);
    this.#isGrouped = agent === undefined || agent.isQuiet;
    if (!this.#isGrouped) {
      this.line(`Waiting up to ${limit} for job ${state.jobId}. What its agent does:`);
      return;
    }
    const title = wait
      ? `Waiting up to ${limit} for job ${state.jobId} (poll interval ${delay(intervals.minMs)} to ${delay(intervals.maxMs)} before jitter)`
      : `Reading the state of job ${state.jobId} once; failed requests are retried for up to ${limit}`;
    this.#toolkit.startGroup(forLog(title).line);
  }

  waited(): void {
    if (this.#isGrouped) this.#toolkit.endGroup();
  }

  /**
   * Prints one line per poll, one warning when polls begin to fail and one line when they succeed again.
   *
   * @param isWait - whether the job is waited for. If it is only read, the result of the step says what failed
   */
  poll(event: WaitEvent, state: RunState, elapsedMs: number, isWait: boolean): void {
    const next = nextPoll(event.nextDelayMs);
    if (event.kind === "poll-failed") {
      const reason = failureReason(event.error, this.#address);
      this.line(`${elapsed(elapsedMs)}  poll failed${next}: ${plain(reason)}`);
      if (!isWait) return;
      this.#warnOfConnection(message`
        Polling is failing
        ${capitalized(reason)}. The job is not affected.`);
      return;
    }
    this.#recovered();
    const stale = event.isStale ? " (may be the status from before the message)" : "";
    if (this.#isGrouped || event.job.status !== "active")
      this.line(`${elapsed(elapsedMs)}  ${excerpt(event.job.status, 100)}${stale}${next}`);
    this.#heardOf(event.job.status, state);
  }

  retrying({ error, delayMs, isDoubt = false }: RetryNotice, elapsedMs: number): void {
    const reason = failureReason(error, this.#address);
    const [what, title, why] = isDoubt
      ? ["no answer, sending the request again", "answered", "The service knows the request by its key"]
      : ["not accepted, retrying", "accepted", "The request started nothing"];
    this.line(`${elapsed(elapsedMs)}  ${what} in ${delay(delayMs)}: ${plain(reason)}`);
    this.#warnOfConnection(message`
      Request not ${trusted(title)}, retrying
      ${capitalized(reason)}. ${trusted(why)}, so it is safe to send it again.`);
  }

  #recovered(): void {
    if (this.#isFailing) this.line("The service is responding again.");
    this.#isFailing = false;
  }

  /** Prints a line that the runner shows if step debug logging is on. */
  debug(text: string): void {
    this.#toolkit.debug(forLog(text).line);
  }

  /** Prints an unexpected error with its stack, as debug output. */
  debugError(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const line of text.split("\n")) this.debug(line);
  }

  /** Reports an error that was thrown outside of everything that would have handled it. */
  crashed(error: unknown): void {
    this.debugError(error);
    this.error(message`
      Internal error
      The action crashed: ${messageOf(error)}. If the log names a job, it may be running. If the log only says that a job is being created, one may have been started: check the service before you run this again. ${reportBug}`);
  }

  /** Prints the last line and one annotation, which says what happened, whether a job is running and what to do. */
  ended({ outcome, level, message: { title, what, points = [], next }, elapsedMs }: Ending, state: RunState): void {
    const time = state.startedAt === undefined ? "" : ` after ${duration(elapsedMs)}`;
    const link = state.pullRequest ? `: ${state.pullRequest.url}` : "";
    this.line(`Outcome: ${outcome}${time}${link}`);
    if (state.finalMessage !== "") {
      this.line("The agent's last message:");
      for (const line of state.finalMessage.split("\n")) this.line(`  ${line}`);
    }
    const paragraphs = [what, ...points.map((point) => ["- ", ...point]), next];
    if (level) this[level]({ title, what: join(paragraphs, "\n") });
    else for (const paragraph of paragraphs) if (paragraph.length > 0) this.line(plain(paragraph));
  }

  /** Prints an annotation, which people see without opening the log. */
  readonly notice = this.#annotate("notice");
  readonly warning = this.#annotate("warning");
  readonly error = this.#annotate("error");

  #annotate(level: Parameters<Toolkit["annotate"]>[0]) {
    return ({ title, what }: Annotation): void => this.#toolkit.annotate(level, title, forAnnotation(what));
  }

  line(text: string): void {
    const { line, hasCommand } = forLog(text);
    if (hasCommand) this.#toolkit.infoWithoutCommands(line);
    else this.#toolkit.info(line);
  }

  #warnOfConnection(warning: Annotation): void {
    if (!this.#isFailing && this.#connectionWarnings++ < maxConnectionWarnings) this.warning(warning);
    this.#isFailing = true;
  }

  /** Warns of the first unknown status, and prints the address of the job's page, once. */
  #heardOf(status: string, { pageUrl }: RunState): void {
    if (!isKnownStatus(status) && !this.#hasWarnedOfStatus) {
      this.#hasWarnedOfStatus = true;
      this.warning(message`
        Unknown status
        The service returned the unknown status ${excerpt(status, 100)} for the job. Treated as active.`);
    }
    if (pageUrl !== "" && pageUrl !== this.#pageUrl) this.line(`Job page: ${pageUrl}`);
    this.#pageUrl = pageUrl;
  }
}

function nextPoll(delayMs: number | undefined): string {
  if (delayMs === undefined) return "";
  return delayMs === 0 ? ", next poll at once" : `, next poll in ${delay(delayMs)}`;
}
