import { createHmac } from "node:crypto";
import { type CryptoKey, exportJWK, exportSPKI, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { openAuthenticator } from "../../../src/access/open-authenticator.ts";
import { parseTrustRule } from "../../../src/access/trust-rule.ts";
import { WorkflowTokens, type WorkflowTokensOptions } from "../../../src/access/workflow-tokens.ts";
import { docsRepository, startAgentService } from "../../support/agent-service.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { type Claims, createSigningKey, TokenIssuer } from "../../support/token-issuer.ts";

const audience = "https://agents.example.com";
const start = Date.UTC(2026, 2, 1);
const seconds = start / 1000;
const [key, nextKey, ecKey] = await Promise.all([
  createSigningKey("one"),
  createSigningKey("two"),
  createSigningKey("three", "ES256"),
]);

/** Starts an issuer, and what verifies its tokens for a rule. */
async function setUp(options: Partial<WorkflowTokensOptions> & { trust?: string[] } = {}) {
  const { trust = ["acme/docs"], ...rest } = options;
  const machine = new FakeMachine(start);
  const log: string[] = [];
  const issuer = await TokenIssuer.start(
    key,
    () => audience,
    () => start,
  );
  const tokens = new WorkflowTokens({
    issuer: issuer.url,
    audience: () => audience,
    rules: trust.map(parseTrustRule),
    projects: ["docs", "site"],
    machine,
    log: (line) => void log.push(line),
    ...rest,
  });
  return { issuer, tokens, machine, log };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const rejection = (message: string) => ({ status: 401, message, headers: { "www-authenticate": "Bearer" } });

test("accepts a token of a trusted repository, with no way to sign in", async () => {
  const { issuer, tokens } = await setUp();
  const token = await issuer.issue();
  expect(await tokens.verify(token)).toEqual({
    name: "repo acme/docs",
    caller: "repo 345",
    projects: ["docs", "site"],
  });
  await tokens.verify(token);
  expect(issuer.requests).toEqual(["/.well-known/jwks"]);
});

test("says once how to trust by ids what is trusted by its name", async () => {
  const { issuer, tokens, log } = await setUp();
  for (let n = 0; n < 2; n++) await tokens.verify(await issuer.issue());
  expect(log).toEqual([
    "--trust acme/docs trusts whoever has this name. To keep out another repository that takes it over, write acme@12/docs@345 in place of acme/docs",
  ]);
  const byIds = await setUp({ trust: ["acme@12/docs@345"] });
  expect(await byIds.tokens.verify(await byIds.issuer.issue())).toMatchObject({ name: "repo acme/docs" });
  expect(byIds.log).toEqual([]);
});

test("rejects a token whose issuer has a key that is too short, with 401", async () => {
  const { issuer, tokens } = await setUp();
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 1024,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const { publicKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  issuer.published = [{ ...(await exportJWK(publicKey)), kid: "one", alg: "RS256", use: "sig" }];
  await expect(tokens.verify(await issuer.issue())).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("The token cannot be verified with the key of its issuer: RS256 requires"),
  });
});

test("does not read keys that are too many, and answers with 503", async () => {
  const { issuer, tokens, log } = await setUp();
  issuer.answer = (_request, response) => void response.end(`{"keys":[${'{"kty":"RSA"},'.repeat(100_000)}{}]}`);
  await expect(tokens.verify(await issuer.issue())).rejects.toMatchObject({ status: 503 });
  expect(log).toEqual([expect.stringContaining("they have more than 1000000 bytes")]);
});

test("gives access to the projects of the rules that match", async () => {
  const { issuer, tokens } = await setUp({ trust: ["site=acme/docs", "docs=acme/docs:refs/heads/x", "docs=acme/x"] });
  expect(await tokens.verify(await issuer.issue())).toMatchObject({ projects: ["site"] });
  const both = await setUp({ trust: ["site=acme/docs", "docs=acme/docs"] });
  expect(await both.tokens.verify(await both.issuer.issue())).toMatchObject({ projects: ["docs", "site"] });
  const all = await setUp({ trust: ["site=acme/docs", "acme/docs:refs/heads/main"] });
  expect(await all.tokens.verify(await all.issuer.issue())).toMatchObject({ projects: ["docs", "site"] });
});

describe("accepts", () => {
  test.each<[string, Claims]>([
    ["one of several audiences", { aud: ["https://other.example", audience] }],
    ["a clock that is a minute late", { iat: seconds + 60, nbf: seconds + 60 }],
    ["a clock that is almost a minute early", { exp: seconds - 59 }],
    ["a customized subject", { sub: "anything" }],
    ["more claims", { environment: "production", runner_environment: "self-hosted" }],
  ])("%s", async (_name, claims) => {
    const { issuer, tokens } = await setUp();
    expect(await tokens.verify(await issuer.issue(claims))).toMatchObject({ name: "repo acme/docs" });
  });
});

describe("rejects", () => {
  const missing = (claim: string) => `The token has no claim "${claim}"`;
  const foreign = (aud: string) => `The token is for the audience "${aud}", and this service is "${audience}"`;
  test.each<[string, Claims, string]>([
    ["another repository", { repository: "evil/docs" }, 'The repository "evil/docs" is not trusted'],
    ["another ref", { ref: "refs/heads/x" }, '"acme/docs" is not trusted on "refs/heads/x" without an environment'],
    ["another audience", { aud: "https://github.com/acme" }, foreign("https://github.com/acme")],
    ["an audience that only begins alike", { aud: `${audience}.evil.example` }, foreign(`${audience}.evil.example`)],
    ["an expired token", { exp: seconds - 60 }, "The token expired at 2026-02-28T23:59:00.000Z"],
    ["one that is not valid yet", { nbf: seconds + 61 }, "The token is not valid yet"],
    ["one of the future", { iat: seconds + 61 }, "The token is not valid yet"],
    [
      "one that is valid for ever",
      { iat: seconds - 3661, exp: seconds + 1e9 },
      "The token was issued more than an hour ago",
    ],
    ["a time that is text", { exp: "tomorrow" }, 'The claim "exp" of the token is not valid'],
    ["a repository that is no text", { repository: ["acme/docs"] }, "The token is not one of a workflow"],
    ["a missing audience", { aud: undefined }, missing("aud")],
    ["a missing end", { exp: undefined }, missing("exp")],
    ["a missing beginning", { nbf: undefined }, missing("nbf")],
    ["a missing time", { iat: undefined }, missing("iat")],
    ["a missing repository", { repository: undefined }, missing("repository")],
    ["a missing ref", { ref: undefined }, missing("ref")],
    ["a missing event", { event_name: undefined }, missing("event_name")],
  ])("%s", async (_name, claims, message) => {
    const { issuer, tokens, log } = await setUp({ trust: ["acme/docs:refs/heads/main"] });
    await expect(tokens.verify(await issuer.issue(claims))).rejects.toMatchObject(rejection(message));
    expect(log).toEqual([]);
  });

  test("another environment", async () => {
    const { issuer, tokens } = await setUp({ trust: ["acme/docs:environment:production"] });
    const message = '"acme/docs" is not trusted on "refs/heads/main" in the environment "staging"';
    await expect(tokens.verify(await issuer.issue({ environment: "staging" }))).rejects.toMatchObject(
      rejection(message),
    );
    expect(await tokens.verify(await issuer.issue({ environment: "production" }))).toBeDefined();
  });

  test("another issuer, without a request", async () => {
    const { issuer, tokens } = await setUp();
    for (const iss of ["https://evil.example", `${issuer.url}/`, undefined]) {
      const said = JSON.stringify(String(iss));
      const message = `The token was issued by ${said}, not by "${issuer.url}"`;
      await expect(tokens.verify(await issuer.issue({ iss }))).rejects.toMatchObject(rejection(message));
    }
    expect(issuer.requests).toEqual([]);
  });

  test("an unknown key, and a known key's name with another key", async () => {
    const { issuer, tokens } = await setUp();
    const unknown = rejection("The token is signed with a key that its issuer does not publish");
    await expect(tokens.verify(await issuer.issue({}, nextKey))).rejects.toMatchObject(unknown);
    const wrong = rejection("The signature of the token is wrong");
    await expect(tokens.verify(await issuer.issue({}, { ...nextKey, kid: "one" }))).rejects.toMatchObject(wrong);
  });

  test("changed claims", async () => {
    const { issuer, tokens } = await setUp({ trust: ["acme/docs:refs/heads/main"] });
    const [header, , signature] = (await issuer.issue({ ref: "refs/heads/x" })).split(".");
    const token = [header, encode(issuer.claims()), signature].join(".");
    await expect(tokens.verify(token)).rejects.toMatchObject(rejection("The signature of the token is wrong"));
  });

  test("no signature, one with the public key as the secret, and other algorithms, whatever the issuer publishes", async () => {
    const { issuer, tokens } = await setUp();
    issuer.published.push(ecKey.jwk);
    const message = "The token is not signed with RS256";
    const text = (alg: string) => `${encode({ alg, kid: "one", typ: "JWT" })}.${encode(issuer.claims())}`;
    await expect(tokens.verify(`${text("none")}.`)).rejects.toMatchObject(rejection(message));
    const secret = await exportSPKI((await importJWK(key.jwk, "RS256")) as CryptoKey);
    const signed = createHmac("sha256", secret).update(text("HS256")).digest("base64url");
    await expect(tokens.verify(`${text("HS256")}.${signed}`)).rejects.toMatchObject(rejection(message));
    await expect(tokens.verify(await issuer.issue({}, ecKey))).rejects.toMatchObject(rejection(message));
  });

  test("a token that does not say with which of several keys it is signed", async () => {
    const { issuer, tokens } = await setUp();
    issuer.published.push(nextKey.jwk);
    const token = await issuer.issue({}, { ...key, kid: undefined as never });
    const message = "The token does not say with which key it is signed";
    await expect(tokens.verify(token)).rejects.toMatchObject(rejection(message));
  });

  test("a token that demands what the service does not know", async () => {
    const { issuer, tokens } = await setUp();
    const header = encode({ alg: "RS256", kid: "one", crit: ["more"], more: 1 });
    const token = `${header}.${encode(issuer.claims())}.c2ln`;
    await expect(tokens.verify(token)).rejects.toMatchObject(rejection("The token is malformed"));
  });

  test("a huge token, and one that is none, without a request", async () => {
    const { issuer, tokens } = await setUp();
    const huge = await issuer.issue({ more: "x".repeat(7000) });
    await expect(tokens.verify(huge)).rejects.toMatchObject(rejection("The token has more than 8192 characters"));
    for (const token of ["eyJ.eyJ.x", `${encode({ alg: "RS256" })}.${encode("text")}.x`, `${encode([])}.e30.`])
      await expect(tokens.verify(token)).rejects.toMatchObject({ status: 401 });
    expect(issuer.requests).toEqual([]);
  });
});

describe("the keys of the issuer", () => {
  test("can be replaced", async () => {
    const { issuer, tokens } = await setUp({ cooldownMs: 0 });
    await tokens.verify(await issuer.issue());
    issuer.published = [nextKey.jwk];
    expect(await tokens.verify(await issuer.issue({}, nextKey))).toBeDefined();
    await expect(tokens.verify(await issuer.issue())).rejects.toMatchObject({ status: 401 });
  });

  test("are not requested again for each token with an unknown key", async () => {
    const { issuer, tokens } = await setUp();
    await tokens.verify(await issuer.issue());
    for (let time = 0; time < 3; time++)
      await expect(tokens.verify(await issuer.issue({}, nextKey))).rejects.toMatchObject({ status: 401 });
    expect(issuer.requests).toHaveLength(1);
  });

  const error = {
    status: 503,
    message: "The service cannot read the keys of the token's issuer now",
    headers: { "retry-after": "10" },
  };

  test.each<[string, TokenIssuer["answer"], string]>([
    ["cannot be reached", (request) => void request.socket.destroy(), "other side closed"],
    ["answers with an error", (_request, response) => void response.writeHead(500).end(), "Expected 200 OK"],
    ["redirects", (_, response) => void response.writeHead(302, { location: "/keys" }).end(), "Expected 200 OK"],
    ["answers with no keys", (_request, response) => void response.end("<html>"), "Unexpected token '<'"],
    ["answers with something else", (_request, response) => void response.end("{}"), "JSON Web Key Set malformed"],
    ["does not answer", () => {}, "timeout"],
  ])("are waited for while it %s, and no token is accepted meanwhile", async (_name, answer, reason) => {
    const { issuer, tokens, log } = await setUp({
      trust: ["acme/docs@345"],
      ...(reason === "timeout" && { timeoutMs: 100 }),
    });
    issuer.answer = answer;
    for (let time = 0; time < 2; time++) await expect(tokens.verify(await issuer.issue())).rejects.toMatchObject(error);
    issuer.answer = undefined;
    // A busy machine may take longer than the short time limit.
    await waitUntil(async () => tokens.verify(await issuer.issue()).catch(() => undefined));
    expect(log).toEqual([
      expect.stringContaining(`The keys of ${issuer.url} cannot be read, so no tokens are accepted: `),
      `The keys of ${issuer.url} can be read again`,
    ]);
    expect(log[0]).toContain(reason);
  });
});

test("a service accepts tokens for the origin of its URL in place of a key, but not to sign in", async () => {
  const origin = "https://example.com";
  const issuer = await TokenIssuer.start(key, () => origin, Date.now);
  const service = await startAgentService(docsRepository(), {
    publicUrl: `${origin}/agents`,
    projects: ["docs", "site"],
    openAuthenticator: (baseUrl) =>
      openAuthenticator({
        apiKey: undefined,
        keys: undefined,
        trust: [parseTrustRule("docs=acme/docs")],
        trustIssuer: issuer.url,
        projects: ["docs", "site"],
        baseUrl,
        log: () => {},
      }),
  });
  await using _running = service;
  const { url } = service;
  const token = await issuer.issue();
  const post = async (path: string, key = token) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: '{"prompt":"Do nothing"}' });
    return { status: response.status, text: await response.text() };
  };
  expect(await post("/v2/agent/docs/job")).toMatchObject({ status: 201 });
  const unknown = { status: 404, text: '{"error":"Project not found"}' };
  expect(await post("/v2/agent/site/job")).toEqual(unknown);
  expect(await post("/v2/agent/unknown/job")).toEqual(unknown);
  expect(await post("/v2/agent/docs/job", await issuer.issue({ aud: "https://github.com/acme" }))).toEqual({
    status: 401,
    text: JSON.stringify({
      error: `The token is for the audience "https://github.com/acme", and this service is "${origin}"`,
    }),
  });
  const forbidden = { status: 403, text: expect.stringContaining("Only a key can sign in, no token of a workflow") };
  expect(await post("/sign-in/link")).toEqual(forbidden);
  const form = await fetch(`${url}/sign-in`, { method: "POST", body: new URLSearchParams({ key: token }) });
  expect({ status: form.status, text: await form.text() }).toEqual(forbidden);
  expect(service.lines.join("\n")).not.toContain(token);
});
