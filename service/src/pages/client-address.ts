import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";

/** Addresses of this machine and of private networks, from which a reverse proxy connects. */
const isNear = /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd]/i;

/**
 * Returns a name for the sender of a request: their address, or the network of it for IPv6, in which one person has many.
 * Behind a reverse proxy, it is the last one in `X-Forwarded-For`, which the proxy itself added. A proxy that adds none stands
 * for everybody.
 */
export function clientOf({ socket, headers }: IncomingMessage): string {
  const { remoteAddress = "" } = socket;
  const forwarded = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  const address = forwarded && isNear.test(remoteAddress) ? forwarded : remoteAddress;
  return isIPv6(address) && !address.startsWith("::ffff:") ? networkOf(address) : address.slice(0, 64);
}

/** Returns the first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const [first, last] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const missing = Math.max(0, 8 - (first?.length ?? 0) - (last?.length ?? 0));
  const groups = [...(first ?? []), ...Array<string>(tail === undefined ? 0 : missing).fill("0"), ...(last ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
