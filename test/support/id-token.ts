const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** When GitHub issued the tokens of tests, in seconds since 1970: not the time of any clock. */
const issuedAt = 1_700_000_000;

/**
 * Returns an OIDC token as GitHub issues it, but with a signature that is none.
 *
 * @param claims - its claims besides those that all tokens of a run have
 */
export function idToken(claims: Record<string, unknown> = {}, lifetimeSeconds = 300): string {
  const payload = {
    sub: "repo:acme/docs:ref:refs/heads/main",
    repository: "acme/docs",
    iss: "https://token.actions.githubusercontent.com",
    nbf: issuedAt - 300,
    iat: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    ...claims,
  };
  const signature = Buffer.from(`signature of ${JSON.stringify(claims)}`.repeat(5)).toString("base64url");
  return `${encoded({ typ: "JWT", alg: "RS256", kid: "key-1" })}.${encoded(payload)}.${signature}`;
}
