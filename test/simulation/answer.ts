import type { IdempotencyKey } from "../../src/client/contract.ts";
import type { NetworkPorts, ServiceRequest } from "./network.ts";
import { type Answer, errorAnswer, invalidAnswer, type Members, oddRecordAnswer, recordAnswer } from "./record.ts";
import type { Fault, RetryAfter } from "./scenario.ts";

/** What the service knows. */
type AnswerPorts = NetworkPorts & {
  /** The API key or token that came with the request. */
  secret: string;
  /** The idempotency key that the action sent. */
  key: IdempotencyKey | undefined;
  /** The step that a lookup asks for. */
  step: string;
  /** Whether a machine of an older version answers, which knows no keys, and cannot start anything. */
  isOldMachine: boolean;
};

const absent: RetryAfter = { kind: "absent" };

/** Lets the service act on a request, unless something rejects it first, and returns the response. */
export function answerTo(request: ServiceRequest, fault: Fault, ports: AnswerPorts): Answer {
  const { timeline, scenario, secret } = ports;
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
      const headers = fault.status < 400 ? { location: `https://elsewhere.example/?${secret}` } : undefined;
      const body = fault.isJson
        ? { id: "error_1", error: `${fault.text} ${secret}` }
        : `<html>${fault.text} ${secret}</html>`;
      return errorAnswer(fault.status, body, fault.retryAfter, serverTime, headers);
    }
  }
  const notFound = (): Answer => errorAnswer(404, { id: "not_found", error: "Not found" }, absent, serverTime);
  if (request.kind === "lookup") {
    const answer = lookupAnswer(fault, ports);
    return answer ?? notFound();
  }
  if (request.kind === "stop") return stopAnswer(request, ports) ?? notFound();
  if (request.kind !== "poll" && ports.isOldMachine) {
    return errorAnswer(500, { id: "internal", error: "Internal error" }, absent, serverTime);
  }
  const members = act(request, ports);
  if (members === "reused") return errorAnswer(422, { id: "reused", error: "Key reused" }, absent, serverTime);
  if (!members) return notFound();
  const isCreate = request.kind === "create";
  const headers: Record<string, string> = {
    ...(request.holdSeconds > 0 && scenario.holds !== "ignores" && { "preference-applied": "wait" }),
    ...(request.isReplay && { "idempotent-replayed": "true" }),
  };
  const answer = answerWith(members, isCreate, fault, ports);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function stopAnswer(
  { jobId, turnId = "" }: ServiceRequest,
  { service, isOldMachine }: AnswerPorts,
): Answer | undefined {
  const status = isOldMachine ? undefined : service.stop(jobId, turnId);
  if (status === undefined) return undefined;
  const isOver = status !== "running" && status !== "waiting";
  return { status: isOver ? 200 : 202, headers: {}, body: JSON.stringify({ status }), waitMs: () => undefined };
}

/** Answers the question what was sent under a step; `undefined` if the service does not know it. */
function lookupAnswer(fault: Fault, { scenario, service, step, key, isOldMachine }: AnswerPorts): Answer | undefined {
  const isAnnounced = ["announces", "stripped", "fleet"].includes(scenario.service) && !isOldMachine;
  if (!isAnnounced) return undefined;
  const plain = { status: 200, headers: {}, waitMs: () => undefined };
  if (fault.kind === "invalid-body") {
    return {
      ...plain,
      body: fault.body === "array" ? "[]" : fault.body === "empty" ? "" : "<html>Please sign in</html>",
    };
  }
  const arrives = scenario.service !== "stripped" && key !== undefined;
  const oddity = fault.kind === "odd-record" && fault.oddity === "unknown-status" ? { status: fault.text } : {};
  const turns = service.turnsOf(step).map((turn) => ({ ...turn, ...oddity }));
  const body = {
    step,
    key: arrives ? `${key.step}.${key.request}` : null,
    features: ["base", "stop"],
    turns,
  };
  return { ...plain, body: JSON.stringify(body), announces: arrives, turns };
}

function answerWith(members: Members, isCreate: boolean, fault: Fault, { scenario, secret }: AnswerPorts): Answer {
  if (fault.kind === "invalid-body") return invalidAnswer(fault.body, members, scenario.format, isCreate);
  if (fault.kind === "odd-record") return oddRecordAnswer(fault, members, scenario.format, secret);
  return recordAnswer(isCreate ? 201 : 200, members, scenario.format);
}

function act(request: ServiceRequest, ports: AnswerPorts): Members | "reused" | undefined {
  const { service, timeline, scenario, isOldMachine } = ports;
  if (request.kind === "lookup" || request.kind === "stop") return undefined;
  if (request.kind === "poll") return service.record(request.jobId);
  if (isOldMachine) return undefined;
  const key = ["announces", "fleet"].includes(scenario.service) ? ports.key : undefined;
  const accepted = request.kind === "create" ? service.create(key) : service.message(request.jobId, key);
  if (accepted === undefined || accepted === "reused") return accepted;
  request.turn = accepted.turn;
  if (accepted.isReplay) request.isReplay = true;
  else request.actedAt = timeline.now;
  return service.record(accepted.turn.jobId);
}

/** Returns whether a client may read it as a wait, by whatever clock. */
function isWait(retryAfter: RetryAfter): boolean {
  return retryAfter.kind === "date" || (retryAfter.kind === "text" && /^[1-9]\d*$/.test(retryAfter.text));
}
