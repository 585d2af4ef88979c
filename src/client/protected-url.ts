const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns whether a secret may be sent to an address: with `https`, or with `http` to a loopback host. */
export function isProtectedUrl({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && loopbackHost.test(hostname));
}
