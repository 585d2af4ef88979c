import type { NetworkPorts, ServiceRequest } from "./network.ts";
import { type Answer, errorAnswer, invalidAnswer, type Members, oddRecordAnswer, recordAnswer } from "./record.ts";
import type { Fault, RetryAfter } from "./scenario.ts";

/** What the service knows; `key` is the key or token that came with the request. */
type AnswerPorts = NetworkPorts & { key: string };

/** Lets the service act on a request, unless something rejects it first, and returns the response. */
export function answerTo(request: ServiceRequest, fault: Fault, ports: AnswerPorts): Answer {
  const { timeline, scenario, key } = ports;
  const serverTime = timeline.now + scenario.skewSeconds * 1000;
  switch (fault.kind) {
    case "gateway-error": {
      // A 503 with a Retry-After that can be read says that nothing was done.
      const saysRejected = fault.status === 503 && isWait(fault.retryAfter);
      if (fault.hasActed && !saysRejected) act(request, ports);
      const body = fault.isJson ? { id: "gateway_trace", error: "Bad gateway" } : "<html>Bad gateway</html>";
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
  const members = act(request, ports);
  if (!members) return errorAnswer(404, { id: "not_found", error: "Job not found" }, { kind: "absent" }, serverTime);
  const isCreate = request.kind === "create";
  const headers: Record<string, string> =
    request.holdSeconds > 0 && scenario.holds !== "ignores" ? { "preference-applied": "wait" } : {};
  const answer = answerWith(members, isCreate, fault, ports);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function answerWith(members: Members, isCreate: boolean, fault: Fault, { scenario, key }: AnswerPorts): Answer {
  if (fault.kind === "invalid-body") return invalidAnswer(fault.body, members, scenario.format, isCreate);
  if (fault.kind === "odd-record") return oddRecordAnswer(fault, members, scenario.format, key);
  return recordAnswer(isCreate ? 201 : 200, members, scenario.format);
}

function act(request: ServiceRequest, { service, timeline }: NetworkPorts): Members | undefined {
  if (request.kind === "poll") return service.record(request.jobId);
  if (request.kind === "create") {
    request.actedAt = timeline.now;
    return service.record(service.create());
  }
  if (service.message(request.jobId)) request.actedAt = timeline.now;
  return service.record(request.jobId);
}

/** Returns whether a client may read it as a wait, by whatever clock. */
function isWait(retryAfter: RetryAfter): boolean {
  return retryAfter.kind === "date" || (retryAfter.kind === "text" && /^[1-9]\d*$/.test(retryAfter.text));
}
