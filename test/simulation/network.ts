import { NetworkError, type Phase } from "../../src/client/errors.ts";
import type { HttpResponse, Transport } from "../../src/client/transport.ts";
import type { SimulatedProcess } from "./process.ts";
import { type Answer, errorAnswer, invalidAnswer, type JobRecord, oddRecordAnswer, recordAnswer } from "./record.ts";
import type { Exchange, Fault, Kill, Scenario } from "./scenario.ts";
import type { SimulatedService } from "./service.ts";
import { order, type Timeline } from "./timeline.ts";

/** What the action received for a request. */
export type Received = { at: number } & (
  | { kind: "failure"; phase: Phase; reason: NetworkError["reason"] }
  | { kind: "response"; status: number; waitMs: number | undefined; record: JobRecord | undefined }
);

/** One request of the action to the service, and what really became of it. Times of the timeline. */
export interface ServiceRequest {
  sentAt: number;
  kind: "create" | "message" | "poll";
  /** The job in its address; empty for a create. */
  jobId: string;
  graceMs: number;
  /** When the service started a job or accepted a message, if it did. */
  actedAt?: number;
  /** Without a fault, and answered within a second. */
  isSmooth: boolean;
  received?: Received;
  /** The id of the job, if it was in what arrived of a 2xx response to a create. */
  arrivedId?: string;
}

export interface NetworkPorts {
  timeline: Timeline;
  process: SimulatedProcess;
  service: SimulatedService;
  scenario: Scenario;
  key: string;
  /** Every request is added to it. */
  requests: ServiceRequest[];
  /** Returns what happens to a request. */
  exchange: (index: number) => Exchange;
  onMoment: (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => void;
}

/** A response that is not 2xx is returned without the rest of its body after this time, as by the real transport. */
const errorBodyTimeoutMs = 2000;

/**
 * Creates the transport to the simulated service. It keeps the contract of the real transport: a request that was not
 * connected was not sent; an abort leaves `graceMs` to a request that was; what has arrived is read before a timer
 * counts; and an error needs no body.
 */
export function simulatedTransport(ports: NetworkPorts): Transport {
  const { timeline, process, service, scenario, key, requests, onMoment } = ports;

  return (request) =>
    new Promise<HttpResponse>((resolve, reject) => {
      if (request.signal.aborted) {
        reject(networkError("connecting", "aborted"));
        return;
      }
      const index = requests.length;
      const { fault, connectMs, requestMs, responseMs, bodyMs, part } = ports.exchange(index);
      const target = targetOf(request.method, request.url.pathname);
      const isSmooth = fault.kind === "none" && connectMs + requestMs + responseMs + bodyMs < 800;
      const entry: ServiceRequest = {
        ...target,
        sentAt: timeline.now,
        graceMs: request.graceMs ?? 0,
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
      const succeed = ({ status, headers, body, record, waitMs }: Answer): void => {
        const wait = waitMs(process.clock.wallTime());
        settle({ kind: "response", at: timeline.now, status, waitMs: wait, record });
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
        const response = answerTo(fault, entry);
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
        else timeline.at(timeline.now + requestMs, order.read, onArrival);
        onMoment(index, "sent");
      });
    });

  /** Acts on a request, unless something rejects it, and returns the response. */
  function answerTo(fault: Fault, entry: ServiceRequest): Answer {
    const serverTime = timeline.now + scenario.skewSeconds * 1000;
    switch (fault.kind) {
      case "gateway-error": {
        // A 503 with a Retry-After that can be read says that nothing was done.
        const maySayRejected = fault.status === 503 && isWait(fault.retryAfter);
        if (fault.hasActed && !maySayRejected) act(entry);
        const body =
          entry.sentAt % 2 === 0 ? { id: "gateway_trace", error: "Bad gateway" } : "<html>Bad gateway</html>";
        return errorAnswer(fault.status, body, fault.retryAfter, serverTime);
      }
      case "throttled":
        return errorAnswer(fault.status, { id: "slow_down", error: "Slow down" }, fault.retryAfter, serverTime);
      case "http-error": {
        const headers = fault.status < 400 ? { location: `https://elsewhere.example/?${key}` } : undefined;
        const body = { id: "error_1", error: `${fault.text} ${key}` };
        return errorAnswer(fault.status, body, fault.retryAfter, serverTime, headers);
      }
    }
    const members = act(entry);
    if (!members) return errorAnswer(404, { id: "not_found", error: "Job not found" }, { kind: "absent" }, serverTime);
    if (fault.kind === "invalid-body") {
      return invalidAnswer(fault.body, members, scenario.format, entry.kind === "create");
    }
    if (fault.kind === "odd-record") return oddRecordAnswer(fault, members, scenario.format, key);
    return recordAnswer(entry.kind === "create" ? 201 : 200, members, scenario.format);
  }

  function act(entry: ServiceRequest) {
    if (entry.kind === "poll") return service.record(entry.jobId);
    if (entry.kind === "create" || service.message(entry.jobId)) entry.actedAt = timeline.now;
    return service.record(entry.kind === "create" ? service.create() : entry.jobId);
  }
}

function isWait(retryAfter: Extract<Fault, { kind: "gateway-error" }>["retryAfter"]): boolean {
  return retryAfter.kind === "date" || (retryAfter.kind === "text" && /^[1-9]\d*$/.test(retryAfter.text));
}

function targetOf(method: string, path: string): Pick<ServiceRequest, "kind" | "jobId"> {
  const [, jobId = "", message] = /\/job(?:\/([^/]+)(\/message)?)?$/.exec(path) ?? [];
  if (method === "GET") return { kind: "poll", jobId };
  return { kind: message ? "message" : "create", jobId };
}

function networkError(phase: Phase, reason: NetworkError["reason"], body = ""): NetworkError {
  return new NetworkError(`simulated ${reason} failure`, { phase, reason, body });
}
