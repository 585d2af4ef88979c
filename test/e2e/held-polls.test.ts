import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { httpServer } from "../support/http-server.ts";
import { inputsFor } from "../support/scripted-service.ts";
import { hasSignals, step } from "../support/step.ts";

const active = JSON.stringify({ id: "job_1", status: "active" });
const completed = JSON.stringify({ id: "job_1", status: "completed", prLink: "https://github.com/acme/docs/pull/7" });

const hold = (response: ServerResponse, body: string, ms: number) =>
  setTimeout(() => response.writeHead(200, { "preference-applied": "wait=25" }).end(body), ms);

/** After the first poll, which comes soon, another one would only be sent after the tests' time is over. */
const rare = { "poll-interval-seconds": "1", "max-poll-interval-seconds": "1000" };

test("a service that holds polls ends the step as soon as the job has ended", async () => {
  await using service = await httpServer((n, { method }, response) => {
    if (method === "POST") response.writeHead(201).end(active);
    else if (n === 2) hold(response, active, 1200);
    else hold(response, completed, 300);
  });
  const { exitCode, outputs, log } = await step(inputsFor(service, rare));
  expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
  expect(service.requests.map(({ method, headers }) => [method, headers.prefer])).toEqual([
    ["POST", undefined],
    ["GET", "wait=25"],
    ["GET", "wait=25"],
    // What the service says of the turn.
    ["GET", undefined],
  ]);
  expect(log).toContain("active, next poll at once");
});

test.runIf(hasSignals)("a signal ends a poll that the service holds", async () => {
  let kill = (): void => {};
  let closed: Promise<unknown> | undefined;
  await using service = await httpServer((_n, { method }, response) => {
    if (method === "POST") {
      response.writeHead(201).end(active);
      return;
    }
    closed = once(response, "close");
    kill();
  });
  const { exitCode, outputs } = await step(inputsFor(service), {
    onStart: (child) => {
      kill = () => child.kill("SIGTERM");
    },
  });
  expect([exitCode, outputs.outcome, outputs["job-id"]]).toEqual([1, "cancelled", "job_1"]);
  // The last one asks what was sent, to stop it.
  expect(service.requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET"]);
  await closed;
});
