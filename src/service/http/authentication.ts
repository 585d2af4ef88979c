import { createHash, timingSafeEqual } from "node:crypto";

/** Prefixes of the service's other kinds of API keys, which this API does not accept. */
const otherKinds = ["mint_dsc_", "mint_us_"];

/**
 * Checks `Authorization: Bearer <API_KEY>`. Specification: "Authentication".
 *
 * @returns the error to answer with status 401, or `undefined` if the key is valid
 */
export function authenticationError(authorization: string | undefined, apiKey: string): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) return "Missing API key";
  if (otherKinds.some((prefix) => token.startsWith(prefix))) return "This endpoint needs an admin API key";
  return isEqual(token, apiKey) ? undefined : "Invalid API key";
}

/** Compares in constant time, so that the response time does not reveal how much of a key is right. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
