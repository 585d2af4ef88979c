import type { HttpResponse, Transport } from "../../src/runner-kit/transport.ts";
import { NetworkError } from "../../src/runner-kit/transport.ts";
import { epoch } from "../support/fake-clock.ts";
import type { SimulatedProcess } from "./process.ts";
import type { TokenExchange } from "./scenario.ts";
import { order, type Timeline } from "./timeline.ts";

/** One request for an OIDC token. Times of the timeline. */
export interface TokenRequest {
  sentAt: number;
  /** When it was answered, or given up. */
  settledAt?: number;
  /** Answered with a token within a second. */
  isSmooth: boolean;
}

export interface TokenPorts {
  timeline: Timeline;
  process: SimulatedProcess;
  /** Every request is added to it. */
  requests: TokenRequest[];
  /** Returns the fate of a request. */
  exchange: (index: number) => TokenExchange;
  /** Every token ends with it, so that a leak shows. */
  secret: string;
}

/** Creates the transport to the simulated service that issues OIDC tokens, for a few minutes or less. */
export function simulatedTokens({ timeline, process, requests, exchange, secret }: TokenPorts): Transport {
  return (request) =>
    new Promise<HttpResponse>((resolve, reject) => {
      const index = requests.length;
      const { fault, ms, lifetimeSeconds } = exchange(index);
      const entry: TokenRequest = { sentAt: timeline.now, isSmooth: fault === "none" && ms < 800 };
      requests.push(entry);
      const settle = (end: () => void): void => {
        if (entry.settledAt !== undefined) return;
        entry.settledAt = timeline.now;
        end();
      };
      const fail = (reason: NetworkError["reason"]) => () =>
        settle(() => reject(new NetworkError(`simulated ${reason} failure`, { phase: "waiting", reason })));
      const respond = (status: number, body: unknown) => (): void =>
        settle(() => resolve({ status, headers: {}, body: JSON.stringify(body) }));
      const seconds = Math.floor((epoch + timeline.now) / 1000);
      const payload = JSON.stringify({ iat: seconds, exp: seconds + lifetimeSeconds, jti: index });
      const token = `header.${Buffer.from(payload).toString("base64url")}.signature-${index}-${secret}`;
      const ends = {
        none: respond(200, { value: token }),
        unavailable: respond(503, {}),
        forbidden: respond(403, {}),
        garbage: respond(200, { value: `${token}\n${token}` }),
        lost: fail("network"),
      };
      process.after(ms, order.read, ends[fault]);
      process.after(request.timeoutMs, order.timerAfterReads, fail("timeout"));
      if (request.signal.aborted) fail("aborted")();
      request.signal.addEventListener("abort", fail("aborted"), { once: true });
    });
}
