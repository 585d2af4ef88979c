import * as z from "zod/mini";
import type { Clock } from "../../client/clock.ts";
import type { GitHub } from "../runner/github.ts";
import type { CommentEvent } from "./event.ts";
import { type Marker, readMarker } from "./marker.ts";

/** Each request to GitHub has this long, repeats and waits included. */
export const requestTimeoutMs = 10_000;
/** After a signal, the last edit has this long: the runner does not wait. */
const lastEditGraceMs = 1500;
/** After a signal, a reply that is being made has this long, so that it can still be edited. */
const postGraceMs = 200;
const perPage = 100;

export type Reaction = "eyes" | "hooray" | "confused";

export interface ThreadPorts {
  github: GitHub;
  clock: Clock;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** Hears of the first thing that could not be done in the thread, and of no other. */
  onTrouble: (what: string, error: unknown) => void;
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
const anything = z.unknown();

/** An earlier reply that remembers a job. */
export interface Remembered extends Marker {
  replyId: number;
  authorId: number;
}

/**
 * The thread of the comment that triggered the step. What GitHub does not let it do is not done: one warning in all,
 * and the job runs on.
 */
export class Thread {
  readonly #event: CommentEvent;
  readonly #ports: ThreadPorts;
  /** Monotonic time by which requests must be over, but for the last edit. */
  readonly #deadline: number;
  #replyId: number | undefined;
  #hasTrouble = false;
  /** Edits go one after the other, so that the last one stays. */
  #edits: Promise<void> = Promise.resolve();

  constructor(event: CommentEvent, deadline: number, ports: ThreadPorts) {
    this.#event = event;
    this.#deadline = deadline;
    this.#ports = ports;
  }

  /** Reacts to the comment; the id of the account that this step acts as, where GitHub tells. */
  async react(content: Reaction, isLast = false): Promise<number | undefined> {
    // After a signal there is time for the last edit alone.
    if (isLast && this.#ports.signal.aborted) return undefined;
    const route = `POST /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}/reactions`;
    const parameters = { comment_id: this.#event.comment.id, content };
    return (await this.#try("react to the comment", reaction, route, parameters, { isLast }))?.user.id;
  }

  /** Posts the reply; the id of its author, where it could be made. */
  async post(body: string): Promise<number | undefined> {
    const { review, subject } = this.#event;
    const route = review
      ? "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
      : "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
    const place = review
      ? { pull_number: subject.number, comment_id: review.rootId }
      : { issue_number: subject.number };
    const made = await this.#try("reply", comment, route, { ...place, body }, { graceMs: postGraceMs });
    this.#replyId = made?.id ?? this.#replyId;
    return made?.user?.id;
  }

  /** Takes an earlier reply for the one to edit. */
  adopt(replyId: number): void {
    this.#replyId = replyId;
  }

  /** Puts `body` in the place of the reply, after all earlier edits; after a signal, at once or not at all. */
  edit(body: string, isLast = false): Promise<void> {
    const { signal } = this.#ports;
    const before = signal.aborted ? Promise.resolve() : this.#edits;
    this.#edits = before.then(async () => {
      if (this.#replyId === undefined || (signal.aborted && !isLast)) return;
      const route = `PATCH /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}`;
      await this.#try("edit the reply", anything, route, { comment_id: this.#replyId, body }, { isLast });
    });
    return this.#edits;
  }

  /** All replies in the thread that remember a job of the project, oldest first; `undefined` where it cannot be read. */
  async recall(projectId: string): Promise<Remembered[] | undefined> {
    const { review, subject } = this.#event;
    const route = review
      ? "GET /repos/{owner}/{repo}/pulls/{number}/comments"
      : "GET /repos/{owner}/{repo}/issues/{number}/comments";
    const found: Remembered[] = [];
    for (let page = 1; ; page++) {
      const parameters = { number: subject.number, per_page: perPage, page };
      const listed = await this.#try("read the thread", comments, route, parameters);
      if (!listed) return undefined;
      for (const { id, user, body, in_reply_to_id: root } of listed) {
        const marker = readMarker(body ?? "");
        const isHere = !review || root === review.rootId;
        if (marker?.projectId === projectId && user && isHere)
          found.push({ ...marker, replyId: id, authorId: user.id });
      }
      if (listed.length < perPage) return found.sort((one, other) => one.replyId - other.replyId);
    }
  }

  get #kind(): "issues" | "pulls" {
    return this.#event.review ? "pulls" : "issues";
  }

  async #try<T>(
    what: string,
    schema: z.ZodMiniType<T>,
    route: string,
    parameters: Record<string, unknown>,
    { isLast = false, graceMs = 0 } = {},
  ): Promise<T | undefined> {
    const { github, clock, signal, onTrouble } = this.#ports;
    const { owner, repo } = this.#event;
    const leftMs = isLast ? requestTimeoutMs : this.#deadline - clock.now();
    const limits = {
      timeoutMs: Math.min(requestTimeoutMs, leftMs),
      signal,
      // The last word is not taken back by the signal that it tells of.
      graceMs: isLast ? lastEditGraceMs : graceMs,
    };
    try {
      if (leftMs <= 0) throw new Error("the time is up");
      const parsed = schema.safeParse(await github.request(route, { owner, repo, ...parameters }, limits));
      if (parsed.success) return parsed.data;
      throw new Error("GitHub's answer cannot be used");
    } catch (error) {
      const isCancelled = signal.aborted && !isLast;
      if (!this.#hasTrouble && !isCancelled) onTrouble(what, error);
      this.#hasTrouble ||= !isCancelled;
      return undefined;
    }
  }
}
