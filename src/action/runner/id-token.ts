import type { CallLimits, Clock } from "../../client/clock.ts";
import { isObject, parseBody } from "../../client/contract.ts";
import { type Credentials, isProtectedUrl } from "../../client/credentials.ts";
import { messageOf, TokenError } from "../../client/errors.ts";
import { backoffMs } from "../../client/retry.ts";
import { createTracer, type TraceListener, traceTransport } from "../../client/trace.ts";
import { createRedactor } from "../../runner-kit/redact.ts";
import { type HttpRequest, type HttpResponse, isSuccess, type Transport } from "../../runner-kit/transport.ts";

/** The timeout of one request for a token, in milliseconds, unless less time is left. */
const requestTimeoutMs = 10_000;
const maxTries = 3;
/** A token is renewed when it is valid for less than this, in milliseconds. */
const renewalMs = 60_000;
/** If it cannot be renewed, it is used while it is valid for longer than this, in milliseconds. */
const minValidMs = 10_000;
/** How long a token is assumed to be valid if it does not say so in a readable way, in milliseconds. */
const defaultLifetimeMs = 300_000;
/** In characters. A token is useless without the end of its signature, and a pattern for a whole token is slow or too large. */
const redactedEndLength = 512;
/** At least as many of the last tokens are redacted; older ones until they expire. */
const minRedacted = 3;
/** In characters. Servers accept headers of 8 KiB and more. */
const maxTokenLength = 8000;

export interface IdTokenPorts {
  environment: NodeJS.ProcessEnv;
  clock: Clock;
  random: () => number;
  connect: (protocol: string) => Transport;
  /** Called with every token before it is used. */
  mask: (token: string) => void;
  onTrace: TraceListener;
}

interface IdToken {
  value: string;
  /** Monotonic time and wall-clock time at which it expires. */
  expiresAt: number;
  expiresAtWallTime: number;
  redact: (text: string) => string;
}

/** Returns OIDC tokens for an origin. GitHub: "OpenID Connect reference". `getIDToken` of `@actions/core` has no timeout. */
export function connectIdTokens(audience: string, ports: IdTokenPorts): Credentials {
  const { clock, mask } = ports;
  /** The newest first. */
  let issued: readonly IdToken[] = [];

  /** In milliseconds. The monotonic clock may stand still while a virtual machine is suspended; the other may be set. */
  const validForMs = ({ expiresAt, expiresAtWallTime }: IdToken): number =>
    Math.min(expiresAt - clock.now(), expiresAtWallTime - clock.wallTime());

  return {
    async token(limits) {
      const [current] = issued;
      if (current && validForMs(current) >= renewalMs) return current.value;
      try {
        const value = await requestToken(audience, limits, ports);
        mask(value);
        const lifetimeMs = lifetimeOf(value, clock.wallTime());
        const token = {
          value,
          expiresAt: clock.now() + lifetimeMs,
          expiresAtWallTime: clock.wallTime() + lifetimeMs,
          redact: createTokenRedactor(value),
        };
        issued = [token, ...issued].filter((each, index) => index < minRedacted || validForMs(each) > 0);
      } catch (error) {
        if (!(error instanceof TokenError) || !current || validForMs(current) < minValidMs) throw error;
      }
      // If the process was paused meanwhile, no response could arrive in time.
      if (clock.now() > limits.deadline) throw new TokenError("it came too late", true);
      return issued[0]?.value ?? "";
    },
    redact: (text) => issued.reduce((redacted, { redact }) => redact(redacted), text),
  };
}

/** Returns a function that replaces a token with `***`, and in its encodings the part without which it is useless. */
function createTokenRedactor(token: string): (text: string) => string {
  const redactEnd = createRedactor((token.split(".").at(-1) ?? token).slice(-redactedEndLength));
  return (text) => redactEnd(text.replaceAll(token, "***"));
}

/** Requests a token, a few times if that fails for a passing reason. @throws TokenError */
async function requestToken(audience: string, limits: CallLimits, ports: IdTokenPorts): Promise<string> {
  const { clock, random, environment } = ports;
  const url = URL.parse(environment.ACTIONS_ID_TOKEN_REQUEST_URL ?? "");
  if (!url || !isProtectedUrl(url)) throw new TokenError("the runner's address for it is not an https URL", false);
  url.searchParams.set("audience", audience);
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    authorization: `Bearer ${environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN ?? ""}`,
    "user-agent": "agent-job-action",
  };
  for (let attempt = 0; ; attempt++) {
    try {
      const timeoutMs = Math.min(requestTimeoutMs, limits.deadline - clock.now());
      if (timeoutMs <= 0) throw new TokenError("no time was left to request it", true);
      const request = { method: "GET", url, headers, timeoutMs, signal: limits.signal } as const;
      return tokenOf(await send(request, ports));
    } catch (error) {
      const isOver = attempt + 1 >= maxTries || limits.signal.aborted || clock.now() >= limits.deadline;
      if (!(error instanceof TokenError) || !error.isTransient || isOver) throw error;
      const delayMs = Math.min(backoffMs(attempt, random()), limits.deadline - clock.now());
      await clock.sleep(delayMs, limits.signal);
    }
  }
}

/** Sends one request for a token. @throws TokenError */
async function send(request: HttpRequest, { connect, clock, onTrace }: IdTokenPorts): Promise<HttpResponse> {
  try {
    // The path and the errors of these requests contain no secret.
    const transport = traceTransport(
      connect(request.url.protocol),
      () => clock.now(),
      createTracer(onTrace, asWritten),
    );
    return await transport(request);
  } catch (error) {
    throw new TokenError(messageOf(error), true);
  }
}

/** Returns the token in a response. @throws TokenError if there is none */
function tokenOf({ status, body }: HttpResponse): string {
  if (!isSuccess(status)) throw new TokenError(`HTTP ${status}`, status === 408 || status === 429 || status >= 500);
  const { value } = parseObject(body);
  if (typeof value !== "string" || value.length > maxTokenLength || !/^[\x21-\x7e]{8,}$/.test(value))
    throw new TokenError("the response has no usable token", true);
  return value;
}

/** Returns milliseconds, from `iat` to `exp`: the clocks of runner and GitHub may differ. The service checks the rest. */
function lifetimeOf(token: string, wallTimeMs: number): number {
  const { iat, exp } = parseObject(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  if (typeof exp !== "number") return defaultLifetimeMs;
  return (exp - (typeof iat === "number" ? iat : wallTimeMs / 1000)) * 1000;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value = parseBody(text, asWritten);
  return isObject(value) ? value : {};
}

function asWritten(text: string): string {
  return text;
}
