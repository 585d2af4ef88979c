import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { metricsEndpoint } from "../../../src/api/metrics-endpoint.ts";
import { type Access, type Authenticator, unauthorized } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { listen } from "../../../src/http/listen.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import { PerProject } from "../../../src/per-project.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { cookieIn, startPages } from "../../support/pages-server.ts";

const access: Access = { name: "prometheus", projects: ["docs"], isReadOnly: true, signInAs: "prometheus" };

/** Knows one key, which only reads the project `docs`. */
const authenticator: Authenticator = {
  authenticate: async (key) => {
    if (key !== "mint_reader") throw unauthorized("Invalid API key");
    return access;
  },
  accessOf: async (text) => (text === access.signInAs ? access : undefined),
};
const headers = { authorization: "Bearer mint_reader" };
const onlyReads = 'The API key prometheus can only read (scope "read")';

/** Returns the jobs of a store, one of which has a turn that waits. */
async function setUp() {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const jobs = new Jobs({ store, projects: PerProject.same({ repositoryName: "docs", model: "large" }) });
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
  const turn = (await store.turns.ofJob("a"))[0]?.id ?? 0;
  const expectUnchanged = async () => {
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting", prompt: "One" }]);
    expect(await store.counts.census()).toMatchObject({ jobs: { active: 1 } });
  };
  return { store, jobs, turn, expectUnchanged };
}

test("a key that only reads gets jobs, steps and metrics from the API, and changes nothing", async () => {
  const { store, jobs, turn, expectUnchanged } = await setUp();
  const { endpoints, notFound } = createApi({ engine: jobs, steps: jobs, turns: jobs, authenticator });
  const metrics = metricsEndpoint({
    metrics: new PrometheusMetrics(),
    census: () => store.counts.census(),
    readers: "with a key",
    authenticator,
    projects: ["docs"],
  });
  const { url, [Symbol.asyncDispose]: close } = await listen(
    dispatch({ endpoints: { ...endpoints, metrics }, notFound, log: () => {} }),
  );
  onTestFinished(close);
  for (const path of ["/v2/agent/docs/job/a", "/v2/agent/docs/job?step=1", "/metrics"])
    expect((await fetch(url + path, { headers })).status, path).toBe(200);
  for (const path of ["job", "job/a/message", `job/a/turn/${turn}/stop`]) {
    const response = await fetch(`${url}/v2/agent/docs/${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "Two" }),
    });
    expect({ path, status: response.status, body: await response.json() }).toEqual({
      path,
      status: 403,
      body: { error: onlyReads },
    });
  }
  expect((await fetch(`${url}/v2/agent/other/job`, { method: "POST", headers })).status).toBe(404);
  await expectUnchanged();
});

test("a key for some projects gets no metrics, which are about all", async () => {
  const metrics = metricsEndpoint({
    metrics: new PrometheusMetrics(),
    census: async () => undefined,
    authenticator,
    projects: ["docs", "site"],
  });
  const notFound = () => Promise.reject(new Error("not expected"));
  const server = await listen(dispatch({ endpoints: { metrics }, notFound, log: () => {} }));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const answer = await fetch(`${server.url}/metrics`, { headers });
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 403,
    body: { error: "The API key prometheus is not for all projects" },
  });
  expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
});

test("a browser that signs in with it shows pages without forms, and sends none", async () => {
  const { store, jobs, turn, expectUnchanged } = await setUp();
  const { submit, ask } = await startPages({ store, turnControl: jobs, authenticator });
  const cookie = cookieIn((await submit({ key: "mint_reader" })).headers);
  const page = await ask("/job/a", { headers: { cookie } });
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<section id="turns">') });
  expect([...page.text.matchAll(/<form[^>]* action="([^"]*)"/g)].map(([, action]) => action)).toEqual(["/sign-out"]);
  for (const reader of [{ cookie }, headers])
    for (const action of ["stop", "retry"]) {
      const answer = await ask(`/job/a/turn/${turn}/${action}`, { method: "POST", headers: reader });
      expect(answer).toMatchObject({ status: 403, text: expect.stringContaining("can only read") });
    }
  const message = await submit({ prompt: "Two", form: "x".repeat(43) }, { cookie }, "/job/a/message");
  expect(message).toMatchObject({ status: 403, text: expect.stringContaining("can only read") });
  await expectUnchanged();
});
