import { createHash, timingSafeEqual } from "node:crypto";
import { HttpException } from "./http-exception.ts";

/** What a client may do. */
export interface Access {
  /** For logs: the unique name of the key, or `repo OWNER/NAME` for a workflow. */
  name: string;
  /** Whose the keys of its requests are, if another client can get its name later. Default: `name`. */
  caller?: string;
  /** The projects that it may use. */
  projects: readonly string[];
  /** Whether it may only read: it creates no jobs, sends no messages, and neither stops nor retries turns. Default: no. */
  isReadOnly?: boolean;
  /**
   * Identifies the key in the session of a browser, see `Authenticator.accessOf`. Two keys never share it, even if they have
   * the same name. Default: the client cannot sign in.
   */
  signInAs?: string;
}

/** Decides who may use the service. */
export interface Authenticator {
  /**
   * Returns the access that a key, or a token in its place, gives.
   *
   * @throws HttpException 401 if it is missing or not valid, 503 if it cannot be verified now
   */
  authenticate(key: string | undefined): Promise<Access>;
  /** Returns the access that `Access.signInAs` gives now; `undefined` if its key is no longer valid. For sessions. */
  accessOf(signInAs: string): Promise<Access | undefined>;
}

/** Prefixes of the service's other kinds of API keys, which this API does not accept. */
const otherKinds = ["mint_dsc_", "mint_us_"];

/** Returns the `<API_KEY>` of `Authorization: Bearer <API_KEY>`. Specification: "Authentication". */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

/** No key in a file can have this name, which contains a space. */
export const singleKeyName = "API key";

/** Returns an authenticator that knows one key, whose name is `singleKeyName`. */
export function singleKey(apiKey: string, projects: readonly string[]): Authenticator {
  const access: Access = { name: singleKeyName, projects, signInAs: signInAs(singleKeyName, hashKey(apiKey)) };
  return {
    authenticate: async (key) => {
      checkKind(key);
      if (isEqual(key, apiKey)) return access;
      throw invalidKey(key);
    },
    accessOf: async (text) => (text === access.signInAs ? access : undefined),
  };
}

/** @throws HttpException 401 if it is missing or a key of another kind */
export function checkKind(key: string | undefined): asserts key is string {
  if (key === undefined || key === "") throw unauthorized("Missing API key");
  if (otherKinds.some((prefix) => key.startsWith(prefix))) throw unauthorized("This endpoint needs an admin API key");
}

/** Whether a text has the form of a JSON Web Token, which begins with the base64url of `{"`. */
export function isToken(text: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text);
}

/** Returns the error for a request without a valid key. */
export function unauthorized(message: string): HttpException {
  return new HttpException(401, message, { "www-authenticate": "Bearer" });
}

/** Returns the error for a request with an unknown key. */
export function invalidKey(key: string): HttpException {
  return unauthorized(isToken(key) ? "This service accepts no tokens of workflows" : "Invalid API key");
}

/** @throws HttpException 403 if a client that may only read sends a request that changes something */
export function requireWrite({ name, isReadOnly }: Access): void {
  if (isReadOnly) throw new HttpException(403, `The API key ${name} can only read (scope "read")`);
}

/** Returns the SHA-256 of a key in hexadecimal. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Returns an `Access.signInAs`: enough of the key's hash to tell two keys apart, and too little to guess the key by. */
export function signInAs(name: string, sha256: string): string {
  return `${name} ${sha256.slice(0, 8)}`;
}

/** Compares in constant time, so that the response time does not reveal how much of a key is right. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashKey(one)), Buffer.from(hashKey(other)));
}
