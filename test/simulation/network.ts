import type { HttpResponse, Transport } from "../../src/runner-kit/transport.ts";
import { NetworkError, type Phase } from "../../src/runner-kit/transport.ts";
import { answerTo } from "./answer.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Answer, JobRecord, ListedTurn } from "./record.ts";
import type { Exchange, Kill, Scenario } from "./scenario.ts";
import type { SimulatedService, Turn } from "./service.ts";
import { order, type Timeline } from "./timeline.ts";

/** What the action received for a request. */
export type Received = { at: number } & (
  | { kind: "failure"; phase: Phase; reason: NetworkError["reason"] }
  | {
      kind: "response";
      status: number;
      waitMs: number | undefined;
      record: JobRecord | undefined;
      isHoldApplied: boolean;
      /** It says that the service knows requests by their keys. */
      announces: boolean;
      /** The turns that it lists. */
      turns: readonly ListedTurn[];
      /** The error is the service's own. */
      isJson: boolean;
    }
);

/** One request of the action to the service, and what really became of it. Times of the timeline. */
export interface ServiceRequest {
  sentAt: number;
  /** `lookup`: asks what was sent under the step; `stop`: stops a turn. */
  kind: "create" | "message" | "poll" | "lookup" | "stop";
  /** The turn that it stops. */
  turnId?: string;
  /** The job in its address; empty for a create. */
  jobId: string;
  /** The value of `Idempotency-Key`; empty without one. */
  key: string;
  /** When the service started a job or accepted a message because of it, if it did. */
  actedAt?: number;
  /** The turn that the service answers a create or message with. `isReplay`: an earlier request had started it. */
  turn?: Turn;
  isReplay?: boolean;
  /** For how long the service may hold it; 0 if it must answer at once. */
  holdSeconds: number;
  /** Without a fault, and answered within a second, or within the time for which it may be held. */
  isSmooth: boolean;
  received?: Received;
  /** When the request has to be answered, unless a signal comes first. */
  timeoutAt: number;
  /** When the id of the job reaches the runner in a 2xx response to a create, whether or not the action reads it. */
  idArrivesAt?: number;
  /** The id of the job, if the action read it in a 2xx response to a create. */
  arrivedId?: string;
}

export interface NetworkPorts {
  timeline: Timeline;
  process: SimulatedProcess;
  service: SimulatedService;
  scenario: Scenario;
  /** Every request is added to it. */
  requests: ServiceRequest[];
  /** Returns the fate of a request. */
  exchange: (index: number) => Exchange;
  onMoment: (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => void;
}

/** A response that is not 2xx is returned without the rest of its body after this time, as by the real transport. */
const errorBodyTimeoutMs = 2000;

/** How long a service holds a poll that does not stop when it was asked to, and how often one looks at the job, in ms. */
const excessiveHoldMs = 45_000;
const lookMs = 200;

/**
 * Creates the transport to the simulated service. It keeps the contract of the real transport: a request that was not
 * connected was not sent; an abort leaves `graceMs` to a request that was; what has arrived is read before a timer
 * counts; and an error needs no body.
 */
export function simulatedTransport(ports: NetworkPorts): Transport {
  const { timeline, process, requests, onMoment } = ports;

  return (request) =>
    new Promise<HttpResponse>((resolve, reject) => {
      if (request.signal.aborted) {
        reject(networkError("connecting", "aborted"));
        return;
      }
      const index = requests.length;
      const { fault, connectMs, requestMs, responseMs, bodyMs, part, isOld } = ports.exchange(index);
      const target = targetOf(request.method, request.url);
      const idempotencyKey = request.headers["idempotency-key"] ?? "";
      const holdSeconds = Number(/^wait=(\d+)$/.exec(request.headers.prefer ?? "")?.[1] ?? 0);
      const isExceeded = holdSeconds > 0 && ports.scenario.holds === "exceeds";
      const isSmooth = fault.kind === "none" && connectMs + requestMs + responseMs + bodyMs < 800 && !isExceeded;
      const entry: ServiceRequest = {
        ...target,
        key: idempotencyKey,
        holdSeconds,
        sentAt: timeline.now,
        timeoutAt: timeline.now + request.timeoutMs,
        isSmooth,
      };
      requests.push(entry);

      let phase: Phase = "connecting";
      let isSettled = false;
      let answer: Answer | undefined;
      let arrived = 0;

      const settle = (received: Received): void => {
        isSettled = true;
        request.signal.removeEventListener("abort", onAbort);
        entry.received = received;
        const isSuccess = answer !== undefined && answer.status < 300;
        const id = isSuccess && entry.kind === "create" ? answer?.id : undefined;
        if (id && arrived >= id.end) entry.arrivedId = id.value;
        onMoment(index, "answered");
      };
      const succeed = ({ status, headers, body, record, announces = false, turns = [], waitMs }: Answer): void => {
        const wait = waitMs(process.clock.wallTime());
        const isHoldApplied = headers["preference-applied"] !== undefined;
        const isJson = isJsonObject(body.slice(0, arrived));
        const response = { status, waitMs: wait, record, isHoldApplied, announces, turns, isJson };
        settle({ kind: "response", at: timeline.now, ...response });
        resolve({ status, headers, body: body.slice(0, arrived) });
      };
      const fail = (reason: NetworkError["reason"]): void => {
        if (isSettled) return;
        if (answer && answer.status >= 300) {
          succeed(answer);
          return;
        }
        settle({ kind: "failure", at: timeline.now, phase, reason });
        reject(networkError(phase, reason, answer?.body.slice(0, arrived)));
      };
      const read = (response: Answer, length: number): void => {
        if (isSettled) return;
        phase = "reading";
        answer = response;
        arrived = length;
      };
      const onAbort = (): void => {
        if (phase === "connecting" || !request.graceMs) fail("aborted");
        else process.after(request.graceMs, order.timerAfterReads, () => fail("aborted"));
      };
      const respond = (response: Answer): void => {
        const end = fault.kind === "cut-off" ? Math.floor(fault.part * response.body.length) : response.body.length;
        if (response.id && entry.kind === "create" && response.id.end <= end) {
          const isInHead = response.id.end <= Math.floor(part * end);
          entry.idArrivesAt = timeline.now + responseMs + (isInHead ? 0 : bodyMs);
        }
        process.after(responseMs, order.read, () => {
          read(response, Math.floor(part * end));
          if (response.status >= 300) {
            process.after(errorBodyTimeoutMs, order.timerAfterReads, () => isSettled || succeed(response));
          }
        });
        process.after(responseMs + bodyMs, order.read, () => {
          read(response, end);
          if (isSettled) return;
          if (fault.kind === "cut-off") fail("network");
          else succeed(response);
        });
      };
      const onArrival = (): void => {
        const secret = request.headers.authorization?.replace("Bearer ", "") ?? "";
        const step = request.url.searchParams.get("step") ?? "";
        const [, ofStep, ofRequest] = /^"([^".]+)\.([^"]+)"$/.exec(idempotencyKey) ?? [];
        const key = ofStep && ofRequest ? { step: ofStep, request: ofRequest } : undefined;
        const isOldMachine = ports.scenario.service === "fleet" && isOld;
        const response = answerTo(entry, fault, { ...ports, secret, key, step, isOldMachine });
        onMoment(index, "acted");
        if (fault.kind === "lost-response") process.after(responseMs, order.read, () => fail("network"));
        else respond(response);
      };

      process.after(request.timeoutMs, order.timerAfterReads, () => fail("timeout"));
      request.signal.addEventListener("abort", onAbort, { once: true });
      process.after(connectMs, order.read, () => {
        if (isSettled) return;
        if (fault.kind === "connection-refused") return fail("network");
        if (fault.kind === "untrusted-certificate") return fail("certificate");
        phase = "waiting";
        if (fault.kind === "lost-request") process.after(requestMs + responseMs, order.read, () => fail("network"));
        // The request is on its way, whatever becomes of the process.
        else timeline.at(timeline.now + requestMs, order.read, () => hold(entry, ports, onArrival));
        onMoment(index, "sent");
      });
    });
}

/** Calls `answer` when the service has held a poll for as long as it does. */
function hold(
  { jobId, holdSeconds }: ServiceRequest,
  { timeline, service, scenario }: NetworkPorts,
  answer: () => void,
) {
  const holdMs = { ignores: 0, claims: 0, applies: holdSeconds * 1000, exceeds: excessiveHoldMs }[scenario.holds];
  const end = timeline.now + (holdSeconds > 0 ? holdMs : 0);
  const look = (): void => {
    const isActive = service.record(jobId)?.status === "active";
    if (isActive && timeline.now < end) timeline.at(Math.min(end, timeline.now + lookMs), order.read, look);
    else answer();
  };
  look();
}

/** Returns whether a body that may be cut off is one of the service's. */
function isJsonObject(body: string): boolean {
  try {
    return typeof JSON.parse(body) === "object";
  } catch {
    return false;
  }
}

function targetOf(method: string, url: URL): Pick<ServiceRequest, "kind" | "jobId" | "turnId"> {
  const stop = /\/job\/([^/]+)\/turn\/([^/]+)\/stop$/.exec(url.pathname);
  if (stop?.[1] !== undefined && stop[2] !== undefined) return { kind: "stop", jobId: stop[1], turnId: stop[2] };
  const [, jobId = "", message] = /\/job(?:\/([^/]+)(\/message)?)?$/.exec(url.pathname) ?? [];
  if (url.searchParams.has("step")) return { kind: "lookup", jobId: "" };
  if (method === "GET") return { kind: "poll", jobId };
  return { kind: message ? "message" : "create", jobId };
}

function networkError(phase: Phase, reason: NetworkError["reason"], body = ""): NetworkError {
  return new NetworkError(`simulated ${reason} failure`, { phase, reason, body });
}
