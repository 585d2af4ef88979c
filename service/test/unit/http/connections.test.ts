import { createServer } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { defaultMaxConnections, limitConnections } from "../../../src/http/connections.ts";

test("by default, connections take at most half of the descriptors", () => {
  expect(defaultMaxConnections(257)).toBe(128);
  expect(defaultMaxConnections(1_000_000)).toBe(4000);
  expect(defaultMaxConnections()).toBeLessThanOrEqual(4000);
});

test("drops one connection for each of those that are opened before any of them has closed", () => {
  const server = createServer();
  limitConnections(server, 2, () => {});
  const sockets = Array.from({ length: 5 }, () => new Socket());
  for (const socket of sockets) server.emit("connection", socket);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true, false, false]);
});
