import { describe, expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { type AnsweredRequest, noMetrics } from "../../../src/metrics/metrics.ts";
import type { JobRecord } from "../../../src/model.ts";
import { docsRepository, startAgentService } from "../../support/agent-service.ts";
import { cookieIn, startPages } from "../../support/pages-server.ts";

const host = "example.com";
const publicUrl = `https://${host}/agents`;

test("all that answers and pages link is below the path of the public URL, which proxies may remove", async () => {
  const routes = new Set<string>();
  const metrics = { ...noMetrics, requestAnswered: ({ route }: AnsweredRequest) => void routes.add(route) };
  await using service = await startAgentService(docsRepository(), { publicUrl, hasJobPages: true, metrics });
  const headers = { authorization: `Bearer ${serviceKey}`, "content-type": "application/json" };
  const created = await fetch(`${service.url}/agents/v2/agent/docs/job`, {
    ...{ method: "POST", headers },
    body: JSON.stringify({ prompt: 'Add a page "A" that says "B."' }),
  });
  const { id } = (await created.json()) as JobRecord;
  const wait = { ...headers, prefer: "wait=25" };
  const ended = await fetch(`${service.url}/v2/agent/docs/job/${id}`, { headers: wait });
  expect((await ended.json()) as JobRecord).toMatchObject({ status: "completed", prLink: `${publicUrl}/pull/1` });
  for (const { headers } of [created, ended])
    expect(headers.get("link")).toBe(`</agents/job/${id}>; rel="alternate"; type="text/html"`);

  const link = await service.createSignInLink("/agents/pull/1");
  expect(link).toMatch(/^https:\/\/example\.com\/agents\/sign-in\/[\w-]{43}$/);
  const signedIn = await fetch(service.url + new URL(link).pathname, { redirect: "manual" });
  expect(signedIn.headers.get("location")).toBe("/agents/pull/1");
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const ways = { "passed on": (path: string) => path, removed: (path: string) => path.replace(/^\/agents(?=\/)/, "") };
  for (const [way, through] of Object.entries(ways)) {
    const found = new Set(["/agents", "/agents?state=completed", "/agents/pull/no-number"]);
    for (const path of found) {
      const response = await fetch(service.url + through(path), { headers: { cookie, accept: "text/html" } });
      expect({ path, status: response.status }).toEqual({ path, status: path.endsWith("number") ? 404 : 200 });
      for (const [, attribute, target = ""] of (await response.text()).matchAll(/ (href|src|action)="([^"]*)"/g)) {
        if (target.startsWith("#")) continue;
        expect(`${path} links ${target}`).toContain(" links /agents/");
        if (attribute !== "action") found.add(target);
      }
    }
    const ofJob = ["", "/log", "/log?follow=no", "/turn/1/log"].map((path) => `/job/${id}${path}`);
    const ofReader = ["/", "/?asker=API+key", "/costs", "/settings"];
    const pages = ["", "?state=completed", ...ofReader, ...ofJob, "/pull/1"].map((path) => `/agents${path}`);
    expect([...found].filter((path) => !/\.js\?v=|no-number/.test(path)).sort(), way).toEqual(pages.sort());
  }
  expect(routes).not.toContain("other");
});

describe("below the path of the public URL", () => {
  const signIn = { host, origin: `https://${host}`, "sec-fetch-site": "same-origin" };

  test("signing in leads back to the page, with a cookie that other services on the host do not get", async () => {
    const { ask, submit } = await startPages({ publicUrl });
    const asked = await ask("/agents/pull/1", { headers: { host } });
    expect(asked).toMatchObject({ status: 303, headers: { location: "/agents/sign-in?next=%2Fpull%2F1" } });
    const form = await ask(asked.headers.location ?? "", { headers: { host } });
    expect(form.text).toContain('<form method="post" action="/agents/sign-in">');
    const { headers } = await submit({ key: serviceKey, next: "/pull/1" }, signIn, "/agents/sign-in");
    expect(headers.location).toBe("/agents/pull/1");
    const [set = ""] = headers["set-cookie"] ?? [];
    expect(set).toMatch(/^__Secure-agent-job-service-443=[\w-]{43}; Path=\/agents; .*; Secure$/);
    const signedIn = { headers: { host, cookie: cookieIn(headers) } };
    expect((await ask("/agents/pull/1", signedIn)).status).toBe(200);
    expect((await ask("/agents/sign-in?next=/agents/pull/1", signedIn)).headers.location).toBe("/agents/pull/1");
    const out = await ask("/agents/sign-out", { method: "POST", ...signedIn });
    expect(out.headers.location).toBe("/agents/sign-in");
    expect(out.headers["set-cookie"]?.[0]).toMatch(/^__Secure-agent-job-service-443=; Path=\/agents; .*Max-Age=0/);
    expect((await ask("/agents/pull/1", signedIn)).status).toBe(303);
  });

  test("a link on another site leads to the page", async () => {
    const { ask } = await startPages({ publicUrl });
    const { text } = await ask("/agents/pull/1", { headers: { host, "sec-fetch-site": "cross-site" } });
    expect(text).toContain('content="0; url=/agents/pull/1"');
    expect(text).toContain('<a href="/agents/pull/1">Continue</a>');
  });

  test("buttons and the form of a job lead back to its page", async () => {
    const turnControl = {
      stopTurn: async () => ({ hadEnded: false, status: "running" as const }),
      retryTurn: async () => ({}) as JobRecord,
    };
    const { ask, get, submit, turns, cookie } = await startPages({ publicUrl, turnControl });
    turns.push({ state: "running", prompt: "Go on" });
    const { text } = await get("/agents/job/job_1");
    for (const path of ["turn/1/stop", "message"]) expect(text).toContain(`action="/agents/job/job_1/${path}"`);
    expect(text).toContain('data-job="/agents/job/job_1"');
    const [, form = ""] = /name="form" value="([^"]+)"/.exec(text) ?? [];
    for (const turn of ["stop", "retry"])
      expect(await ask(`/agents/job/job_1/turn/1/${turn}`, { method: "POST", headers: { cookie } })).toMatchObject({
        status: 303,
        headers: { location: "/agents/job/job_1" },
      });
    const sent = await submit({ form, prompt: "Go" }, { cookie }, "/agents/job/job_1/message");
    expect(sent).toMatchObject({ status: 303, headers: { location: "/agents/job/job_1" } });
    const unsent = await submit({ form, prompt: "Go" }, {}, "/agents/job/job_1/message");
    expect(unsent.text).toContain('<a href="/agents/job/job_1">Back to the job</a>');
  });

  test("a path that only begins with the same letters is not below it", async () => {
    const { get } = await startPages({ publicUrl });
    for (const path of ["/agentspull/1", "/agents-2/pull/1", "/agents/agents/pull/1"])
      expect((await get(path)).text).toBe("next");
  });
});
