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

interface AttemptOptions {
  isLast?: boolean;
  /** How much time is left after a signal, in milliseconds. */
  graceMs?: number;
  isUrgent?: boolean;
}

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
   * Adds a reaction to the comment, or to the issue or pull request; a review can have none. Returns the id of the account
   * that the step acts as, if GitHub says it.
   */
  async react(content: Reaction, isLast = false): Promise<number | undefined> {
    // After a signal there is only time for the last edit.
    if (isLast && this.#ports.signal.aborted) return undefined;
    const { commentId, subject, triggerKind } = this.#event;
    if (triggerKind === "review") return undefined;
    const [path, place] =
      commentId === undefined
        ? ["issues/{issue_number}", { issue_number: subject.number }]
        : [`${this.#kind}/comments/{comment_id}`, { comment_id: commentId }];
    const route = `POST /repos/{owner}/{repo}/${path}/reactions`;
    return (await this.#request("add a reaction", reaction, route, { ...place, content }, { isLast }))?.user.id;
  }

  /** Posts the reply. Returns the id of its author, or `undefined` if that failed. */
  async post(body: string): Promise<number | undefined> {
    const { position, subject } = this.#event;
    const route = position
      ? "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
      : "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
    const place = position
      ? { pull_number: subject.number, comment_id: position.rootId }
      : { issue_number: subject.number };
    const reply = await this.#request("post a reply", comment, route, { ...place, body }, { graceMs: postGraceMs });
    this.#replyId = reply?.id ?? this.#replyId;
    this.#wrote(body);
    return reply?.user?.id;
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
      const route = `PATCH /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}`;
      const parameters = { comment_id: this.#replyId, body };
      const edited = await this.#request("update the reply", anObject, route, parameters, { isLast, isUrgent });
      this.#isOutdated = edited === undefined && (this.#isOutdated || !isProgress);
    });
    return this.#edits;
  }

  /** Shows the progress of the job, if it says something new, and the last edit is a minute ago. Does not wait for it. */
  showProgress(body: string): void {
    if (body === this.#body || this.#ports.clock.now() - this.#writtenAt < progressPauseMs) return;
    void this.edit(body, { isProgress: true });
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

  #request<T>(
    action: string,
    schema: z.ZodMiniType<T>,
    route: string,
    parameters: Record<string, unknown>,
    options: AttemptOptions = {},
  ): Promise<T | undefined> {
    return this.#send(action, schema, options, (limits) =>
      this.#ports.github.request(route, this.#parameters(parameters), limits),
    );
  }

  /** Sends a request, and reports the first one that fails. Returns `undefined` if it fails. */
  async #send<T>(
    action: string,
    schema: z.ZodMiniType<T>,
    { isLast = false, graceMs = 0, isUrgent = false }: AttemptOptions,
    call: (limits: RequestLimits) => Promise<unknown>,
  ): Promise<T | undefined> {
    const { clock, signal, onFailure } = this.#ports;
    const leftMs = isLast ? requestTimeoutMs : this.#deadline - clock.now();
    try {
      if (leftMs <= 0) throw new Error("timeout-minutes has passed");
      const response = await call({
        timeoutMs: Math.min(requestTimeoutMs, leftMs),
        signal,
        // The last edit reports the cancellation, so the signal must not cancel it.
        graceMs: isLast ? lastEditGraceMs : graceMs,
        isUrgent,
      });
      const parsed = schema.safeParse(response);
      if (parsed.success) return parsed.data;
      throw new Error("GitHub's response is not usable");
    } catch (error) {
      const isCancelled = signal.aborted && !isLast;
      if (!this.#hasFailed && !isCancelled) onFailure(action, error);
      this.#hasFailed ||= !isCancelled;
      return undefined;
    }
  }
}
