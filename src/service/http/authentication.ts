import { createHash, timingSafeEqual } from "node:crypto";

/** An API key that the service issued. */
export interface ApiKey {
  value: string;
  /** The projects it opens. */
  projects: readonly string[];
  /** Milliseconds since 1970; without it the key never expires. */
  expiresAt?: number;
  /** Addresses it may be used from; without them, any. */
  addresses?: readonly string[];
}

/** Whether a request may go on, or the status and words to refuse it with. */
export type Access = { granted: ApiKey } | { refused: { status: 401 | 403; error: string } };

/** Keys of other kinds begin with these, and are refused here. */
const otherKinds = ["mint_dsc_", "mint_us_"];

/** Checks `Authorization: Bearer <API_KEY>`. Specification: "Authentication". */
export function checkAccess(
  keys: readonly ApiKey[],
  request: { authorization: string | undefined; address: string | undefined; now: number },
): Access {
  const token = /^Bearer +(\S+)$/i.exec(request.authorization ?? "")?.[1];
  if (token === undefined) return refuse(401, "Missing API key");
  if (otherKinds.some((prefix) => token.startsWith(prefix))) return refuse(401, "This endpoint needs an admin API key");
  const key = keys.find(({ value }) => isSame(value, token));
  if (!key) return refuse(401, "Invalid API key");
  if (key.expiresAt !== undefined && key.expiresAt <= request.now) return refuse(401, "Expired API key");
  if (key.addresses && !key.addresses.includes(request.address ?? "")) {
    return refuse(403, "This API key is restricted to other IP addresses");
  }
  return { granted: key };
}

function refuse(status: 401 | 403, error: string): Access {
  return { refused: { status, error } };
}

/** In a time that tells nothing of the key. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
