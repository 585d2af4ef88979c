import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { agentSettings, optionsIn } from "../../../../test/support/agent-settings.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { ActionChild, endInTime } from "../../../step/action-child.ts";

test("what takes too long to end is killed, sooner if it is told so meanwhile, and ends once", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [kill, ended] = [vi.fn(), Promise.withResolvers<void>()];
  const end = vi.fn((_late: AbortSignal) => ended.promise);
  const isLate = () => end.mock.calls[0]?.[0].aborted;
  const endIn = endInTime(end, kill);
  endIn(150_000);
  endIn(4000);
  vi.advanceTimersByTime(2999);
  expect(isLate()).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(isLate()).toBe(true);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect([kill, end].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  endIn(1000);
  ended.resolve();
  await vi.advanceTimersByTimeAsync(150_000);
  expect(kill).toHaveBeenCalledTimes(1);
});

test("a service that is still starting has started, or failed to, when its end is over", async () => {
  const asked = Promise.withResolvers<void>();
  // A GitHub that rejects the token when the end has begun.
  const server = createServer((_request, response) => {
    asked.resolve();
    setTimeout(() => response.writeHead(401).end(), 50);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const HOME = temporaryFolder();
  const environment = {
    PATH: process.env.PATH,
    HOME,
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_SERVER_URL: url,
    GITHUB_API_URL: url,
  };
  const settings = agentSettings({ options: optionsIn({ sandbox: "none" }), minutes: 1 });
  const child = await ActionChild.open({
    environment,
    settings,
    logFile: join(HOME, "log"),
    workFile: join(HOME, "work"),
  });
  const order: string[] = [];
  const request = child.handle("run").catch(() => void order.push("failed"));
  await asked.promise;
  await child.end();
  order.push("ended");
  await request;
  expect(order).toEqual(["failed", "ended"]);
});

test("a run is reported in time although its service does not end", async () => {
  const folder = temporaryFolder();
  // A cache that never answers.
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    RUNNER_TEMP: folder,
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_SERVER_URL: url,
    GITHUB_API_URL: url,
  };
  const settings = agentSettings({ options: optionsIn({ sandbox: "none" }), minutes: 1 });
  const files = { logFile: join(folder, "log"), workFile: join(folder, "work") };
  const child = await ActionChild.open({ environment, settings, ...files });
  const request = child.handle("answer").catch(() => {});
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^agent-job-service-/)]);
  expect(await child.end(AbortSignal.abort())).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
  // On a busy machine, it may connect only now.
  server.on("connection", (socket) => socket.destroy());
  server.closeAllConnections();
  await request;
});
