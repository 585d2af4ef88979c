import * as z from "zod/mini";
import type { Clock } from "../../client/clock.ts";
import type { GitHub, RequestLimits } from "../runner/github.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { ThreadEvent } from "./event.ts";
import { type Marker, parseMarker } from "./marker.ts";

/** The timeout of a request to GitHub in milliseconds, including its retries and their delays. */
export const requestTimeoutMs = 10_000;
/** After a signal, the last edit gets this long, in milliseconds: the runner does not wait. */
const lastEditGraceMs = 1000;
/** While the job runs, the reply is not edited again before this time, in milliseconds. */
const progressPauseMs = 60_000;
/** After a signal, a reply that is being posted gets this long, in milliseconds, so that it can still be edited. */
const postGraceMs = 200;

export type Reaction = "eyes" | "hooray" | "confused";

export interface ThreadPorts {
  github: GitHub;
  clock: Clock;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** Called for the first request that fails, and only for that one. `action` continues "Could not …". */
  onFailure: (action: string, error: unknown) => void;
}

const person = z.object({ id: z.int() });
const reaction = z.object({ user: person });
const comment = z.object({
  id: z.int(),
  user: z.nullish(person),
  body: z.nullish(z.string()),
  in_reply_to_id: z.nullish(z.int()),
});
const comments = z.array(comment);
const anObject = z.record(z.string(), z.unknown());

/** How long a write that remembers something is repeated if it fails for a passing reason, in milliseconds. */
const repeatLimitMs = 10_000;
/** Before it is repeated, in milliseconds. */
const repeatPauseMs = 1000;

/**
 * What became of a write that remembers something. `refused`: GitHub does not allow it; `lost`: it is unknown whether GitHub has
 * done it.
 */
export interface Write {
  kind: "kept" | "refused" | "lost";
  /** The account that the step acts as. */
  userId?: number | undefined;
  /** A reaction that did not exist before. */
  isNew?: boolean;
  /** What it would have changed does not exist. */
  isDeleted?: boolean;
}

interface AttemptOptions {
  isLast?: boolean;
  /** How much time is left after a signal, in milliseconds. */
  graceMs?: number;
  isUrgent?: boolean;
  /** Monotonic time by which the request has to be over. Default: none. */
  latest?: number;
}

class UnusableError extends Error {}

/** A reply in the thread with a marker. */
export interface RememberedReply extends Marker {
  replyId: number;
  authorId: number;
}

/**
 * The thread of the event that triggered the step. A request that GitHub rejects is reported once, and otherwise
 * ignored: the job does not depend on it.
 */
export class Thread {
  readonly #event: ThreadEvent;
  readonly #ports: ThreadPorts;
  /** Monotonic time by which every request has to be over, except the last edit and reaction. */
  readonly #deadline: number;
  #replyId: number | undefined;
  #hasFailed = false;
  /** Whether the last edit of the reply failed. */
  #isOutdated = false;
  /** What the reply was last told to say, and the monotonic time of that. */
  #body = "";
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** The listed replies of other projects. */
  #others: readonly RememberedReply[] = [];
  /** Edits are sent one after another, so that the last one wins. */
  #edits: Promise<void> = Promise.resolve();

  constructor(event: ThreadEvent, deadline: number, ports: ThreadPorts) {
    this.#event = event;
    this.#deadline = deadline;
    this.#ports = ports;
  }

  /** Whether the reply says what it was last told to say, so that a re-run will find it. */
  get isReliable(): boolean {
    return this.#replyId !== undefined && !this.#isOutdated;
  }

  /**
   * Adds a reaction to the comment, or to the issue or pull request; a review can have none. Only to a comment, no earlier
   * request can have added it.
   */
  async react(content: Reaction, { isLast = false } = {}): Promise<Write | undefined> {
    // After a signal there is only time for the last edit.
    if (isLast && this.#ports.signal.aborted) return undefined;
    const { commentId, subject, triggerKind } = this.#event;
    if (triggerKind === "review") return undefined;
    const [path, place] =
      commentId === undefined
        ? ["issues/{issue_number}", { issue_number: subject.number }]
        : [`${this.#kind}/comments/{comment_id}`, { comment_id: commentId }];
    const route = `POST /repos/{owner}/{repo}/${path}/reactions`;
    let status = 0;
    const onStatus = (answered: number): void => {
      status = answered;
    };
    const call = (limits: RequestLimits) =>
      this.#ports.github.request(route, this.#parameters({ ...place, content }), { ...limits, onStatus });
    if (isLast) return void (await this.#send("add a reaction", reaction, { isLast }, call));
    const [write, data] = await this.#keep("add a reaction", reaction, {}, call);
    const isKnown = commentId !== undefined && (status === 200 || status === 201);
    return { ...write, userId: data?.user.id, ...(isKnown && { isNew: status === 201 }) };
  }

  /** Posts the reply. */
  async post(body: string): Promise<Write> {
    const { position, subject } = this.#event;
    const route = position
      ? "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
      : "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
    const place = position
      ? { pull_number: subject.number, comment_id: position.rootId }
      : { issue_number: subject.number };
    const [write, reply] = await this.#keep("post a reply", comment, { graceMs: postGraceMs }, (limits) =>
      this.#ports.github.request(route, this.#parameters({ ...place, body }), limits),
    );
    this.#replyId = reply?.id ?? this.#replyId;
    this.#wrote(body);
    return { ...write, userId: reply?.user?.id };
  }

  /** Replaces the text of the reply before anything else is done. */
  async rewrite(body: string): Promise<Write> {
    const [write] = await this.#keep("update the reply", anObject, {}, (limits) => this.#edit(body, limits));
    this.#wrote(body);
    this.#isOutdated = write.kind !== "kept";
    return write;
  }

  /** Makes an earlier reply the one to edit. */
  useReply(replyId: number): void {
    this.#replyId = replyId;
  }

  /**
   * Replaces the text of the reply, after all earlier edits; after a signal, immediately or not at all.
   *
   * @param options - `isLast`: the edit reports the result; `isUrgent`: it is sent without a pause after the last write;
   *   `isProgress`: the reply is not out of date without it
   */
  edit(body: string, { isLast = false, isUrgent = false, isProgress = false } = {}): Promise<void> {
    const { signal } = this.#ports;
    this.#wrote(body);
    const before = signal.aborted ? Promise.resolve() : this.#edits;
    this.#edits = before.then(async () => {
      if (this.#replyId === undefined || (signal.aborted && !isLast)) return;
      const edited = await this.#send("update the reply", anObject, { isLast, isUrgent }, (limits) =>
        this.#edit(body, limits),
      );
      this.#isOutdated = edited === undefined && (this.#isOutdated || !isProgress);
    });
    return this.#edits;
  }

  /** Shows the progress of the job, if it says something new, and the last edit is a minute ago. Does not wait for it. */
  showProgress(body: string): void {
    if (body === this.#body || this.#ports.clock.now() - this.#writtenAt < progressPauseMs) return;
    void this.edit(body, { isProgress: true });
  }

  #edit(body: string, limits: RequestLimits): Promise<unknown> {
    const route = `PATCH /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}`;
    return this.#ports.github.request(route, this.#parameters({ comment_id: this.#replyId, body }), limits);
  }

  #wrote(body: string): void {
    this.#body = body;
    this.#writtenAt = this.#ports.clock.now();
  }

  /** Removes the label that asked, after all earlier edits, so that setting it again asks again. */
  removeLabel(): Promise<void> {
    const { label: name, subject } = this.#event;
    const { signal } = this.#ports;
    if (name === undefined) return Promise.resolve();
    this.#edits = this.#edits.then(async () => {
      if (signal.aborted) return;
      const route = "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}";
      const parameters = this.#parameters({ issue_number: subject.number, name });
      await this.#send("remove the label", z.unknown(), {}, (limits) =>
        this.#ports.github.request(route, parameters, limits).catch((error: unknown) => {
          // Someone else, or an earlier attempt, has removed it.
          if (!(error instanceof GitHubError && error.status === 404)) throw error;
        }),
      );
    });
    return this.#edits;
  }

  /** Lists the other replies with a marker of the project, oldest first; `undefined` if the thread cannot be read. */
  async listReplies(projectId: string): Promise<RememberedReply[] | undefined> {
    const { position, subject } = this.#event;
    const route = position
      ? "GET /repos/{owner}/{repo}/pulls/{number}/comments"
      : "GET /repos/{owner}/{repo}/issues/{number}/comments";
    const { github, clock } = this.#ports;
    const listed = await this.#send("read the thread", comments, {}, (limits) => {
      const totalTimeoutMs = this.#deadline - clock.now();
      return github.paginate(route, this.#parameters({ number: subject.number }), { ...limits, totalTimeoutMs });
    });
    const replies = listed?.flatMap(({ id, user, body, in_reply_to_id: root }) => {
      const marker = parseMarker(body ?? "");
      const isInThread = !position || root === position.rootId;
      if (!marker || !user || !isInThread || id === this.#replyId) return [];
      return [{ ...marker, replyId: id, authorId: user.id }];
    });
    replies?.sort((a, b) => a.replyId - b.replyId);
    this.#others = replies?.filter((reply) => reply.projectId !== projectId) ?? [];
    return replies?.filter((reply) => reply.projectId === projectId);
  }

  /** Returns the project of the last job of another one that an account's reply names, of the replies that were listed. */
  otherProject(authorId: number): string | undefined {
    return this.#others.findLast((reply) => reply.authorId === authorId && reply.jobId !== undefined)?.projectId;
  }

  get #kind(): "issues" | "pulls" {
    return this.#event.position ? "pulls" : "issues";
  }

  #parameters(parameters: Record<string, unknown>): Record<string, unknown> {
    return { owner: this.#event.owner, repo: this.#event.repo, ...parameters };
  }

  /** Sends a request that remembers something, again and again if it fails for a passing reason. */
  async #keep<T>(
    action: string,
    schema: z.ZodMiniType<T>,
    options: AttemptOptions,
    call: (limits: RequestLimits) => Promise<unknown>,
  ): Promise<[Write, T | undefined]> {
    const { clock, signal } = this.#ports;
    const latest = Math.min(this.#deadline, clock.now() + repeatLimitMs);
    for (;;) {
      const sent = await this.#try(schema, { ...options, latest }, call);
      if ("data" in sent) return [{ kind: "kept" }, sent.data];
      const status = sent.error instanceof GitHubError ? sent.error.status : undefined;
      const isRefused = status === 403 || status === 404 || status === 410;
      // What GitHub may have done is not repeated.
      const isFinal = isRefused || sent.error instanceof UnusableError;
      if (isFinal || signal.aborted || clock.now() + repeatPauseMs >= latest) {
        this.#report(action, sent.error, options);
        return [{ kind: isRefused ? "refused" : "lost", isDeleted: status === 404 || status === 410 }, undefined];
      }
      await clock.sleep(repeatPauseMs, signal);
    }
  }

  /** Sends a request, and reports the first one that fails. Returns `undefined` if it fails. */
  async #send<T>(
    action: string,
    schema: z.ZodMiniType<T>,
    options: AttemptOptions,
    call: (limits: RequestLimits) => Promise<unknown>,
  ): Promise<T | undefined> {
    const sent = await this.#try(schema, options, call);
    if ("data" in sent) return sent.data;
    this.#report(action, sent.error, options);
    return undefined;
  }

  #report(action: string, error: unknown, { isLast = false }: AttemptOptions): void {
    const { signal, onFailure } = this.#ports;
    const isCancelled = signal.aborted && !isLast;
    if (!this.#hasFailed && !isCancelled) onFailure(action, error);
    this.#hasFailed ||= !isCancelled;
  }

  async #try<T>(
    schema: z.ZodMiniType<T>,
    { isLast = false, graceMs = 0, isUrgent = false, latest = Number.POSITIVE_INFINITY }: AttemptOptions,
    call: (limits: RequestLimits) => Promise<unknown>,
  ): Promise<{ data: T } | { error: unknown }> {
    const { clock, signal } = this.#ports;
    const leftMs = isLast ? requestTimeoutMs : this.#deadline - clock.now();
    try {
      if (leftMs <= 0) throw new Error("timeout-minutes has passed");
      const response = await call({
        timeoutMs: Math.min(requestTimeoutMs, leftMs, latest - clock.now()),
        signal,
        // The last edit reports the cancellation, so the signal must not cancel it.
        graceMs: isLast ? lastEditGraceMs : graceMs,
        isUrgent,
      });
      const parsed = schema.safeParse(response);
      return parsed.success ? { data: parsed.data } : { error: new UnusableError("GitHub's response is not usable") };
    } catch (error) {
      return { error };
    }
  }
}
