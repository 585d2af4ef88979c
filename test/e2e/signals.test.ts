import { expect, test } from "vitest";
import { outputNames } from "../support/metadata.ts";
import { inputsFor, startService } from "../support/scripted-service.ts";
import { step } from "../support/step.ts";
import { httpAnswer, isWhole, tcpServer } from "../support/tcp-server.ts";

const slow = { script: () => ({ durationMs: 60_000 }) };

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s while waiting: says that the job goes on and how to wait for it",
  async (signal) => {
    await using service = await startService(slow);
    const { exitCode, outputs, annotations, summary } = await step(inputsFor(service), {
      onStart: (child) => child.stdout?.on("data", (text: string) => /active, next/.test(text) && child.kill(signal)),
    });
    expect(exitCode).toBe(1);
    expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
    expect(outputs).toMatchObject({ outcome: "cancelled", status: "active", "job-id": expect.stringMatching(/^job_/) });
    expect(annotations).toEqual([
      expect.stringMatching(/^error Cancelled: .*keeps running.*run the action with job-id job_/s),
    ]);
    expect(summary).toContain("Cancelled");
  },
);

test("a signal, then another, while the answer to the create is on its way: the id is kept", async () => {
  const record = JSON.stringify({ id: "job_late", status: "active" });
  let kill = (_signal: NodeJS.Signals): void => {};
  await using server = await tcpServer((socket, received) => {
    if (!isWhole(received)) return;
    kill("SIGINT");
    setTimeout(() => kill("SIGTERM"), 100);
    setTimeout(() => socket.end(httpAnswer(201, record)), 300);
  });
  const { exitCode, outputs } = await step(inputsFor({ url: `http://127.0.0.1:${server.port}` }), {
    onStart: (child) => {
      kill = (signal) => child.kill(signal);
    },
  });
  expect(exitCode).toBe(1);
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_late" });
  expect(server.received).toHaveLength(1);
});

test("killed outright: the outputs say that the job's fate is unknown, and keep its id", async () => {
  await using service = await startService(slow);
  const { exitCode, outputs } = await step(inputsFor(service), {
    onStart: (child) => child.stdout?.on("data", (text: string) => /active, next/.test(text) && child.kill("SIGKILL")),
  });
  expect(exitCode).toBe(null);
  expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
  expect(outputs).toMatchObject({ outcome: "error", "job-id": expect.stringMatching(/^job_/) });
});

test("before a connection stands: nothing was started, and it ends at once", async () => {
  let kill = (): void => {};
  // A server that never answers the handshake of TLS keeps the action connecting.
  await using server = await tcpServer(() => kill());
  const { exitCode, outputs, annotations } = await step(inputsFor({ url: `https://127.0.0.1:${server.port}` }), {
    onStart: (child) => {
      kill = () => child.kill("SIGTERM");
    },
  });
  expect(exitCode).toBe(1);
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
  expect(annotations).toEqual([
    expect.stringContaining("The step was cancelled before it started a job. No job was started."),
  ]);
});

test("while the results are written: they are written all the same", async () => {
  await using service = await startService();
  const { exitCode, outputs, summary } = await step(inputsFor(service), {
    onStart: (child) => child.stdout?.on("data", (text: string) => text.includes("Outcome:") && child.kill("SIGINT")),
  });
  expect(exitCode).toBe(0);
  expect(outputs.outcome).toBe("pr-created");
  expect(summary).toContain("Pull request created");
});
