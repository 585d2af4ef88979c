import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { findHandler, type Handler, type Route, read } from "../../../src/pages/routes.ts";

const answer =
  (status: number): Handler =>
  async (_request, parameter) => ({ status, headers: { parameter }, body: [] });

const routes: Route[] = [
  { pattern: /^\/one$/, methods: { ...read(answer(1)), POST: answer(2) } },
  { pattern: /^\/two\/(\d+)$/, methods: { POST: answer(3) } },
];

const ask = (method: string, path: string) => findHandler(routes, method, path)?.({} as IncomingMessage);

test("a request is handled by the route of its path and method, with what the path captures", async () => {
  expect(await ask("GET", "/one")).toEqual({ status: 1, headers: { parameter: "" }, body: [] });
  expect(await ask("HEAD", "/one")).toMatchObject({ status: 1 });
  expect(await ask("POST", "/one")).toMatchObject({ status: 2 });
  expect(await ask("POST", "/two/7")).toMatchObject({ status: 3, headers: { parameter: "7" } });
  expect(ask("GET", "/three")).toBeUndefined();
});

test("another method is answered with those of the route", () => {
  for (const [method, path, allow] of [
    ["DELETE", "/one", "GET, HEAD, POST"],
    ["toString", "/one", "GET, HEAD, POST"],
    ["GET", "/two/7", "POST"],
  ] as const)
    expect(() => ask(method, path)).toThrow(expect.objectContaining({ status: 405, headers: { allow } }));
});
