import type { IncomingMessage } from "node:http";
import { HttpException } from "../http/http-exception.ts";
import type { RequestKey } from "../model.ts";

/** The most characters of a key. Those of the action have 129. */
const maxLength = 256;

/**
 * Returns the key of a request: `Idempotency-Key: "STEP.REQUEST"`, or `"REQUEST"`, which has no step. `undefined` without the
 * header. IETF HTTPAPI: "The Idempotency-Key HTTP Header Field". RFC 9651: "Strings".
 *
 * @param caller - who has sent the request
 * @throws HttpException 400 if it is malformed or too long, or there are several
 */
export function requestKey({ headers }: IncomingMessage, caller: string): RequestKey | undefined {
  const header = headers["idempotency-key"];
  if (header === undefined) return undefined;
  const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(String(header))?.[1];
  const key = quoted?.replaceAll(/\\(.)/g, "$1");
  const [, step = "", request] = /^(?:([^.]+)\.)?(.+)$/.exec(key ?? "") ?? [];
  if (key === undefined || request === undefined)
    throw new HttpException(400, 'Idempotency-Key must be a string in double quotes: "STEP.REQUEST"');
  if (key.length > maxLength) throw new HttpException(400, `Idempotency-Key must have at most ${maxLength} characters`);
  return { caller, step, request };
}

/**
 * Returns the step that a query asks for.
 *
 * @throws HttpException 400 if there is none, or no key can have it
 */
export function stepIn(query: URLSearchParams): string {
  const [step, ...others] = query.getAll("step");
  if (step === undefined || others.length > 0 || !/^[ -~]+$/.test(step) || step.includes("."))
    throw new HttpException(400, "step must be given once: what a key has before its first full stop");
  if (step.length > maxLength) throw new HttpException(400, `step must have at most ${maxLength} characters`);
  return step;
}

/** Returns whether a create can name a session so: a trailer of a commit must be able to tell it. */
export function isSession(session: unknown): session is string {
  return typeof session === "string" && /^[\w-]{1,128}$/.test(session);
}

/**
 * Returns the session that a query asks for; `undefined` if it asks for none.
 *
 * @throws HttpException 400 if there are several, or no create can have named it
 */
export function sessionIn(query: URLSearchParams): string | undefined {
  const [session, ...others] = query.getAll("session");
  if (session !== undefined && (others.length > 0 || !isSession(session)))
    throw new HttpException(400, "session must be given at most once: what a create named");
  return session;
}
