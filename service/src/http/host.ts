import { HttpException } from "./http-exception.ts";

/** The names and addresses by which this machine reaches itself. */
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a `Host` header has a loopback name or address. */
export function isLoopbackHost(host: string | undefined): boolean {
  return loopback.test(nameIn(host) ?? "");
}

/** Returns the name in a `Host` header, without the port; `undefined` if it is missing or malformed. */
function nameIn(host: string | undefined): string | undefined {
  return /^(\[[\da-f:.]+\]|[^:]+)(:\d+)?$/i.exec(host ?? "")?.[1]?.toLowerCase();
}

/**
 * Returns the error for a request whose `Host` is neither loopback nor the name in the public URL; `undefined` if it is one of
 * them. Without this check, any website could resolve its own name to 127.0.0.1 and read the service's answers in a visitor's
 * browser (DNS rebinding).
 *
 * @param publicUrl - at which a reverse proxy serves the service
 */
export function hostProblem(host: string | undefined, publicUrl: string | undefined): HttpException | undefined {
  const name = nameIn(host);
  if (name === undefined) return new HttpException(400, "The Host header is missing or malformed");
  if (loopback.test(name) || (publicUrl !== undefined && name === new URL(publicUrl).hostname)) return undefined;
  const advice = "If a reverse proxy serves it as that, start it with --public-url";
  return new HttpException(421, `The service is not known as ${name}. ${advice}`);
}
