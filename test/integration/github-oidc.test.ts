import { describe, expect, test } from "vitest";
import { type HttpServer, httpServer } from "../support/http-server.ts";
import { idToken } from "../support/id-token.ts";
import { inputsFor } from "../support/scripted-service.ts";
import { stepHere } from "../support/step-here.ts";

const requestToken = "runner-request-token-0123456789";

/** The runner's token service: issues tokens of `lifetimeSeconds` that name their number. */
const issuer = (lifetimeSeconds = 300) =>
  httpServer((n, _request, response) => {
    response.writeHead(200).end(JSON.stringify({ count: 900, value: idToken({ jti: `token-${n}` }, lifetimeSeconds) }));
  });

const oidcInputs = (service: { url: string }, inputs: Record<string, string> = {}) =>
  inputsFor({ url: service.url }, { "api-key": "", auth: "github-oidc", ...inputs });

const environmentOf = ({ url }: HttpServer) => ({
  ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/runs/7/idtoken?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
});

/** Returns the log without the commands that mask a token, which need it. */
const shownOf = ({ log, summary, outputs }: { log: string; summary: string; outputs: Record<string, string> }) =>
  log.replaceAll(/^::add-mask::.*$/gm, "") + summary + JSON.stringify(outputs);

describe("auth: github-oidc", () => {
  test("says what to do if the service does not trust the run", async () => {
    await using tokens = await issuer();
    await using service = await httpServer((_n, { headers }, response) => {
      response.writeHead(401).end(JSON.stringify({ error: `Not trusted: ${headers.authorization}` }));
    });
    const run = await stepHere(oidcInputs(service), { environment: environmentOf(tokens) });
    expect(run.exitCode).toBe(1);
    expect(run.annotations).toEqual([
      expect.stringMatching(
        /^error No job was started: .*does not trust this workflow run.*Not trusted: Bearer \*\*\*.*--trust/s,
      ),
    ]);
    expect(run.annotations[0]).not.toContain("API key");
    expect(shownOf(run)).not.toContain(idToken({ jti: "token-1" }, 300));
  });

  test("does not follow a redirect with a token", async () => {
    await using tokens = await issuer();
    await using other = await httpServer((_n, _request, response) => response.writeHead(500).end());
    await using service = await httpServer((_n, _request, response) =>
      response.writeHead(307, { location: `${other.url}/v2/agent/docs/job` }).end(),
    );
    const run = await stepHere(oidcInputs(service), { environment: environmentOf(tokens) });
    expect(run.annotations).toEqual([expect.stringMatching(/Redirects are not followed.*the token to another/s)]);
    expect(other.requests).toEqual([]);
  });

  test("starts no job without a token", async () => {
    await using tokens = await httpServer((_n, _request, response) => response.writeHead(403).end("no"));
    await using service = await httpServer((_n, _request, response) => response.writeHead(500).end());
    const run = await stepHere(oidcInputs(service), { environment: environmentOf(tokens) });
    expect(run.exitCode).toBe(1);
    expect(run.annotations).toEqual([
      expect.stringMatching(
        /^error No job was started: GitHub issued no OIDC token \(HTTP 403\)\. No job was started\..*id-token: write/s,
      ),
    ]);
    expect(tokens.requests).toHaveLength(1);
    expect(service.requests).toEqual([]);
  });

  test("needs the permission to request tokens", async () => {
    const run = await stepHere(oidcInputs({ url: "http://127.0.0.1:1" }));
    expect(run.annotations).toEqual([
      expect.stringMatching(
        /^error Invalid inputs: .*auth is github-oidc, .*permissions: \{ contents: read, id-token: write \}/s,
      ),
    ]);
  });
});
