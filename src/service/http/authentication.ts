import { createHash, timingSafeEqual } from "node:crypto";
import { HttpException } from "./http-exception.ts";

/** What a client may do. */
export interface Access {
  /** Of the key, unique. */
  name: string;
  /** The projects that it may use. */
  projects: readonly string[];
}

/** Knows who may use the service. */
export interface Authenticator {
  /**
   * Returns what a key gives access to.
   *
   * @throws HttpException 401 if it is missing or not valid
   */
  authenticate(key: string | undefined): Promise<Access>;
  /** Returns what the key of this name gives access to now; `undefined` if it is not valid any more. For sessions. */
  accessOf(name: string): Promise<Access | undefined>;
}

/** Prefixes of the service's other kinds of API keys, which this API does not accept. */
const otherKinds = ["mint_dsc_", "mint_us_"];

/** Returns the `<API_KEY>` of `Authorization: Bearer <API_KEY>`. Specification: "Authentication". */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

export const singleKeyName = "API key";

/** Returns an authenticator that knows one key, whose name is `singleKeyName`. */
export function singleKey(apiKey: string, projects: readonly string[]): Authenticator {
  const access = { name: singleKeyName, projects };
  return {
    authenticate: async (key) => {
      checkKind(key);
      if (!isEqual(key, apiKey)) throw unauthorized("Invalid API key");
      return access;
    },
    accessOf: async (name) => (name === access.name ? access : undefined),
  };
}

/** @throws HttpException 401 if it is missing or a key of another kind */
export function checkKind(key: string | undefined): asserts key is string {
  if (key === undefined || key === "") throw unauthorized("Missing API key");
  if (otherKinds.some((prefix) => key.startsWith(prefix))) throw unauthorized("This endpoint needs an admin API key");
}

/** Returns what is thrown to answer a request without a valid key. */
export function unauthorized(message: string): HttpException {
  return new HttpException(401, message, { "www-authenticate": "Bearer" });
}

/** Compares in constant time, so that the response time does not reveal how much of a key is right. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
