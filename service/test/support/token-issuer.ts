import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export type Claims = Record<string, unknown>;

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

/** Generates a key. It takes long enough to let tests share some. */
export async function createSigningKey(kid: string, alg = "RS256"): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

/** An issuer of tokens on loopback, as GitHub is one for workflows. */
export class TokenIssuer {
  readonly url: string;
  /** The paths of the requests that it got. */
  readonly requests: string[] = [];
  /** The keys that it publishes. */
  published: JWK[];
  /** Answers in place of it, such as an outage. */
  answer: RequestListener | undefined;
  readonly #now: () => number;
  readonly #audience: () => string;
  readonly #key: SigningKey;

  private constructor(url: string, key: SigningKey, audience: () => string, now: () => number) {
    this.url = url;
    this.#key = key;
    this.published = [key.jwk];
    this.#audience = audience;
    this.#now = now;
  }

  /** Starts one, which stops when the test ends. */
  static async start(key: SigningKey, audience: () => string, now: () => number): Promise<TokenIssuer> {
    let issuer: TokenIssuer | undefined;
    const server = createServer((request, response) => {
      issuer?.requests.push(request.url ?? "");
      if (issuer?.answer) return issuer.answer(request, response);
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: issuer?.published }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    issuer = new TokenIssuer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, key, audience, now);
    return issuer;
  }

  /** What GitHub says about a run for a push to `main` of `acme/docs`. */
  claims(changes: Claims = {}): Claims {
    const seconds = Math.floor(this.#now() / 1000);
    return {
      iss: this.url,
      aud: this.#audience(),
      iat: seconds,
      nbf: seconds - 5,
      exp: seconds + 300,
      // Of a repository that was created since July 2026; before, without ids.
      sub: "repo:acme@12/docs@345:ref:refs/heads/main",
      repository: "acme/docs",
      repository_id: "345",
      repository_owner_id: "12",
      ref: "refs/heads/main",
      event_name: "push",
      ...changes,
    };
  }

  /** Issues a token. A claim that is `undefined` is left out. */
  issue(
    changes: Claims = {},
    { kid, privateKey }: Pick<SigningKey, "kid" | "privateKey"> = this.#key,
  ): Promise<string> {
    const alg = privateKey.algorithm.name === "ECDSA" ? "ES256" : "RS256";
    return new SignJWT(this.claims(changes)).setProtectedHeader({ alg, kid, typ: "JWT" }).sign(privateKey);
  }
}
