import type { Phase } from "../../src/client/errors.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import type { Answer, Exchange as Response, SeenRequest } from "../support/fake-transport.ts";
import type { Exchange, Fate, Scenario } from "./scenario.ts";

export const jobId = "job_of_the_run";
const link = "https://github.com/acme/docs/pull/7";

interface Work {
  acceptedAt: number;
  visibleAt: number;
  endsAt: number;
}

/** A simulated service behind a simulated network: does what the scenario says and keeps the truth of what happened. */
export class World {
  /** Jobs that were started, whether or not anybody heard of it. */
  jobsStarted = 0;
  messagesTaken = 0;
  /** A whole answer that holds the id of the job that was created has reached the client. */
  hasAnsweredId = false;
  /** A create or message whose fate the client cannot know. */
  hasUnclearPost = false;
  /** A create or message was sent though an earlier one was in doubt or had been taken. */
  hasSentAgain = false;
  /** The states that whole records of the job have shown. */
  readonly shownStatuses = new Set<string>();
  requests = 0;
  /** The answer under way says that the request was refused for now. */
  #isThrottling = false;
  readonly #clock: FakeClock;
  readonly #scenario: Scenario;
  readonly #key: string;
  readonly #works: Work[] = [];

  constructor(clock: FakeClock, scenario: Scenario, key: string) {
    this.#clock = clock;
    this.#scenario = scenario;
    this.#key = key;
    if (scenario.way === "message") this.#works.push({ acceptedAt: -1e6, visibleAt: -1e6, endsAt: -5e5 });
    if (scenario.way === "attach") this.#works.push({ acceptedAt: 0, visibleAt: 0, endsAt: scenario.activeMs });
  }

  /** Whether the last work that the service has taken is done. */
  isDone(): boolean {
    const last = this.#works.at(-1);
    return last !== undefined && last.endsAt <= this.#clock.now();
  }

  respond(request: SeenRequest): Response {
    this.#isThrottling = false;
    if (++this.requests > 20_000) throw new Error("the run does not come to an end");
    const isPost = request.method === "POST";
    if (isPost && (this.hasUnclearPost || this.jobsStarted + this.messagesTaken > 0)) this.hasSentAgain = true;
    const exchange: Exchange = this.#scenario.exchanges[this.requests - 1] ?? {
      fate: { kind: "served" },
      connectMs: 5,
      answerMs: 20,
    };
    return { connectMs: exchange.connectMs, answerMs: exchange.answerMs, ...this.#play(exchange.fate, request) };
  }

  #play(fate: Fate, request: SeenRequest): Pick<Response, "answer" | "failure"> {
    switch (fate.kind) {
      case "refused-connection":
        return { failure: "not-connected" };
      case "untrusted-certificate":
        return { failure: "certificate" };
      case "lost-request":
        return { failure: "no-response" };
      case "lost-answer":
        return { failure: "no-response", answer: () => this.#serve(request) };
      case "gateway-error":
        return {
          answer: () => {
            if (fate.reached) this.#serve(request);
            return { status: fate.status, body: "<html>Bad gateway</html>" };
          },
        };
      case "throttled":
        this.#isThrottling = true;
        return {
          answer: { status: fate.status, headers: { "retry-after": fate.retryAfter }, body: { error: "Slow down" } },
        };
      case "refused":
        return {
          answer: {
            status: fate.status,
            headers: fate.status < 400 ? { location: `https://elsewhere.example/?${this.#key}` } : {},
            body: { error: `${fate.words} ${this.#key}` },
          },
        };
      case "garbled":
        return { answer: () => garble(fate.body, this.#serve(request), request) };
      case "odd":
        return { answer: () => distort(fate, this.#serve(request), this.#key) };
      case "served":
        return { answer: () => this.#serve(request) };
    }
  }

  /** Takes note of what the client got for a request: an answer, or how it failed. */
  observe(method: string, got: { status: number; body: string } | { phase: Phase }): void {
    if ("phase" in got) {
      if (method === "POST" && got.phase !== "connecting") this.hasUnclearPost = true;
      return;
    }
    const isSuccess = got.status >= 200 && got.status < 300;
    const record = isSuccess ? parseRecord(got.body) : undefined;
    if (record) this.shownStatuses.add(record.status);
    if (method !== "POST") return;
    if (record) this.hasAnsweredId = true;
    else if (isSuccess || got.status === 408 || (got.status >= 500 && !this.#isThrottling)) this.hasUnclearPost = true;
  }

  /** The service as it should be. */
  #serve({ method, path }: SeenRequest): Answer {
    const now = this.#clock.now();
    const { activeMs, lagMs } = this.#scenario;
    if (method === "POST" && path.endsWith("/job")) {
      this.jobsStarted++;
      this.#works.push({ acceptedAt: now, visibleAt: now, endsAt: now + activeMs });
      return { status: 201, body: this.#record() };
    }
    if (this.#works.length === 0) return { status: 404, body: { error: "Job not found" } };
    if (method === "POST") {
      this.messagesTaken++;
      this.#works.push({ acceptedAt: now, visibleAt: now + lagMs, endsAt: now + lagMs + activeMs });
    }
    return { status: 200, body: this.#record() };
  }

  #record(): Record<string, unknown> {
    const now = this.#clock.now();
    const { result } = this.#scenario;
    const visible = this.#works.filter(({ visibleAt }) => visibleAt <= now).at(-1);
    const isActive = visible === undefined || visible.endsAt > now;
    const status = isActive ? "active" : result === "failed" || result === "archived" ? result : "completed";
    return {
      id: jobId,
      status,
      source: { repository: "https://github.com/acme/docs", ref: null },
      model: "model-1",
      prLink: !isActive && result === "pull-request" ? link : null,
      createdAt: "2026-01-01T00:00:00Z",
      archivedAt: null,
    };
  }
}

/** A whole record of the run's job, or nothing. */
function parseRecord(body: string): { id: string; status: string } | undefined {
  try {
    const record = JSON.parse(body) as { id?: unknown; status?: unknown } | null;
    return record?.id === jobId && typeof record.status === "string" ? { id: jobId, status: record.status } : undefined;
  } catch {
    return undefined;
  }
}

/** A whole record with something odd in it. */
function distort({ oddity, words }: Extract<Fate, { kind: "odd" }>, answer: Answer, key: string): Answer {
  const changes = {
    "unknown-status": { status: `paused ${words}` },
    "wrong-types": { source: 7, model: [], prLink: { href: link }, createdAt: false, archivedAt: 0 },
    "echoes-key": { model: key, source: { repository: key, ref: encodeURIComponent(key) } },
    "hostile-text": { model: words, source: { repository: words, ref: words }, createdAt: words },
    "bad-link": { prLink: `javascript:${words}` },
  }[oddity];
  return answer.status === 404 ? answer : { ...answer, body: { ...(answer.body as object), ...changes } };
}

/** A 2xx that holds no whole record of the job. */
function garble(body: Extract<Fate, { kind: "garbled" }>["body"], answer: Answer, request: SeenRequest): Answer {
  const isCreate = request.path.endsWith("/job");
  const bodies = {
    html: "<html>Please sign in</html>",
    nothing: "",
    "no-status": { id: 7 },
    "other-job": { ...(answer.body as object), id: isCreate ? 7 : "job_of_another_run" },
    array: [answer.body],
  };
  return { status: 200, body: bodies[body] };
}
