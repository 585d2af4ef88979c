import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { type RouteAccess, routes } from "../../../src/http/routes.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import { type AgentService, runJob, startAgentService } from "../../support/agent-service.ts";
import { cookieIn } from "../../support/pages-server.ts";

interface Row {
  path: string;
  /** The methods in `Allow`, and `(HEAD)` if it is answered without being one of them. */
  methods: string;
  access: RouteAccess;
  /** The status for the first method, without a key and with one. `→ /…` follows the status of a redirect. */
  without: string;
  with: string;
}

/** Every path of the service, written out again: a route that is removed or changed by mistake fails a test. */
const expected: Row[] = (
  [
    ["/metrics", "GET, HEAD", "this machine or key", "401", "200"],
    ["/healthz", "GET, HEAD", "anyone", "200", "200"],
    ["/healthz/live", "GET, HEAD", "anyone", "200", "200"],
    ["/v2/agent/{project}/job", "POST", "key for the project", "401", "400"],
    ["/v2/agent/{project}/job", "GET (HEAD)", "key for the project", "401", "400"],
    ["/v2/agent/{project}/job/{job}", "GET (HEAD)", "key for the project", "401", "200"],
    ["/v2/agent/{project}/job/{job}/message", "POST", "key for the project", "401", "400"],
    ["/v2/agent/{project}/job/{job}/turn/{turn}/stop", "POST", "key for the project", "401", "200"],
    ["/", "GET, HEAD", "session", "303 → /sign-in", "200"],
    ["/costs", "GET, HEAD", "session", "303 → /sign-in?next=%2Fcosts", "200"],
    ["/settings", "GET, HEAD, POST", "session", "303 → /sign-in?next=%2Fsettings", "200"],
    ["/pull/{number}", "GET, HEAD", "session", "303 → /sign-in?next=%2Fpull%2F1", "200"],
    ["/job/{job}", "GET, HEAD", "session", "303 → /sign-in?next=%2Fjob%2FJOB", "200"],
    ["/job/{job}/log", "GET, HEAD", "session or key", "303 → /sign-in?next=%2Fjob%2FJOB%2Flog", "200"],
    ["/job/{job}/patch", "GET, HEAD", "session or key", "303 → /sign-in?next=%2Fjob%2FJOB%2Fpatch", "404"],
    ["/job/{job}/turn/{turn}/log", "GET, HEAD", "session", "303 → /sign-in?next=%2Fjob%2FJOB%2Fturn%2F1%2Flog", "200"],
    ["/job/{job}/events", "GET, HEAD", "session or key", "303 → /sign-in?next=%2Fjob%2FJOB%2Fevents", "200"],
    ["/job/{job}/message", "POST", "session of a form", "401", "400"],
    [
      "/job/{job}/turn/{turn}/stop",
      "POST",
      "session or key",
      "303 → /sign-in?next=%2Fjob%2FJOB%2Fturn%2F1%2Fstop",
      "409",
    ],
    [
      "/job/{job}/turn/{turn}/retry",
      "POST",
      "session or key",
      "303 → /sign-in?next=%2Fjob%2FJOB%2Fturn%2F1%2Fretry",
      "409",
    ],
    ["/assets/job-page.js", "GET, HEAD", "anyone", "200", "200"],
    ["/sign-in/link", "POST", "key", "401", "201"],
    ["/sign-in/{link}", "GET", "anyone", "403", "403"],
    ["/sign-in", "GET, HEAD, POST", "anyone", "200", "303 → /"],
    ["/sign-out", "POST", "anyone", "303 → /sign-in", "303 → /sign-in"],
  ] as const
).map(([path, methods, access, without, withKey]) => ({ path, methods, access, without, with: withKey }));

const anonymous = { via: "1.1 proxy" };
const bearer = { authorization: `Bearer ${serviceKey}` };
const form = { "content-type": "application/x-www-form-urlencoded" };
const labels: unknown[] = [];
const folder = mkdtempSync(join(tmpdir(), "agent-job-test-"));
let docs: DocsRepository;
let service: AgentService;
let job: string;

beforeAll(async () => {
  docs = new DocsRepository();
  service = await startAgentService(docs, {
    folder,
    metrics: new PrometheusMetrics(),
    logEvent: (message, { route }) => void (message === "request answered" && labels.push(route)),
  });
  ({ id: job } = await runJob(service, 'Add a page "X"'));
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  docs[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The label that the request was counted with. */
  label: unknown;
}

async function ask(path: string, method: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  labels.length = 0;
  const options = { method, headers: { ...headers, ...(method === "POST" && form) }, agent: false };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(service.url + path, options, resolve)
      .on("error", reject)
      .end();
  });
  const content = await text(response);
  await expect.poll(() => labels).toHaveLength(1);
  return { status: response.statusCode ?? 0, headers: response.headers, text: content, label: labels[0] };
}

/** Returns the headers of someone with a key and a session. */
async function signedIn(): Promise<Record<string, string>> {
  labels.length = 0;
  const body = new URLSearchParams({ key: serviceKey });
  const { headers } = await fetch(`${service.url}/sign-in`, { method: "POST", body, redirect: "manual" });
  await expect.poll(() => labels).toHaveLength(1);
  return { ...bearer, cookie: cookieIn({ "set-cookie": headers.getSetCookie() }) };
}

function pathOf({ path }: Row): string {
  const values: Record<string, string> = { project: "docs", job, number: "1", turn: "1", link: "a".repeat(43) };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

const outcomeOf = ({ status, headers }: Answer) =>
  status === 303 ? `303 → ${headers.location?.replace(job, "JOB")}` : String(status);
const methodsOf = ({ methods }: Row) => methods.split(/\W+/).filter((method) => method !== "");
const firstOf = (row: Row) => methodsOf(row)[0] ?? "";
/** The rows of the same path, which have other methods. */
const withPathOf = ({ path }: Row) => expected.filter((row) => row.path === path);
const allMethodsOf = (row: Row) => withPathOf(row).flatMap(methodsOf);

test("the service has these routes, each with these methods and this access", () => {
  const shown = Object.values(routes).map((route) => ({
    path: route.path,
    methods: `${route.methods.join(", ")}${"alsoHead" in route ? " (HEAD)" : ""}`,
    access: route.access,
  }));
  expect(shown).toEqual(expected.map(({ path, methods, access }) => ({ path, methods, access })));
});

test("routes of the same path have different methods and the same access", () => {
  for (const row of expected) {
    const methods = allMethodsOf(row);
    expect(methods).toEqual([...new Set(methods)]);
    expect(new Set(withPathOf(row).map(({ access }) => access))).toEqual(new Set([row.access]));
  }
});

describe.each(expected)("$path $methods", (row) => {
  test("is answered to those who may have it, and counted with its label", async () => {
    const answer = await ask(pathOf(row), firstOf(row), await signedIn());
    expect({ outcome: outcomeOf(answer), label: answer.label }).toEqual({ outcome: row.with, label: row.path });
  });

  test("is answered as documented to those without a key", async () => {
    const answer = await ask(pathOf(row), firstOf(row), anonymous);
    expect({ outcome: outcomeOf(answer), label: answer.label }).toEqual({ outcome: row.without, label: row.path });
  });

  test("is answered to HEAD like to GET, without the body, if it only reads", async () => {
    const headers = await signedIn();
    const head = await ask(pathOf(row), "HEAD", headers);
    expect(head).toMatchObject({ text: "", label: row.path });
    const isAllowed = allMethodsOf(row).includes("HEAD");
    expect(head.status).toBe(isAllowed ? (await ask(pathOf(row), "GET", headers)).status : 405);
  });

  test("names its methods in the answer to another one", async () => {
    const others = ["DELETE", "PUT", "GET", "POST"].filter((method) => !allMethodsOf(row).includes(method));
    const allow = withPathOf(row).map(({ methods }) => methods.replace(/ \(.*/, ""));
    for (const method of others)
      expect(await ask(pathOf(row), method, await signedIn())).toMatchObject({
        status: 405,
        headers: { allow: allow.join(", ") },
        text: expect.stringContaining("Method not allowed"),
        label: row.path,
      });
  });

  test("tells those without a key nothing about projects by the answer to another method", async () => {
    const isSecret = row.access === "key for the project";
    expect((await ask(pathOf(row), "DELETE", anonymous)).status).toBe(isSecret ? 401 : 405);
  });
});

describe("no route has the path", () => {
  test.each([
    "/v1/agent/docs/job",
    "/v1beta/agent/docs/job",
    "/v2beta/agent/docs/job",
    "/v2.0/agent/docs/job",
    "/V2/agent/docs/job",
    "/v22/agent/docs/job",
    "/agent/docs/job",
    "/v2/agents/docs/job",
    "/v2/agent/docs/jobs",
    "/v2/agent/docs/job/",
    "/v2/agent//job",
    "/v2/job/job_1",
    "/v2/agent/docs/job/job_1/message/more",
    "/job",
    "/pull",
    "/healthz/ready",
    "/metrics/",
    "/assets/job-page.ts",
    "/favicon.ico",
    "//",
  ])("%s", async (path) => {
    for (const method of ["GET", "POST"]) {
      expect(await ask(path, method, anonymous)).toMatchObject({ status: 401, label: "other" });
      const known = await ask(path, method, bearer);
      expect(known).toMatchObject({ status: 404, text: '{"error":"Not found"}', label: "other" });
    }
  });

  test.each([
    ["/pull/x", "/pull/{number}"],
    ["/pull/1x", "/pull/{number}"],
    ["/pull/1234567890", "/pull/{number}"],
    ["/job/a.b", "/job/{job}"],
    [`/job/${"a".repeat(65)}/log`, "/job/{job}/log"],
    ["/job/a/turn/x/stop", "/job/{job}/turn/{turn}/stop"],
    ["/job/a/turn/x1/stop", "/job/{job}/turn/{turn}/stop"],
    ["/job/a/turn/1x/retry", "/job/{job}/turn/{turn}/retry"],
    ["/sign-in/too-short", "/sign-in/{link}"],
    [`/sign-in/${"a".repeat(44)}`, "/sign-in/{link}"],
  ])("%s, although it has the form of %s", async (path, label) => {
    expect(await ask(path, "GET", anonymous)).toMatchObject({ status: 401, label });
    expect(await ask(path, "GET", bearer)).toMatchObject({ status: 404, text: '{"error":"Not found"}', label });
  });
});
