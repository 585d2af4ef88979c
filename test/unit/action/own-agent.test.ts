import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOwnAgent } from "../../../src/action/own-agent.ts";
import { AgentError } from "../../../src/action/result.ts";
import { agentSettings } from "../../support/agent-settings.ts";
import { temporaryFolder } from "../../support/step.ts";
import { waitUntil } from "../../support/wait-until.ts";

/** Answers as the program does, a moment later, and writes what it is asked. After a check it exits, as if it had crashed. */
const program = `
  import { appendFileSync, readFileSync } from "node:fs";
  const say = (line) => appendFileSync(import.meta.dirname + "/seen", line + "\\n");
  const group = process.platform === "linux" ? readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ")[2] : process.pid;
  let isBusy = false;
  process.on("message", (message) => {
    if (typeof message === "object")
      return say(\`started \${Number(group) === process.pid ? "in a group of its own" : ""} \${process.env.DEPLOY_KEY ?? "without secrets"} transcript \${message.logFile}\`);
    say(message + (isBusy ? " at the same time" : ""));
    if (typeof message === "number") return message < 10_000 && process.exit();
    isBusy = true;
    setTimeout(() => {
      isBusy = false;
      process.send({ url: "http://127.0.0.1:1" }, () => message === "check" && process.exit());
    }, 20);
  });`;

function setUp() {
  const folder = temporaryFolder();
  const file = join(folder, "step.mjs");
  writeFileSync(file, program);
  const cancellation = new AbortController();
  const environment = { ...process.env, DEPLOY_KEY: "secret", RUNNER_TEMP: folder };
  const agent = createOwnAgent(agentSettings(), { program: file, environment, signal: cancellation.signal });
  const origins: string[] = [];
  const graces: (number | undefined)[] = [];
  const transport = agent.connect(async ({ url, graceMs }) => {
    origins.push(url.origin);
    graces.push(graceMs);
    return { status: 200, headers: {}, body: "" };
  });
  const send = (signal = new AbortController().signal, graceMs?: number) => {
    const grace = graceMs !== undefined && { graceMs };
    const url = new URL("https://agent.invalid/v2");
    return transport({ method: "GET", url, headers: {}, timeoutMs: 1000, signal, ...grace });
  };
  const seen = () =>
    existsSync(join(folder, "seen")) ? readFileSync(join(folder, "seen"), "utf8").trim().split("\n") : [];
  return { agent, cancellation, origins, graces, send, seen };
}

const started = expect.stringMatching(
  /^started in a group of its own without secrets transcript .*agent-job-[\w-]+\.log$/,
);

test("a process of its own answers one request after another, and what it serves is not used once it has ended", async () => {
  const { agent, origins, send, seen } = setUp();
  await Promise.all([send(), send(), agent.prepare()]);
  await send();
  expect(seen()).toEqual([started, "answer", "run"]);
  await agent.check();
  await agent.end();
  await expect(send()).rejects.toThrow(AgentError);
  expect(origins).toEqual(Array(3).fill("http://127.0.0.1:1"));
});

test("a transcript is known once it is there", async () => {
  const { agent, send, seen } = setUp();
  await send();
  expect([agent.logFile, agent.workFile]).toEqual([undefined, undefined]);
  const [file = ""] = seen().flatMap((line) => /transcript (.*)$/.exec(line)?.[1] ?? []);
  writeFileSync(file, "");
  // The program exits after it.
  await agent.check();
  await agent.end();
  expect(agent.logFile).toBe(file);
});

test("a dry run asks for one thing at a time, too", async () => {
  const { agent, send, seen } = setUp();
  await Promise.all([send(), agent.check()]);
  expect(seen()).toEqual([started, "answer", "check"]);
  await agent.end();
});

test("a create that hangs leaves a cancelled step the time to stop its turn, and to save", async () => {
  const { agent, cancellation, graces, send } = setUp();
  await send();
  await send(undefined, 4000);
  cancellation.abort();
  await agent.end();
  expect(graces).toEqual([undefined, 1000]);
});

test("a request that is cancelled already starts nothing", async () => {
  const { agent, send, seen } = setUp();
  await send(AbortSignal.abort());
  await agent.end();
  expect(seen()).toEqual([]);
});

test.each([
  ["before it ends", true, ["4000"]],
  ["while it ends", false, ["150000", "4000"]],
])("a step that is cancelled %s leaves its agent little time to save", async (_when, isBefore, times) => {
  const { agent, cancellation, send, seen } = setUp();
  await send();
  if (isBefore) cancellation.abort();
  const ended = agent.end();
  if (!isBefore) {
    await waitUntil(() => seen().includes("150000"));
    cancellation.abort();
  }
  await ended;
  expect(seen().slice(2)).toEqual(times);
});
