import { isKnownStatus, type Job } from "../../client/contract.ts";
import type { RequestError } from "../../client/errors.ts";
import type { Trace } from "../../client/trace.ts";
import type { WaitEvent } from "../../client/wait.ts";
import type { Inputs } from "../inputs/schema.ts";
import type { Outcome } from "../outcome.ts";
import type { Facts } from "../run-state.ts";
import type { Toolkit } from "../runner/toolkit.ts";
import { delay, duration, elapsed, size } from "./format.ts";
import type { Message } from "./message.ts";
import { describeFault } from "./request-failure.ts";
import { capitalised, join, plain, say, type Text } from "./text.ts";
import { excerpt, forAnnotation, forLog } from "./untrusted.ts";

/** The runner shows ten warnings a step; trouble that comes and goes must leave room for others. */
const troubleLimit = 5;

/** The log of a run: what people read at 3 a.m. Every line and annotation is made harmless on its way out. */
export class RunLog {
  readonly #toolkit: Toolkit;
  #isInTrouble = false;
  #troubles = 0;
  #address = "";
  #hasWarnedOfStatus = false;

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

  /** The service took the create or message. */
  submitted(kind: "create" | "message", job: Job, facts: Facts): void {
    this.#recovered();
    this.#line(kind === "create" ? `Job ${facts.jobId} has been created` : `Job ${facts.jobId} has taken the message`);
    for (const name of ["status", "model", "repository", "ref"] as const) {
      if (facts[name]) this.#line(`  ${`${name}:`.padEnd(12)}${excerpt(facts[name], 300)}`);
    }
    this.#warnOfUnknownStatus(job.status);
  }

  waiting({ timeoutMs, intervals }: Inputs, facts: Facts): void {
    const pace = `polls ${delay(intervals.minMs)} to ${delay(intervals.maxMs)} apart, more or less`;
    this.#toolkit.startGroup(forLog(`Waiting up to ${duration(timeoutMs)} for job ${facts.jobId}, ${pace}`).line);
  }

  waited(): void {
    this.#toolkit.endGroup();
  }

  /** One line a poll; one warning when trouble begins and one line when it ends. */
  poll(event: WaitEvent, elapsedMs: number): void {
    const next = event.nextDelayMs === undefined ? "" : `, next poll in ${delay(event.nextDelayMs)}`;
    if (event.kind === "poll-failed") {
      const fault = describeFault(event.error, this.#address);
      this.#line(`${elapsed(elapsedMs)}  poll failed${next}: ${plain(fault)}`);
      this.#trouble("Polls fail", say`${capitalised(fault)}. The job is not affected.`);
      return;
    }
    this.#recovered();
    const stale = event.isStale ? " (may be the state from before the message)" : "";
    this.#line(`${elapsed(elapsedMs)}  ${excerpt(event.job.status, 100)}${stale}${next}`);
    this.#warnOfUnknownStatus(event.job.status);
  }

  /** A create or message that was provably not taken and will be sent again. */
  retrying(error: RequestError, delayMs: number, elapsedMs: number): void {
    const fault = describeFault(error, this.#address);
    this.#line(`${elapsed(elapsedMs)}  not taken, sent again in ${delay(delayMs)}: ${plain(fault)}`);
    this.#trouble(
      "The service does not take the request",
      say`${capitalised(fault)}. Nothing was started by it, so it is sent again.`,
    );
  }

  #recovered(): void {
    if (this.#isInTrouble) this.#line("The service answers again.");
    this.#isInTrouble = false;
  }

  warn(title: string, text: Text): void {
    this.#annotate("warning", title, text);
  }

  note(text: Text): void {
    this.#line(plain(text));
  }

  fail(title: string, text: Text): void {
    this.#annotate("error", title, text);
  }

  /** One line of debug a request, which the runner shows where step debug logging is on. */
  trace({ method, path, durationMs, result }: Trace): void {
    const end =
      "fault" in result
        ? result.fault
        : `${result.status}${result.requestId ? `, request ${excerpt(result.requestId, 100)}` : ""}`;
    this.debug(`${method} ${path}: ${end} (${Math.round(durationMs)} ms)`);
  }

  debug(text: string): void {
    this.#toolkit.debug(forLog(text).line);
  }

  /** The closing line, and one annotation that says what happened, whether a job runs and what to do. */
  ended(outcome: Outcome, message: Message, hasPassed: boolean, facts: Facts, elapsedMs: number): void {
    const time = facts.startedAt === undefined ? "" : ` after ${duration(elapsedMs)}`;
    const link = facts.pullRequest ? `: ${facts.pullRequest.url}` : "";
    this.#line(`Outcome: ${outcome}${time}${link}`);
    const paragraphs = [message.what, ...(message.points ?? []).map((point) => ["- ", ...point]), message.next];
    const level = levelOf(outcome, hasPassed);
    if (level) this.#annotate(level, message.title, join(paragraphs, "\n"));
    else for (const paragraph of paragraphs) if (paragraph.length > 0) this.#line(plain(paragraph));
  }

  #trouble(title: string, text: Text): void {
    if (!this.#isInTrouble && this.#troubles++ < troubleLimit) this.#annotate("warning", title, text);
    this.#isInTrouble = true;
  }

  #warnOfUnknownStatus(status: string): void {
    if (isKnownStatus(status) || this.#hasWarnedOfStatus) return;
    this.#hasWarnedOfStatus = true;
    this.#annotate(
      "warning",
      "Unknown status",
      say`The service gives the job the status ${excerpt(status, 100)}, which this action does not know. It counts as active.`,
    );
  }

  #annotate(level: "notice" | "warning" | "error", title: string, text: Text): void {
    this.#toolkit.annotate(level, title, forAnnotation(text));
  }

  #line(text: string): void {
    const { line, isSuspect } = forLog(text);
    if (isSuspect) this.#toolkit.infoWithoutCommands(line);
    else this.#toolkit.info(line);
  }
}

/** The annotation that an outcome deserves, if any. */
function levelOf(outcome: Outcome, hasPassed: boolean): "notice" | "warning" | "error" | undefined {
  if (!hasPassed) return "error";
  if (outcome === "no-changes" || outcome === "skipped") return "notice";
  return outcome === "archived" || outcome === "failed" || outcome === "timed-out" ? "warning" : undefined;
}
