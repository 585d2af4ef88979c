import { expect, test } from "vitest";
import { dispatch } from "../../../src/http/dispatch.ts";
import { HttpException } from "../../../src/http/http-exception.ts";
import { listen } from "../../../src/http/listen.ts";
import { matchRoute } from "../../../src/http/routes.ts";

test.each([
  ["/", "jobList", {}],
  ["/v2/agent/a%2Fb/job/x.y", "readJob", { project: "a%2Fb", job: "x.y" }],
  ["/job/a/turn/7/stop", "stopTurn", { job: "a", turn: "7" }],
  ["/sign-in/link", "createSignInLink", {}],
])("the path %s is that of %s", (path, name, parameters) => {
  const none = { project: "", job: "", turn: "", number: "", link: "" };
  expect(matchRoute(path)).toMatchObject({ routes: [{ name }], parameters: { ...none, ...parameters } });
});

test("a path with a parameter that nothing has is that of a route, without parameters", () => {
  expect(matchRoute("/pull/x")).toMatchObject({ path: "/pull/{number}", parameters: undefined });
  expect(matchRoute("/pull/")).toBeUndefined();
  expect(matchRoute("")).toBeUndefined();
});

test("routes of the same path share its access check, and those without an endpoint are as if they did not exist", async () => {
  const access = "key for the project" as const;
  const admit = async ({ headers }: { headers: { authorization?: string | undefined } }) => {
    if (headers.authorization === undefined) throw new HttpException(401, "Who is there?");
  };
  const answer = (text: string) => ({
    access,
    admit,
    answer: async (_request: unknown, response: { end(text: string): void }) => response.end(text),
  });
  const endpoints = { createJob: answer("create") };
  const ask = async (
    method: string,
    { url }: { url: string },
    headers: Record<string, string> = { authorization: "me" },
  ) => {
    const response = await fetch(`${url}/v2/agent/docs/job?step=a`, { method, headers });
    return { status: response.status, text: await response.text(), allow: response.headers.get("allow") };
  };
  const notAllowed = (allow: string) => ({ status: 405, text: '{"error":"Method not allowed"}', allow });
  await using one = await listen(dispatch({ endpoints, log: () => {} }));
  for (const method of ["GET", "PUT"]) expect(await ask(method, one)).toEqual(notAllowed("POST"));
  await using both = await listen(dispatch({ endpoints: { ...endpoints, findStep: answer("find") }, log: () => {} }));
  expect(await ask("POST", both)).toEqual({ status: 200, text: "create", allow: null });
  expect(await ask("GET", both)).toEqual({ status: 200, text: "find", allow: null });
  expect(await ask("HEAD", both)).toEqual({ status: 200, text: "", allow: null });
  expect(await ask("PUT", both)).toEqual(notAllowed("POST, GET"));
  for (const method of ["GET", "POST", "PUT"]) expect(await ask(method, both, {})).toMatchObject({ status: 401 });
});

test("a route without an endpoint is not found, whatever the method", async () => {
  await using server = await listen(dispatch({ endpoints: {}, log: () => {} }));
  for (const [method, path] of [
    ["GET", "/healthz"],
    ["DELETE", "/healthz"],
    ["GET", "/nothing"],
  ]) {
    const response = await fetch(`${server.url}${path}`, { method: method ?? "" });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 404,
      body: { error: "Not found" },
    });
  }
});

test("an endpoint answers with an error in its own way, also if the method is not allowed", async () => {
  const lines: string[] = [];
  const endpoints = {
    health: {
      access: "anyone" as const,
      answer: async () => {
        throw new Error("broken");
      },
      fail: (_request: unknown, response: { end(text: string): void }, { status, message }: HttpException) =>
        response.end(`${status} ${message}`),
    },
    liveness: {
      access: "anyone" as const,
      admit: async () => {
        throw new HttpException(403, "Go away", { "x-reason": "none" });
      },
      answer: async () => {},
    },
  };
  await using server = await listen(dispatch({ endpoints, log: (line) => void lines.push(line) }));
  const ask = (path: string, method: string) => fetch(server.url + path, { method });
  expect(await (await ask("/healthz", "PUT")).text()).toBe("405 Method not allowed");
  expect(await (await ask("/healthz?secret", "GET")).text()).toBe("500 Internal error: see the log of the service");
  expect(lines).toEqual([expect.stringMatching(/^GET \/healthz: Error: broken\n/)]);
  for (const method of ["GET", "PUT"]) {
    const rejected = await ask("/healthz/live", method);
    expect([rejected.status, rejected.headers.get("x-reason"), await rejected.json()]).toEqual([
      403,
      "none",
      { error: "Go away" },
    ]);
  }
});
