import type { Exchange, FakeResponse, SeenRequest } from "./fake-transport.ts";
import { prLink, record, respondWith } from "./run-main.ts";

/** A turn of a job: a create or a message. */
interface Turn {
  turn: string;
  job: string;
  prompt: string;
  step: string;
  request: string;
  status: "waiting" | "running" | "completed" | "failed" | "stopped";
  base?: string | undefined;
  /** Of the create of its job. */
  session?: string | undefined;
  covers?: string | undefined;
  kept?: "push" | "pull-request" | "unfinished";
  message?: string;
  reason?: string;
  class?: string;
  usage?: { costUsd: number };
  check?: string;
}

/** A service of one's own at the transport: it knows requests by their keys, and lists what was sent under a step. */
export class KeyedService {
  readonly turns: Turn[] = [];
  /** How turns end that are sent from now on; `running`: not yet. */
  next: Turn["status"] = "completed";
  /** The jobs that are archived, and the link of all pull requests; `null`: agents change nothing. */
  readonly archived = new Set<string>();
  link: string | null = prLink;
  /** What it offers beyond the specification. */
  features: string[] = [];
  /** How often it is asked to stop a turn until no agent is running, and how that turn ends. */
  stopsAfter = 1;
  endsAs: "stopped" | "completed" | "failed" = "stopped";
  /** What agents say, and what they cost; `undefined`: nothing. */
  message: string | undefined;
  /** Why turns fail or are stopped; `undefined`: it does not say so. */
  reason: string | undefined;
  /** Of what kind the failures are; `undefined`: it does not say so. */
  failureClass: string | undefined;
  costUsd: number | undefined;
  /** What the check of each turn shows. Default: nothing. */
  check: string | undefined;
  /** What is kept of turns that fail; `undefined`: nothing. */
  kept: Turn["kept"] | undefined;
  /** Acts on a request and loses its answer. */
  losesAnswer: (request: SeenRequest) => boolean = () => false;
  /** More that records of jobs have. */
  fields: Record<string, unknown> = {};
  /** Something on the way removes the header of keys. */
  stripsKeys = false;

  readonly respond = (request: SeenRequest): Exchange => {
    const response = this.#answer(request);
    return this.losesAnswer(request) ? { failure: "no-response" } : { response };
  };

  /** The prompts of all turns, as `JOB: PROMPT`. */
  get prompts(): string[] {
    return this.turns.map(({ job, prompt }) => `${job}: ${prompt}`);
  }

  #answer(request: SeenRequest): FakeResponse {
    const { method, path, query, headers, body } = request;
    const [, step = "", key = ""] = this.stripsKeys
      ? []
      : (/^"(.+)\.(.+)"$/.exec(headers["idempotency-key"] ?? "") ?? []);
    const job = /\/job\/([^/]+)/.exec(path)?.[1];
    if (method === "GET" && job === undefined) return this.#list(new URLSearchParams(query), key);
    if (job !== undefined && !this.turns.some((turn) => turn.job === job)) return error(404, "Job not found");
    if (method === "GET") return { status: 200, body: this.#record(job ?? "") };
    const stopped = /\/turn\/([^/]+)\/stop$/.exec(path)?.[1];
    if (stopped !== undefined) return this.#stop(stopped);
    const { prompt, base, session, covers } = body as {
      prompt: string;
      base?: string;
      session?: string;
      covers?: string;
    };
    const known = this.turns.find((turn) => key !== "" && turn.step === step && turn.request === key);
    if (known?.prompt !== undefined && known.prompt !== prompt)
      return error(422, "The key was used for another prompt");
    const turn =
      known ??
      this.#add(job ?? `job_${new Set(this.turns.map((one) => one.job)).size + 1}`, prompt, step, key, {
        base,
        session,
        covers,
      });
    const replay = known ? { "idempotent-replayed": "true" } : undefined;
    const status = known ? this.#record(turn.job) : { ...this.#record(turn.job), status: "active", prLink: null };
    return { status: job === undefined ? 201 : 200, body: status, ...(replay && { headers: replay }) };
  }

  #stop(id: string): FakeResponse {
    const turn = this.turns.find((one) => one.turn === id);
    if (!turn) return error(404, "Turn not found");
    if (--this.stopsAfter > 0) return { status: 202, body: { turn: id, status: turn.status } };
    if (turn.status === "running" || turn.status === "waiting") turn.status = this.endsAs;
    return { status: 200, body: { turn: id, status: turn.status } };
  }

  #list(query: URLSearchParams, key: string): FakeResponse {
    const step = query.get("step") ?? "";
    const asked = query.get("session");
    const of = this.turns.filter(({ session }) => asked !== null && session === asked).toReversed();
    const jobs = [...new Set(of.map(({ job }) => job))];
    const job = jobs.find((one) => !this.archived.has(one)) ?? null;
    const isTold = (turn: Turn): boolean => jobs.includes(turn.job) && turn.status === "completed";
    const covers = this.turns.filter(isTold).flatMap((turn) => turn.covers?.match(/^[^+]+$/) ?? []);
    const about = jobs.length > 0 ? { job, jobs, covers: covers.toReversed() } : null;
    const session = this.features.includes("session") && asked !== null && { session: about };
    const turns = this.turns
      .filter((turn) => turn.step === step)
      .toReversed()
      .map(({ turn, job, request, status, ...of }) => {
        const { kept, message, reason, class: failureClass, usage, check } = of;
        const isOver = status !== "running" && status !== "waiting";
        const end = isOver && { kept, message, reason, class: failureClass, usage, check };
        return { turn, job, request, status, ...end };
      });
    return { status: 200, body: { step, key: key || null, features: this.features, turns, ...session } };
  }

  #add(
    job: string,
    prompt: string,
    step: string,
    request: string,
    about: Pick<Turn, "base" | "session" | "covers">,
  ): Turn {
    const number = this.turns.length + 1;
    const turn: Turn = {
      turn: `turn_${number}`,
      job,
      prompt,
      step,
      request: request || `own-${number}`,
      status: this.next,
      ...about,
      ...(this.next === "failed" && this.kept && { kept: this.kept }),
      ...(this.message !== undefined && { message: this.message }),
      ...(this.reason !== undefined && { reason: this.reason }),
      ...(this.failureClass !== undefined && { class: this.failureClass }),
      ...(this.check !== undefined && { check: this.check }),
      ...(this.costUsd !== undefined && { usage: { costUsd: this.costUsd } }),
    };
    this.turns.push(turn);
    return turn;
  }

  #record(job: string): Record<string, unknown> {
    const last = this.turns.findLast((turn) => turn.job === job);
    const isOver = last?.status !== "running" && last?.status !== "waiting";
    const ended = last?.status === "completed" ? "completed" : "failed";
    const status = this.archived.has(job) ? "archived" : isOver ? ended : "active";
    const base = this.turns.find((turn) => turn.job === job)?.base;
    const kept = isOver && last?.kept !== undefined && { kept: last.kept };
    return record({
      id: job,
      status,
      prLink: isOver ? this.link : null,
      ...(base !== undefined && { base }),
      ...kept,
      ...this.fields,
    });
  }
}

function error(status: number, message: string): FakeResponse {
  return { status, body: { error: message } };
}

/** A service without keys in front of it answers this to the question what was sent under a step. */
export const notAnnounced = respondWith(404, { error: "Not found" });
