import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import type { Clock } from "../../client/clock.ts";
import { messageOf } from "../../client/errors.ts";
import type { GitHub, RequestLimits } from "../runner/github.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { ThreadEvent } from "./event.ts";
import { type Marker, parseCoveredMarker, parseMarker } from "./marker.ts";

/** The timeout of a request to GitHub in milliseconds, including its retries and their delays. */
const requestTimeoutMs = 10_000;
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

/** `refused`: GitHub does not allow the write; `lost`: it is unknown whether GitHub has done it. */
export interface Write {
  kind: "kept" | "refused" | "lost";
  /** The account that the step acts as. */
  userId?: number | undefined;
  /** A reaction that did not exist before. */
  isNew?: boolean;
  /** What it would have changed does not exist. */
  isDeleted?: boolean;
}

/** What it does, which continues "Could not …"; its answer; method and path in the repository; parameters. */
type Call<T> = [action: string, answer: z.ZodMiniType<T>, route: string, parameters: Record<string, unknown>];

interface CallOptions extends Pick<RequestLimits, "graceMs" | "isOnce" | "isUrgent" | "onStatus"> {
  isLast?: boolean;
  /** Monotonic time by which the request has to be over. Default: none. */
  latest?: number;
}

class UnusableError extends Error {}

export interface RememberedReply extends Marker {
  replyId: number;
  authorId: number;
}

/** The thread of the event. The first request that fails is reported; the job does not depend on it. */
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
  /** The listed replies below whose marker somebody has added something, so that they remember nothing. */
  #covered: readonly RememberedReply[] = [];
  #unread: string | undefined;
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

  /** Adds a reaction; a review can have none. Only to a comment, no earlier request can have added it. */
  async react(content: Reaction, { isLast = false } = {}): Promise<Write | undefined> {
    // After a signal there is only time for the last edit.
    if (isLast && this.#ports.signal.aborted) return undefined;
    const { commentId, subject, triggerKind } = this.#event;
    if (triggerKind === "review") return undefined;
    const [path, place] =
      commentId === undefined
        ? ["issues/{issue_number}", { issue_number: subject.number }]
        : [`${this.#kind}/comments/{comment_id}`, { comment_id: commentId }];
    const parameters = { ...place, content };
    const call: Call<z.infer<typeof reaction>> = ["add a reaction", reaction, `POST ${path}/reactions`, parameters];
    if (isLast) return void (await this.#send(call, { isLast }));
    let status = 0;
    const onStatus = (answered: number): void => {
      status = answered;
    };
    const [write, data] = await this.#keep(call, { onStatus });
    const isKnown = commentId !== undefined && (status === 200 || status === 201);
    return { ...write, userId: data?.user.id, ...(isKnown && { isNew: status === 201 }) };
  }

  /**
   * Posts a reply. If GitHub may have done so without an answer, it looks for that: one of the copies is the reply, and the others are
   * deleted.
   *
   * @param account - the account that the step acts as, if it is known
   */
  async post(body: string, account?: number): Promise<Write> {
    const { position, subject } = this.#event;
    const [path, place] = position
      ? [
          "pulls/{pull_number}/comments/{comment_id}/replies",
          { pull_number: subject.number, comment_id: position.rootId },
        ]
      : ["issues/{issue_number}/comments", { issue_number: subject.number }];
    const options = { graceMs: postGraceMs, isOnce: true };
    // Another step of the run may write the same text.
    const posted = `<!-- ${randomUUID()} -->\n${body}`;
    const call: Call<z.infer<typeof comment>> = ["post a reply", comment, `POST ${path}`, { ...place, body: posted }];
    const [write, answer, lostCount] = await this.#keep(call, options);
    const userId = answer?.user?.id ?? account;
    const isSought = lostCount > 0 && userId !== undefined && !this.#ports.signal.aborted;
    const copies = ((isSought && (await this.#list())) || []).filter(
      (one) => one.user?.id === userId && one.body === posted,
    );
    const reply = answer ?? copies.at(-1);
    this.#replyId = reply?.id ?? this.#replyId;
    this.#wrote(body);
    for (const { id } of copies) if (id !== this.#replyId) await this.#delete(id);
    return reply ? { kind: "kept", userId: reply.user?.id } : write;
  }

  /** Replaces the text of the reply before anything else is done. */
  async rewrite(body: string): Promise<Write> {
    const [write] = await this.#keep(this.#edition(body));
    this.#wrote(body);
    this.#isOutdated = write.kind !== "kept";
    return write;
  }

  useReply(replyId: number): void {
    this.#replyId = replyId;
  }

  /** Deletes the reply. */
  async discard(): Promise<void> {
    const replyId = this.#replyId;
    this.#replyId = undefined;
    if (replyId !== undefined) await this.#delete(replyId);
  }

  async #delete(replyId: number): Promise<void> {
    const route = `DELETE ${this.#kind}/comments/{comment_id}`;
    await this.#send(["delete a reply", z.unknown(), route, { comment_id: replyId }]);
  }

  /**
   * Replaces the text after all earlier edits; after a signal, immediately or not at all. `isLast`: it is the result; `isUrgent`:
   * no pause after the last write; `isProgress`: the reply is not out of date without it.
   */
  edit(body: string, { isLast = false, isUrgent = false, isProgress = false } = {}): Promise<void> {
    const { signal } = this.#ports;
    this.#wrote(body);
    const before = signal.aborted ? Promise.resolve() : this.#edits;
    this.#edits = before.then(async () => {
      if (this.#replyId === undefined || (signal.aborted && !isLast)) return;
      const edited = await this.#send(this.#edition(body), { isLast, isUrgent });
      this.#isOutdated = edited === undefined && (this.#isOutdated || !isProgress);
    });
    return this.#edits;
  }

  /** Shows the progress of the job, if it says something new, and the last edit is a minute ago. Does not wait for it. */
  showProgress(body: string): void {
    if (body === this.#body || this.#ports.clock.now() - this.#writtenAt < progressPauseMs) return;
    void this.edit(body, { isProgress: true });
  }

  #edition(body: string): Call<object> {
    const route = `PATCH ${this.#kind}/comments/{comment_id}`;
    return ["update the reply", anObject, route, { comment_id: this.#replyId, body }];
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
      const route = "DELETE issues/{issue_number}/labels/{name}";
      await this.#send(["remove the label", z.unknown(), route, { issue_number: subject.number, name }]);
    });
    return this.#edits;
  }

  /** Why the thread could not be read the last time; `undefined` if it was, or if the token may not read it. */
  get unread(): string | undefined {
    return this.#unread;
  }

  /** Lists the other replies with a marker of the project, oldest first; `undefined` if the thread cannot be read. */
  async listReplies(projectId: string): Promise<RememberedReply[] | undefined> {
    const listed = await this.#list();
    const remembered = (parse: (body: string) => Marker | undefined): RememberedReply[] =>
      (listed ?? []).flatMap(({ id, user, body }) => {
        const marker = parse(body ?? "");
        return marker && user && id !== this.#replyId ? [{ ...marker, replyId: id, authorId: user.id }] : [];
      });
    const isOwn = (reply: RememberedReply): boolean => reply.projectId === projectId;
    const replies = remembered(parseMarker);
    this.#others = replies.filter((reply) => !isOwn(reply));
    this.#covered = remembered((body) => (parseMarker(body) ? undefined : parseCoveredMarker(body))).filter(isOwn);
    return listed && replies.filter(isOwn);
  }

  /** Lists the comments of the thread, oldest first; `undefined` if it cannot be read. */
  async #list(): Promise<z.infer<typeof comments> | undefined> {
    const { position, subject } = this.#event;
    const route = `GET ${this.#kind}/{number}/comments`;
    const call: Call<z.infer<typeof comments>> = ["read the thread", comments, route, { number: subject.number }];
    const sent = await this.#try(call, {});
    const isOver = this.#ports.signal.aborted || this.#ports.clock.now() >= this.#deadline;
    this.#unread = "data" in sent || isRefusal(sent.error) || isOver ? undefined : messageOf(sent.error);
    if ("error" in sent) this.#report(call, sent.error, {});
    const listed = "data" in sent ? sent.data : undefined;
    const inThread = listed?.filter(({ in_reply_to_id: root }) => !position || root === position.rootId);
    return inThread?.sort((a, b) => a.id - b.id);
  }

  /** Returns the job that the last of an account's replies named before somebody added something below its marker. */
  coveredJob(authorId: number, afterReply: number): string | undefined {
    return this.#covered.findLast((reply) => reply.authorId === authorId && reply.replyId > afterReply)?.jobId;
  }

  /** Returns the project of the last job of another one that an account's reply names, of the replies that were listed. */
  otherProject(authorId: number): string | undefined {
    return this.#others.findLast((reply) => reply.authorId === authorId && reply.jobId !== undefined)?.projectId;
  }

  get #kind(): "issues" | "pulls" {
    return this.#event.position ? "pulls" : "issues";
  }

  /** Sends a request that remembers something, again and again if it fails for a passing reason; counts what GitHub may have done so. */
  async #keep<T>(call: Call<T>, options: CallOptions = {}): Promise<[Write, answer: T | undefined, lostCount: number]> {
    const { clock, signal } = this.#ports;
    const latest = Math.min(this.#deadline, clock.now() + repeatLimitMs);
    for (let lostCount = 0; ; lostCount++) {
      const sent = await this.#try(call, { ...options, latest });
      if ("data" in sent) return [{ kind: "kept" }, sent.data, lostCount];
      const isRefused = isRefusal(sent.error);
      // What GitHub may have done is not repeated.
      const isFinal = isRefused || sent.error instanceof UnusableError;
      if (isFinal || signal.aborted || clock.now() + repeatPauseMs >= latest) {
        this.#report(call, sent.error, options);
        const write: Write = {
          kind: isRefused ? "refused" : "lost",
          isDeleted: isRefused && statusOf(sent.error) !== 403,
        };
        return [write, undefined, isRefused ? lostCount : lostCount + 1];
      }
      await clock.sleep(repeatPauseMs, signal);
    }
  }

  /** Sends a request, and reports the first one that fails. Returns `undefined` if it fails. */
  async #send<T>(call: Call<T>, options: CallOptions = {}): Promise<T | undefined> {
    const sent = await this.#try(call, options);
    if ("data" in sent) return sent.data;
    // Someone else, or an earlier attempt, may have deleted it.
    const isDone = call[2].startsWith("DELETE") && statusOf(sent.error) === 404;
    if (!isDone) this.#report(call, sent.error, options);
    return undefined;
  }

  #report([action]: Call<unknown>, error: unknown, { isLast = false }: CallOptions): void {
    const { signal, onFailure } = this.#ports;
    const isCancelled = signal.aborted && !isLast;
    if (!this.#hasFailed && !isCancelled) onFailure(action, error);
    this.#hasFailed ||= !isCancelled;
  }

  async #try<T>(
    [, answer, place, parameters]: Call<T>,
    { isLast = false, graceMs = 0, latest = Number.POSITIVE_INFINITY, ...options }: CallOptions,
  ): Promise<{ data: T } | { error: unknown }> {
    const { github, clock, signal } = this.#ports;
    const { owner, repo } = this.#event;
    const leftMs = isLast ? requestTimeoutMs : this.#deadline - clock.now();
    try {
      if (leftMs <= 0) throw new Error("timeout-minutes has passed");
      const limits = {
        ...options,
        timeoutMs: Math.min(requestTimeoutMs, leftMs, latest - clock.now()),
        totalTimeoutMs: leftMs,
        signal,
        // The last edit reports the cancellation, so the signal must not cancel it.
        graceMs: isLast ? lastEditGraceMs : graceMs,
      };
      const route = place.replace(" ", " /repos/{owner}/{repo}/");
      const response = route.startsWith("GET")
        ? await github.paginate(route, { owner, repo, ...parameters }, limits)
        : await github.request(route, { owner, repo, ...parameters }, limits);
      const parsed = answer.safeParse(response);
      return parsed.success ? { data: parsed.data } : { error: new UnusableError("GitHub's response is not usable") };
    } catch (error) {
      return { error };
    }
  }
}

function isRefusal(error: unknown): boolean {
  return [403, 404, 410].includes(statusOf(error) ?? 0);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof GitHubError ? error.status : undefined;
}
