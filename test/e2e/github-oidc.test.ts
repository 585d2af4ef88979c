import { describe, expect, test } from "vitest";
import { type HttpServer, httpServer } from "../support/http-server.ts";
import { idToken } from "../support/id-token.ts";
import { inputsFor } from "../support/scripted-service.ts";
import { step } from "../support/step.ts";

const requestToken = "runner-request-token-0123456789";
const completed = { id: "job_1", status: "completed", prLink: "https://github.com/acme/docs/pull/7" };

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
  test("sends a token for the service's origin instead of a key, and never shows it", async () => {
    await using tokens = await issuer();
    await using service = await httpServer((_n, { method, headers }, response) => {
      const echo = { model: headers.authorization, source: { ref: headers.authorization?.replace("Bearer ", "") } };
      response.writeHead(method === "POST" ? 201 : 200);
      response.end(JSON.stringify({ ...completed, ...(method === "POST" && { status: "active" }), ...echo }));
    });
    const run = await step(oidcInputs({ url: `${service.url}/prefix/` }), { environment: environmentOf(tokens) });
    expect([run.exitCode, run.outputs.outcome]).toEqual([0, "pr-created"]);

    expect(tokens.requests).toHaveLength(1);
    const { pathname, searchParams } = new URL(tokens.requests[0]?.url ?? "", tokens.url);
    expect(pathname).toBe("/runs/7/idtoken");
    expect([...searchParams]).toEqual([
      ["api-version", "2.0"],
      ["audience", service.url],
    ]);
    expect(tokens.requests[0]?.headers.authorization).toBe(`Bearer ${requestToken}`);
    const token = idToken({ jti: "token-1" }, 300);
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${token}`,
      `Bearer ${token}`,
      `Bearer ${token}`,
    ]);
    expect(run.log).toContain(`::add-mask::${token}`);
    expect(run.log.indexOf(`::add-mask::${token}`)).toBeLessThan(run.log.indexOf("Created job"));
    expect(run.outputs).toMatchObject({ model: "Bearer ***", ref: "***" });
    for (const secret of [token, token.split(".")[2] ?? "", requestToken]) expect(shownOf(run)).not.toContain(secret);
  });
});
