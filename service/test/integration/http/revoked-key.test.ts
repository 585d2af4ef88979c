import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { type Access, type Authenticator, unauthorized } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { listen } from "../../../src/http/listen.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import { PerProject } from "../../../src/per-project.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { cookieIn, startPages } from "../../support/pages-server.ts";

const access: Access = { name: "ci", projects: ["docs"], signInAs: "ci" };

/** A key that is revoked before the end of the body of a request. */
function revokedKey() {
  let isRevoked = false;
  let letIn = () => {};
  const find = async () => {
    if (isRevoked) return undefined;
    letIn();
    return access;
  };
  const authenticator: Authenticator = {
    authenticate: async () => {
      const found = await find();
      if (found === undefined) throw unauthorized("Invalid API key");
      return found;
    },
    accessOf: find,
  };
  /** Sends a request with the key, and returns the status of its answer. */
  const send = async (url: string, headers: Record<string, string>, body: string): Promise<number | undefined> => {
    isRevoked = false;
    const isLetIn = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    const sent = request(url, { method: "POST", headers: { ...headers, "content-length": String(body.length) } });
    sent.write(body.slice(0, 5));
    await isLetIn;
    isRevoked = true;
    sent.end(body.slice(5));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  return { authenticator, send };
}

test("a create or message whose key is revoked while its body comes in starts nothing", async () => {
  const { authenticator, send } = revokedKey();
  await using store = openSqliteStore(":memory:");
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
  const jobs = new Jobs({ store, projects: PerProject.same({ repositoryName: "docs", model: "large" }) });
  const { endpoints, notFound } = createApi({ engine: jobs, authenticator });
  await using server = await listen(dispatch({ endpoints, notFound, log: () => {} }));
  const headers = { authorization: "Bearer mint_ci", "content-type": "application/json" };
  for (const path of ["job", "job/a/message"])
    expect(await send(`${server.url}/v2/agent/docs/${path}`, headers, '{"prompt":"Two"}'), path).toBe(401);
  expect(await store.counts.total()).toEqual({ jobs: 1, waitingTurns: 1 });
});

test("a message from the page of a job whose key is revoked meanwhile is not sent", async () => {
  const { authenticator, send } = revokedKey();
  const { url, submit, ask, messages } = await startPages({ authenticator });
  const cookie = cookieIn((await submit({ key: "mint_ci" })).headers);
  const page = await ask("/job/job_1", { headers: { cookie } });
  const form = /name="form" value="([^"]*)"/.exec(page.text)?.[1];
  const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
  expect(await send(`${url}/job/job_1/message`, headers, `prompt=Two&form=${form}`)).toBe(401);
  expect(messages).toEqual([]);
});
