import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { connectIdTokens } from "../../../src/action/runner/id-token.ts";
import { NetworkError } from "../../../src/runner-kit/transport.ts";
import { FakeCache } from "../../support/fake-cache.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { type Exchange, fakeTransport, type SeenRequest } from "../../support/fake-transport.ts";
import { idToken } from "../../support/id-token.ts";
import { type MainOptions, type MainRun, prLink, record, respondWith, runMain } from "../../support/run-main.ts";

const requestToken = "runner-request-token-0123456789";
const environment = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://tokens.example/idtoken?api-version=2.0",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
};
const inputs = { "api-key": "", auth: "github-oidc", "base-url": "https://agents.example" };
const completed = record({ status: "completed", prLink });

const numbered = (n: number, lifetimeSeconds?: number) => idToken({ jti: `token-${n}` }, lifetimeSeconds);
const issues = (token: unknown): Exchange => respondWith(200, { value: token });
const isForToken = ({ path }: SeenRequest) => path === "/idtoken";
/** Returns a text in which nothing is repeated. */
const text = (length: number) =>
  Array.from({ length: Math.ceil(length / 64) }, (_, index) => createHash("sha256").update(`${index}`).digest("hex"))
    .join("")
    .slice(0, length);
const bearerOf = ({ headers }: SeenRequest) => headers.authorization?.replace("Bearer ", "") ?? "";

interface OidcRun extends MainRun {
  /** The requests for tokens, and those to the service. */
  tokenRequests: SeenRequest[];
  jobRequests: SeenRequest[];
}

/** @param issue - answers the n-th request for a token, counted from 1 */
async function run(
  issue: (n: number, request: SeenRequest) => Exchange,
  respond: (request: SeenRequest) => Exchange,
  options: Partial<MainOptions> = {},
): Promise<OidcRun> {
  let n = 0;
  const result = await runMain({
    ...options,
    environment: { ...environment, ...options.environment },
    inputs: { ...inputs, ...options.inputs },
    respond: (request) => (isForToken(request) ? issue(++n, request) : respond(request)),
  });
  return {
    ...result,
    tokenRequests: result.requests.filter(isForToken),
    jobRequests: result.requests.filter((request) => !isForToken(request)),
  };
}

/** A service whose job ends at a time, in milliseconds since the start. */
const jobUntil =
  (endsAt: number) =>
  ({ method, at }: SeenRequest): Exchange =>
    method === "POST" ? respondWith(201, record()) : respondWith(200, at >= endsAt ? completed : record());

describe("a token", () => {
  test("is requested once for a short job, masked before it is used, and sent with every request", async () => {
    const { toolkit, tokenRequests, jobRequests, outputs } = await run(() => issues(numbered(1)), jobUntil(60_000));
    expect(outputs.outcome).toBe("pr-created");
    expect(tokenRequests).toMatchObject([
      { at: 0, method: "GET", timeoutMs: 10_000, headers: { authorization: `Bearer ${requestToken}` } },
    ]);
    expect(new Set(jobRequests.map(bearerOf))).toEqual(new Set([numbered(1)]));
    expect(toolkit.masks).toEqual([numbered(1)]);
    expect(toolkit.events.indexOf("mask")).toBeLessThan(toolkit.events.indexOf("Created job job_1"));
    expect(toolkit.events).toContain("debug GET /idtoken: 200 (0 ms)");
  });

  test("is renewed in a long wait before it expires", async () => {
    const issuedAt = new Map<string, number>();
    const { outputs, toolkit, jobRequests, tokenRequests } = await run((n, { at }) => {
      issuedAt.set(numbered(n), at);
      return issues(numbered(n));
    }, jobUntil(3_000_000));
    expect(outputs.outcome).toBe("pr-created");
    for (const request of jobRequests) {
      expect(request.at - (issuedAt.get(bearerOf(request)) ?? Number.NaN)).toBeLessThanOrEqual(240_001);
    }
    expect(tokenRequests.length).toBeGreaterThanOrEqual(12);
    expect(tokenRequests.length).toBeLessThanOrEqual(3_000_000 / 240_000 + 1);
    expect(toolkit.masks).toEqual([...issuedAt.keys()]);
  });

  test("that is slow does not extend the time in which a new job may be missing", async () => {
    const { jobRequests, outputs } = await run(
      // A token of ten seconds is renewed before each request.
      (n) => ({ ...issues(numbered(n, 10)), responseMs: n === 1 ? 0 : 6000 }),
      ({ method }) => (method === "POST" ? respondWith(201, record()) : respondWith(404, { error: "Job not found" })),
    );
    expect(jobRequests.map(({ method }) => method)).toEqual(["POST", "GET"]);
    expect(jobRequests[1]?.at).toBeGreaterThan(10_000);
    expect(outputs.outcome).toBe("error");
  });

  test.each([
    ["that does not say when it expires", idToken({ exp: undefined, iat: undefined })],
    ["whose time is no number", idToken({ exp: "soon" })],
    ["whose payload cannot be read", "header.pay!load.signature"],
    ["of another kind", "opaque-token-0123456789"],
  ])("%s is used for four minutes", async (_name, token) => {
    const { outputs, tokenRequests } = await run(() => issues(token), jobUntil(280_000));
    expect(outputs.outcome).toBe("pr-created");
    expect(tokenRequests.map(({ at }) => Math.floor(at / 20_000))).toEqual([0, 12]);
  });

  test("that hardly lives is renewed for every request", async () => {
    const { outputs, tokenRequests, jobRequests } = await run((n) => issues(numbered(n, 59)), jobUntil(12_000));
    expect(outputs.outcome).toBe("pr-created");
    expect(tokenRequests).toHaveLength(jobRequests.length);
  });

  test("whose payload has no time of issue is measured by the wall clock", async () => {
    const wallTime = new FakeClock().wallTime() / 1000;
    const token = idToken({ iat: undefined, exp: wallTime + 600 });
    const { tokenRequests } = await run(() => issues(token), jobUntil(500_000));
    expect(tokenRequests).toHaveLength(1);
  });

  test("and the ones before it are removed from what the service returns", async () => {
    let poll = 0;
    const seen: string[] = [];
    const { outputs, toolkit } = await run(
      (n) => issues(numbered(n)),
      (request) => {
        seen.push(bearerOf(request));
        const echo = { model: seen.at(-1), source: { repository: seen.at(0), ref: encodeURIComponent(seen[0] ?? "") } };
        return request.method === "POST" || poll++ < 30
          ? respondWith(200, record(echo))
          : respondWith(401, { error: `No: ${[...new Set(seen)].join(" ")}` });
      },
    );
    expect(new Set(seen).size).toBe(2);
    expect(outputs).toMatchObject({ outcome: "error", model: "***", repository: "***", ref: "***" });
    const shown = toolkit.events.join("\n") + toolkit.summary + JSON.stringify(outputs);
    for (const token of new Set(seen)) expect(shown).not.toContain(token);
    expect(shown).not.toContain(requestToken);
  });

  test("is removed as long as it is valid, however many there are", async () => {
    const seen: string[] = [];
    const { outputs } = await run(
      (n) => issues(numbered(n, 50)),
      (request) => {
        if (request.query !== "") return respondWith(404);
        seen.push(bearerOf(request));
        return respondWith(200, record({ ...(seen.length > 6 && { status: "completed" }), model: seen[0] }));
      },
    );
    expect(new Set(seen).size).toBe(7);
    expect(outputs).toMatchObject({ outcome: "no-changes", model: "***" });
  });

  test.each([
    ["as GitHub issues it", numbered(1)],
    ["of the longest kind", `${text(4000)}.${text(3000)}.${text(998)}`],
    ["without dots", text(8000)],
  ])("%s is removed in encodings, too", async (_name, token) => {
    const encodings = [
      Buffer.from(`Bearer ${token}`).toString("base64"),
      Buffer.from(`Bearer ${token}`).toString("hex"),
      [...token].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(""),
      `<b>${token}</b>`,
    ];
    for (const encoding of encodings) {
      const { outputs } = await run(
        () => issues(token),
        () => respondWith(201, record({ model: encoding, status: "failed" })),
      );
      expect(outputs.model).toContain("***");
      expect(outputs.model).not.toContain(encoding.slice(-200, -100));
    }
  });

  test("serves all that a session does", async () => {
    const cache = new FakeCache();
    const session = { cache, inputs: { session: "nightly" }, environment: { GITHUB_RUN_ID: "1" } };
    await run((n) => issues(numbered(n)), jobUntil(10_000), session);
    const second = await run((n) => issues(numbered(n)), jobUntil(0), {
      ...session,
      environment: { GITHUB_RUN_ID: "2" },
    });
    expect(second.outputs["job-origin"]).toBe("continued");
    expect(second.jobRequests.length).toBeGreaterThan(2);
    expect(second.tokenRequests).toHaveLength(1);
  });

  test("is never needed with a key", async () => {
    const { requests } = await runMain({ environment, respond: jobUntil(0) });
    expect(requests.filter(isForToken)).toEqual([]);
  });
});

describe("without a token", () => {
  test.each<[string, Exchange]>([
    ["500", respondWith(500)],
    ["408", respondWith(408)],
    ["429", respondWith(429)],
    ["no connection", { failure: "not-connected" }],
    ["a reset", { failure: "no-response" }],
    ["HTML", respondWith(200, "<html>")],
    ["no value", respondWith(200, { count: 3 })],
    ["a value that is no text", issues(7)],
    ["a value with a line break", issues("header.payload.signature\nx-other-header: value")],
    ["a value after a line break", issues("\nheader.payload.signature")],
    ["a value that is too long", issues("x".repeat(8001))],
    ["a value that is too short", issues("a.b.c")],
    ["null", respondWith(200, "null")],
  ])("a request for it is repeated: %s", async (_name, failure) => {
    const { outputs, tokenRequests, jobRequests, toolkit } = await run(
      (n) => (n < 3 ? failure : issues(numbered(1))),
      jobUntil(0),
    );
    expect(outputs.outcome).toBe("pr-created");
    expect(tokenRequests.map(({ at }) => at)).toEqual([0, 500, 1500]);
    expect(jobRequests.filter(({ method }) => method === "POST")).toHaveLength(1);
    expect(toolkit.annotations).toEqual([]);
  });

  test("nothing is sent, and a minute later the step says that no job was started", async () => {
    const { outputs, clock, jobRequests, tokenRequests, toolkit } = await run(() => respondWith(503), jobUntil(0));
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(jobRequests).toEqual([]);
    // Three tries, and three more for the create that is sent again.
    expect(tokenRequests.slice(0, 5).map(({ at }) => at)).toEqual([0, 500, 1500, 2000, 2500]);
    expect(tokenRequests.length % 3).toBe(0);
    expect(clock.elapsedMs).toBeGreaterThan(50_000);
    expect(clock.elapsedMs).toBeLessThan(70_000);
    expect(toolkit.annotations.at(-1)).toMatchObject({
      title: "No job was started",
      text: expect.stringMatching(
        /^GitHub issued no OIDC token \(HTTP 503\)\. No job was started\.\nCheck the runner's network/,
      ),
    });
  });

  test.each([400, 401, 403, 404, 302])("an answer that will not change is final: %i", async (status) => {
    const { outputs, jobRequests, tokenRequests, toolkit } = await run(() => respondWith(status), jobUntil(0));
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect([tokenRequests.length, jobRequests.length]).toEqual([1, 0]);
    expect(toolkit.annotations.at(-1)?.text).toContain(`HTTP ${status}`);
    expect(toolkit.annotations.at(-1)?.text).toContain("permissions: id-token: write");
  });

  test("a message is not sent either", async () => {
    const { outputs, toolkit, jobRequests } = await run(() => respondWith(403), jobUntil(0), {
      inputs: { "job-id": "job_1" },
    });
    expect(outputs.outcome).toBe("error");
    expect(jobRequests).toEqual([]);
    expect(toolkit.annotations.at(-1)?.text).toContain("The service did not accept the message");
  });

  test("a create is not sent when the time is almost up", async () => {
    const { outputs, jobRequests, tokenRequests, clock } = await run(
      () => ({ responseMs: 4500, response: { status: 200, body: { value: numbered(1) } } }),
      jobUntil(0),
      { inputs: { "timeout-minutes": String(5 / 60) } },
    );
    expect(outputs.outcome).toBe("error");
    expect(jobRequests).toEqual([]);
    expect(tokenRequests[0]?.timeoutMs).toBe(4000);
    expect(clock.elapsedMs).toBeLessThanOrEqual(5000);
  });

  test("a token service that hangs costs three times ten seconds at most", async () => {
    const { tokenRequests } = await run(
      () => ({ responseMs: 600_000, response: { status: 200, body: { value: numbered(1) } } }),
      jobUntil(0),
    );
    expect(tokenRequests.slice(0, 3).map(({ at }) => at)).toEqual([0, 10_500, 21_500]);
  });

  test("a cancellation ends the request for it at once", async () => {
    const { outputs, clock, toolkit, jobRequests } = await run(
      () => ({ responseMs: 9000, response: { status: 200, body: { value: numbered(1) } } }),
      jobUntil(0),
      { cancelAt: 3000 },
    );
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
    expect(clock.elapsedMs).toBe(3000);
    expect(jobRequests).toEqual([]);
    expect(toolkit.annotations.at(-1)?.text).toContain("No job was started");
  });

  test("the first poll of an existing job fails at once if that will not change", async () => {
    const { outputs, toolkit, tokenRequests } = await run(() => respondWith(403), jobUntil(0), {
      inputs: { prompt: "", "job-id": "job_1" },
    });
    expect(outputs.outcome).toBe("error");
    expect(tokenRequests).toHaveLength(1);
    expect(toolkit.annotations.at(-1)?.text).toContain("This step started nothing.");
  });

  test("that holds although an earlier request for it failed in another way", async () => {
    const { outputs, tokenRequests, jobRequests } = await run((n) => respondWith(n <= 3 ? 503 : 403), jobUntil(0), {
      inputs: { prompt: "", "job-id": "job_1" },
    });
    expect(outputs.outcome).toBe("error");
    expect([tokenRequests.length, jobRequests.length]).toEqual([4, 0]);
  });

  test.each(["http://tokens.example/idtoken", "not a URL", "ftp://tokens.example/idtoken"])(
    "the request token is not sent to %s",
    async (address) => {
      const { requests, outputs, toolkit, clock } = await run(() => issues(numbered(1)), jobUntil(0), {
        environment: { ACTIONS_ID_TOKEN_REQUEST_URL: address },
      });
      expect(outputs.outcome).toBe("error");
      expect([requests, clock.elapsedMs]).toEqual([[], 0]);
      expect(toolkit.annotations.at(-1)?.text).toContain("is not an https URL");
    },
  );
});

describe("a renewal that fails", () => {
  test.each([503, 403])(
    "with %i is no failure of the job: polls continue when there are tokens again",
    async (status) => {
      const { outputs, toolkit, jobRequests, hasPassed } = await run(
        (n, { at }) => (at > 0 && at < 600_000 ? respondWith(status) : issues(numbered(n))),
        jobUntil(700_000),
      );
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
      expect(hasPassed).toBe(true);
      expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Polling is failing" }]);
      expect(toolkit.annotations[0]?.text).toContain(
        `GitHub issued no OIDC token (HTTP ${status}). The job is not affected.`,
      );
      const beforeExpiry = jobRequests.filter(({ at }) => at < 600_000).map(({ at }) => at);
      // The old token is used while it is valid.
      expect(Math.max(...beforeExpiry)).toBeGreaterThan(270_000);
      expect(Math.max(...beforeExpiry)).toBeLessThanOrEqual(290_000);
    },
  );

  test("does not count as a time for which the service held a poll", async () => {
    const { jobRequests } = await run(
      (n) => (n === 2 ? { ...issues(numbered(2, 3600)), responseMs: 4000 } : issues(numbered(n, 75))),
      (request) => {
        const { response } = jobUntil(60_000)(request);
        return { response: { status: 200, ...response, headers: { "preference-applied": "wait" } } };
      },
    );
    const polls = jobRequests.filter(({ query }) => query === "");
    const delays = polls.map(({ at }, index) => at - (polls[index - 1]?.at ?? at)).slice(1);
    expect(Math.min(...delays)).toBe(5000);
  });

  test("until the time is up leaves the state of the job unknown", async () => {
    const { outputs, toolkit } = await run((n) => (n === 1 ? issues(numbered(1)) : respondWith(500)), jobUntil(1e9), {
      inputs: { "timeout-minutes": "10" },
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", status: "active" });
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /could not be read: GitHub issued no OIDC token.*may still be running/s,
    );
  });
});

test("a token is renewed after the machine was suspended, although its monotonic clock stood still", async () => {
  const clock = new FakeClock();
  let suspendedMs = 0;
  const { transport, requests } = fakeTransport(clock, (_request, index) => issues(numbered(index)));
  const tokens = connectIdTokens("https://agents.example", {
    environment,
    clock: {
      now: () => clock.now(),
      wallTime: () => clock.wallTime() + suspendedMs,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
    random: () => 0.5,
    connect: () => transport,
    mask: () => {},
    onTrace: () => {},
  });
  const limits = { deadline: clock.now() + 3_600_000, signal: new AbortController().signal };
  expect(await tokens.token(limits)).toBe(numbered(0));
  expect(await tokens.token(limits)).toBe(numbered(0));
  suspendedMs = 3_000_000;
  expect(await tokens.token(limits)).toBe(numbered(1));
  expect(requests).toHaveLength(2);
});

test("a token that came too late, because the process was paused, is only used for later requests", async () => {
  const clock = new FakeClock();
  let requests = 0;
  const tokens = connectIdTokens("https://agents.example", {
    environment,
    clock,
    random: () => 0.5,
    connect: () => async () => {
      requests++;
      clock.advance(20_000);
      return { status: 200, headers: {}, body: JSON.stringify({ value: numbered(1) }) };
    },
    mask: () => {},
    onTrace: () => {},
  });
  const { signal } = new AbortController();
  await expect(tokens.token({ deadline: clock.now() + 19_000, signal })).rejects.toMatchObject({
    message: "it came too late",
    isTransient: true,
  });
  expect(await tokens.token({ deadline: clock.now() + 19_000, signal })).toBe(numbered(1));
  expect(requests).toBe(1);
});

test("proxy settings that are invalid are a reason to have no token", async () => {
  const clock = new FakeClock();
  const tokens = connectIdTokens("https://agents.example", {
    environment,
    clock,
    random: () => 0.5,
    connect: () => {
      throw new NetworkError("the proxy is invalid", { phase: "connecting", reason: "network" });
    },
    mask: () => {},
    onTrace: () => {},
  });
  const limits = { deadline: clock.now() + 60_000, signal: new AbortController().signal };
  await expect(tokens.token(limits)).rejects.toMatchObject({ name: "TokenError", message: "the proxy is invalid" });
});
