/** Returns whether the service is Mintlify, which has a dashboard. Nothing is known about the service at another address. */
export function isMintlify(baseUrl: URL): boolean {
  return baseUrl.hostname === "api.mintlify.com";
}
