import type { Phase } from "../../src/client/errors.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import type { FakeResponse, Exchange as Result, SeenRequest } from "../support/fake-transport.ts";
import type { Exchange, Fault, Scenario } from "./scenario.ts";

export const jobId = "job_of_the_run";
const link = "https://github.com/acme/docs/pull/7";

/** One turn of the job: the create or a message. */
interface Turn {
  visibleAt: number;
  endsAt: number;
}

/** A simulated service behind a simulated network. It does what the scenario says, and records what really happened. */
export class World {
  /** Jobs that were started, whether or not the client knows about them. */
  jobsStarted = 0;
  messagesAccepted = 0;
  /** The client received a complete response to the create, with the id of the job. */
  hasReturnedId = false;
  /** A create or message failed in a way that does not tell the client whether it was accepted. */
  hasUnknownAcceptance = false;
  /** A create or message was sent although an earlier one was accepted or may have been. */
  hasUnsafeRetry = false;
  /** The statuses in complete records of the job that the client received. */
  readonly returnedStatuses = new Set<string>();
  requests = 0;
  /** The response to the current request says that it was rejected for now. */
  #isThrottling = false;
  readonly #clock: FakeClock;
  readonly #scenario: Scenario;
  readonly #key: string;
  readonly #turns: Turn[] = [];

  constructor(clock: FakeClock, scenario: Scenario, key: string) {
    this.#clock = clock;
    this.#scenario = scenario;
    this.#key = key;
    const now = clock.now();
    if (scenario.task === "message") this.#turns.push({ visibleAt: now - 1e6, endsAt: now - 5e5 });
    if (scenario.task === "attach") this.#turns.push({ visibleAt: now, endsAt: now + scenario.activeMs });
  }

  /** Returns whether the last turn that the service accepted is done. */
  isDone(): boolean {
    const last = this.#turns.at(-1);
    return last !== undefined && last.endsAt <= this.#clock.now();
  }

  respond(request: SeenRequest): Result {
    this.#isThrottling = false;
    if (++this.requests > 20_000) throw new Error("the run does not end");
    const isPost = request.method === "POST";
    if (isPost && (this.hasUnknownAcceptance || this.jobsStarted + this.messagesAccepted > 0)) {
      this.hasUnsafeRetry = true;
    }
    const exchange: Exchange = this.#scenario.exchanges[this.requests - 1] ?? {
      fault: { kind: "none" },
      connectMs: 5,
      responseMs: 20,
    };
    const { fault, connectMs, responseMs } = exchange;
    return { connectMs, responseMs, ...this.#apply(fault, request) };
  }

  #apply(fault: Fault, request: SeenRequest): Pick<Result, "response" | "failure"> {
    switch (fault.kind) {
      case "none":
        return { response: () => this.#serve(request) };
      case "connection-refused":
        return { failure: "not-connected" };
      case "untrusted-certificate":
        return { failure: "certificate" };
      case "lost-request":
        return { failure: "no-response" };
      case "lost-response":
        return { failure: "no-response", response: () => this.#serve(request) };
      case "gateway-error":
        return {
          response: () => {
            if (fault.hasActed) this.#serve(request);
            return { status: fault.status, body: "<html>Bad gateway</html>" };
          },
        };
      case "throttled":
        this.#isThrottling = true;
        return {
          response: {
            status: fault.status,
            headers: { "retry-after": fault.retryAfter },
            body: { error: "Slow down" },
          },
        };
      case "http-error":
        return {
          response: {
            status: fault.status,
            headers: fault.status < 400 ? { location: `https://elsewhere.example/?${this.#key}` } : {},
            body: { error: `${fault.text} ${this.#key}` },
          },
        };
      case "invalid-body":
        return { response: () => invalidBody(fault.body, this.#serve(request), request) };
      case "odd-record":
        return { response: () => oddRecord(fault, this.#serve(request), this.#key) };
    }
  }

  /** Records what the client received for a request: a response, or how it failed. */
  observe(method: string, result: { status: number; body: string } | { phase: Phase }): void {
    if ("phase" in result) {
      if (method === "POST" && result.phase !== "connecting") this.hasUnknownAcceptance = true;
      return;
    }
    const { status, body } = result;
    const isSuccess = status >= 200 && status < 300;
    const record = isSuccess ? parseRecord(body) : undefined;
    if (record) this.returnedStatuses.add(record.status);
    if (method !== "POST") return;
    if (record) this.hasReturnedId = true;
    else if (isSuccess || status === 408 || (status >= 500 && !this.#isThrottling)) this.hasUnknownAcceptance = true;
  }

  /** Acts on a request and responds as the specification says. */
  #serve({ method, path }: SeenRequest): FakeResponse {
    const now = this.#clock.now();
    const { activeMs, lagMs } = this.#scenario;
    if (method === "POST" && path.endsWith("/job")) {
      this.jobsStarted++;
      this.#turns.push({ visibleAt: now, endsAt: now + activeMs });
      return { status: 201, body: this.#record() };
    }
    if (this.#turns.length === 0) return { status: 404, body: { error: "Job not found" } };
    if (method === "POST") {
      this.messagesAccepted++;
      this.#turns.push({ visibleAt: now + lagMs, endsAt: now + lagMs + activeMs });
    }
    return { status: 200, body: this.#record() };
  }

  #record(): Record<string, unknown> {
    const now = this.#clock.now();
    const { result } = this.#scenario;
    const visible = this.#turns.filter(({ visibleAt }) => visibleAt <= now).at(-1);
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

/** Parses a complete record of the run's job; returns `undefined` for anything else. */
function parseRecord(body: string): { id: string; status: string } | undefined {
  try {
    const record = JSON.parse(body) as { id?: unknown; status?: unknown } | null;
    return record?.id === jobId && typeof record.status === "string" ? { id: jobId, status: record.status } : undefined;
  } catch {
    return undefined;
  }
}

/** Puts unexpected values into a complete record. */
function oddRecord(
  { oddity, text }: Extract<Fault, { kind: "odd-record" }>,
  response: FakeResponse,
  key: string,
): FakeResponse {
  const changes = {
    "unknown-status": { status: `paused ${text}` },
    "wrong-types": { source: 7, model: [], prLink: { href: link }, createdAt: false, archivedAt: 0 },
    "echoes-key": { model: key, source: { repository: key, ref: encodeURIComponent(key) } },
    "hostile-text": { model: text, source: { repository: text, ref: text }, createdAt: text },
    "bad-link": { prLink: `javascript:${text}` },
  }[oddity];
  return response.status === 404 ? response : { ...response, body: { ...(response.body as object), ...changes } };
}

/** Replaces the body of a response with one that is not a record of the job. */
function invalidBody(
  body: Extract<Fault, { kind: "invalid-body" }>["body"],
  response: FakeResponse,
  request: SeenRequest,
): FakeResponse {
  const isCreate = request.path.endsWith("/job");
  const bodies = {
    html: "<html>Please sign in</html>",
    empty: "",
    "no-status": { id: 7 },
    "other-job": { ...(response.body as object), id: isCreate ? 7 : "job_of_another_run" },
    array: [response.body],
  };
  return { status: 200, body: bodies[body] };
}
