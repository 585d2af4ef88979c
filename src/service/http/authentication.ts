import { createHash, timingSafeEqual } from "node:crypto";

/** Prefixes of the service's other kinds of API keys, which this API does not accept. */
const otherKinds = ["mint_dsc_", "mint_us_"];

/**
 * Checks `Authorization: Bearer <API_KEY>`. Specification: "Authentication".
 *
 * @returns the error to answer with status 401, or `undefined` if the key is valid
 */
export function authenticationError(authorization: string | undefined, apiKey: string): string | undefined {
  return keyError(/^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1], apiKey);
}

/** Returns why a key is not accepted, or `undefined` if it is the API key. */
export function keyError(key: string | undefined, apiKey: string): string | undefined {
  if (key === undefined || key === "") return "Missing API key";
  if (otherKinds.some((prefix) => key.startsWith(prefix))) return "This endpoint needs an admin API key";
  return isEqual(key, apiKey) ? undefined : "Invalid API key";
}

/** Compares in constant time, so that the response time does not reveal how much of a key is right. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
