import { expect, test } from "vitest";
import { outputNames } from "../support/metadata.ts";
import { inputsFor, startScriptedService } from "../support/scripted-service.ts";
import { step } from "../support/step.ts";
import { httpResponse, isCompleteRequest, tcpServer } from "../support/tcp-server.ts";

const slow = { script: () => ({ durationMs: 60_000 }) };

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s while waiting: ends immediately and says how to wait for the job",
  async (signal) => {
    await using service = await startScriptedService(slow);
    const { exitCode, outputs, annotations, summary } = await step(inputsFor(service), {
      onStart: (child) => child.stdout?.on("data", (text: string) => /Waiting up to/.test(text) && child.kill(signal)),
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

test("two signals while the create is in flight: waits for the response and publishes the id", async () => {
  const record = JSON.stringify({ id: "job_late", status: "active" });
  let kill = (_signal: NodeJS.Signals): void => {};
  await using server = await tcpServer((socket, received) => {
    if (!isCompleteRequest(received)) return;
    kill("SIGINT");
    setTimeout(() => kill("SIGTERM"), 100);
    setTimeout(() => socket.end(httpResponse(201, record)), 300);
  });
  const { exitCode, outputs } = await step(inputsFor({ url: `http://127.0.0.1:${server.port}` }), {
    onStart: (child) => {
      kill = (signal) => child.kill(signal);
    },
  });
  expect(exitCode).toBe(1);
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_late" });
  expect(server.received.filter((request) => request.startsWith("POST"))).toHaveLength(1);
});

test("SIGBREAK, which Windows has for SIGTERM, ends the wait", async () => {
  await using service = await startScriptedService(slow);
  // Linux has no such signal, so another one stands for it.
  const preload = 'process.on("SIGUSR2",()=>process.emit("SIGBREAK"))';
  const { exitCode, outputs } = await step(inputsFor(service), {
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` },
    onStart: (child) => child.stdout?.on("data", (text: string) => /Waiting up to/.test(text) && child.kill("SIGUSR2")),
  });
  expect(exitCode).toBe(1);
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": expect.stringMatching(/^job_/) });
});

test("SIGKILL while waiting: the outputs have the outcome error and the job id", async () => {
  await using service = await startScriptedService(slow);
  const { exitCode, outputs } = await step(inputsFor(service), {
    onStart: (child) => child.stdout?.on("data", (text: string) => /Waiting up to/.test(text) && child.kill("SIGKILL")),
  });
  expect(exitCode).toBe(null);
  expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
  expect(outputs).toMatchObject({ outcome: "error", "job-id": expect.stringMatching(/^job_/) });
});

test("a signal while connecting: ends immediately, nothing was started", async () => {
  let kill = (): void => {};
  // The server never answers the TLS handshake, so the action stays connecting.
  await using server = await tcpServer(() => kill());
  const { exitCode, outputs, annotations } = await step(inputsFor({ url: `https://127.0.0.1:${server.port}` }), {
    onStart: (child) => {
      kill = () => child.kill("SIGTERM");
    },
  });
  expect(exitCode).toBe(1);
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
  expect(annotations).toEqual([
    expect.stringContaining("The step was cancelled before the service accepted its request. No job was started."),
  ]);
});

test("a signal while the results are written: still writes them", async () => {
  await using service = await startScriptedService();
  const { exitCode, outputs, summary } = await step(inputsFor(service), {
    onStart: (child) => child.stdout?.on("data", (text: string) => text.includes("Outcome:") && child.kill("SIGINT")),
  });
  expect(exitCode).toBe(0);
  expect(outputs.outcome).toBe("pr-created");
  expect(summary).toContain("Pull request created");
});
