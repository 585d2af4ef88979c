import { createRedactor } from "../runner-kit/redact.ts";
import type { CallLimits } from "./clock.ts";

/** What authenticates the requests to the service. */
export interface Credentials {
  /** Returns the bearer token for the next request. @throws TokenError if there is none by the deadline */
  token(limits: CallLimits): Promise<string>;
  /** Replaces every token that may still be usable with `***`, in plain text and in encodings; see {@link createRedactor}. */
  redact(text: string): string;
}

/** Returns the credentials of an API key. */
export function keyCredentials(apiKey: string): Credentials {
  return { token: async () => apiKey, redact: createRedactor(apiKey) };
}

/** Returns whether an address is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Returns whether a secret may be sent to an address: with `https`, or with `http` to a loopback host. */
export function isProtectedUrl(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}
