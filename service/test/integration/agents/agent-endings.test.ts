import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { quoted } from "../../../../test/support/quoted.ts";
import { createAgentNetwork } from "../../../src/agents/network/agent-network.ts";
import { presetAgent } from "../../../src/agents/presets.ts";
import type { AgentOptions } from "../../../src/agents/run-agent.ts";
import { setUpAgents } from "../../support/run-agent.ts";

// Stand-ins that end as real command-line agents were seen to end.

const keys = { ANTHROPIC_API_KEY: "a", CODEX_API_KEY: "c", GEMINI_API_KEY: "g", COPILOT_GITHUB_TOKEN: "t" };

function agentThat(name: string, script: string, environment: NodeJS.ProcessEnv = keys) {
  const agent = presetAgent(name, environment);
  if (agent === undefined) throw new Error(`no preset ${name}`);
  return { ...agent, command: () => ({ file: "/bin/sh", args: ["-c", script] }) };
}

const run = (agent: ReturnType<typeof agentThat>, options: Partial<AgentOptions> = {}) =>
  setUpAgents().run(agent, { silenceMs: 400, ...options });

/** Returns a shell command that prints events. */
const print = (...events: readonly object[]): string =>
  `printf '%s\\n' ${events.map((event) => `'${JSON.stringify(event)}'`).join(" ")}`;

const session = { session_id: "s" };
const started = { type: "system", subtype: "init", ...session };
const said = { type: "assistant", message: { content: [] }, ...session };
const result = { type: "result", subtype: "success", is_error: false, result: "Done.", ...session };

describe("an agent has completed once it says so", () => {
  const finish = print(started, said, result);
  // In megabytes, what is kept of its output is one.
  const noise = `i=0; while [ $i -lt 1300 ]; do i=$((i+1)); printf '{"type":"system","pad":"%01000d"}\\n' 0; done`;

  test.each<[what: string, script: string, seen: object]>([
    ["and stays", `${finish}; sleep 300`, { endedBy: "silence" }],
    ["and ignores that it is to end", `trap '' TERM; ${finish}; while :; do sleep 1; done`, { endedBy: "silence" }],
    ["and exits with 1", `${finish}; exit 1`, { exitCode: 1 }],
    ["and exits with 143", `${finish}; exit 143`, { exitCode: 143 }],
    ["and a signal ends it", `${finish}; kill -TERM $$`, { exitCode: 143 }],
    ["and prints 1.3 MB after that", `${finish}; ${noise}`, {}],
    ["and leaves a process that holds its output", `${finish}; sleep 300 & exit 0`, {}],
  ])("%s", async (_what, script, seen) => {
    expect(await run(agentThat("claude", script))).toMatchObject({
      end: "completed",
      message: "Done.",
      hasEnded: true,
      ...seen,
    });
  });

  test("and is ended at its time limit, or by a limit for its home", async () => {
    const agent = agentThat("claude", `${finish}; while :; do sleep 0.1; echo '{"type":"system"}'; done`);
    expect(await run(agent, { timeLimitMs: 1500, silenceMs: 60_000 })).toMatchObject({
      end: "completed",
      endedBy: "time-limit",
    });
    const large = agentThat("claude", `${finish}; head -c 3000000 /dev/zero > "$HOME/large"; sleep 300`);
    const limits = { limits: { diskMb: 1 }, silenceMs: 60_000 };
    expect(await run(large, limits)).toMatchObject({ end: "completed", exitCode: 137 });
  });

  test("but not if somebody stops it", async () => {
    const stop = new AbortController();
    const agent = agentThat("claude", `${finish}; sleep 300`);
    setTimeout(() => stop.abort(), 800);
    expect(await run(agent, { signal: stop.signal, silenceMs: 60_000 })).toMatchObject({ end: "stopped" });
  });
});

describe("an agent has failed", () => {
  test.each<[what: string, name: string, script: string, seen: object]>([
    ["if it exits without a result", "claude", print(started, said), { hasEnded: false }],
    ["if it is killed without a result", "claude", `${print(started)}; kill -9 $$`, { exitCode: 137 }],
    [
      "if it goes on after its result and is killed",
      "claude",
      `${print(started, result, said)}; exit 1`,
      { exitCode: 1 },
    ],
    [
      "in the words of its event, if the event says only with a code that it failed",
      "claude",
      print({ type: "result", subtype: "error_max_turns", is_error: false, errors: ["Reached 3 turns"], ...session }),
      { error: "Reached 3 turns", failureClass: "limit" },
    ],
    [
      "with words of ours, if its event has only a code",
      "claude",
      print({ type: "result", subtype: "error_max_turns", is_error: true, ...session }),
      { error: "it reached its limit of turns" },
    ],
    [
      "if it is killed between two steps",
      "opencode",
      `${print({ type: "step_finish", part: { reason: "tool-calls" } })}; kill -9 $$`,
      { hasEnded: false, exitCode: 137 },
    ],
    ["if its program is missing", "codex", "exec /no/such/codex", { hasEnded: false, exitCode: 127 }],
  ])("%s", async (_what, name, script, seen) => {
    expect(await run(agentThat(name, script))).toMatchObject({ end: "failed", ...seen });
  });
});

test("an agent that begins another session than an earlier one is ended at once", async () => {
  const isEarlierSession = (id: string) => id === "s";
  const other = print({ ...started, session_id: "other" });
  expect(await run(agentThat("claude", `${other}; sleep 300; ${print(said)}`), { isEarlierSession })).toMatchObject({
    end: "failed",
    endedBy: "other-session",
    hasWorked: false,
  });
  // Some name a session only in the end.
  const late = print({ ...said, session_id: undefined }, { ...result, session_id: "other" });
  expect(await run(agentThat("claude", late), { isEarlierSession })).toMatchObject({ end: "completed" });
  // Sub-agents have sessions of their own.
  expect(
    await run(agentThat("claude", `${print(started)}; ${other}; ${print(said, result)}`), { isEarlierSession }),
  ).toMatchObject({ end: "completed" });
});

test("Gemini CLI and OpenCode have completed while a process that they started holds their output", async () => {
  const gemini = print({ type: "message", role: "assistant", content: "Done." }, { type: "result", status: "success" });
  const opencode = print(
    { type: "text", sessionID: "s", part: { text: "Done." } },
    { type: "step_finish", sessionID: "s", part: { reason: "stop" } },
  );
  for (const [name, script] of [
    ["gemini", gemini],
    ["opencode", opencode],
  ] as const)
    expect(await run(agentThat(name, `(sleep 3000) & ${script}; wait`))).toMatchObject({
      end: "completed",
      endedBy: "silence",
      message: "Done.",
    });
});

test("aider, which may go on after it has counted tokens, is not ended for its silence", async () => {
  const script =
    "printf 'One.\\nTokens: 2 sent, 3 received.\\n'; sleep 1; printf 'Two.\\nTokens: 2 sent, 3 received.\\n'";
  expect(await run(agentThat("aider", script), { silenceMs: 100 })).toMatchObject({
    end: "completed",
    message: "Two.",
  });
});

describe("with a proxy to the model", () => {
  /** Starts a model that answers with a status, once it is let. */
  async function startModel(status: number, headers: Record<string, string> = {}, held?: Promise<void>) {
    const server = createServer(async (_request, response) => {
      await held;
      response.writeHead(status, headers).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function runWith(url: string, script: string, options: Partial<AgentOptions> = {}) {
    const environment = { ...keys, ANTHROPIC_BASE_URL: url };
    const agent = agentThat("claude", script, environment);
    const network = await createAgentNetwork("model", agent, [], environment, () => {});
    onTestFinished(() => network[Symbol.asyncDispose]());
    // Without a sandbox, the forwarder would listen on the machine's own loopback: the agent asks the socket of its run.
    const open = async () => {
      const own = await network.open?.();
      if (own === undefined) throw new Error("the network has no runs");
      const [socket = ""] = own.reads;
      const wrap = ({ file, args }: { file: string; args: readonly string[] }) => ({
        file: "/usr/bin/env",
        args: [`MODEL_SOCKET=${socket}`, file, ...args],
      });
      return { ...own, wrap, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
    };
    return run(agent, { network: { ...network, open, isShared: true }, ...options });
  }

  const ask = `${quoted(process.execPath)} -e 'require("http").get({ socketPath: process.env.MODEL_SOCKET, path: "/v1/models" }, (answer) => answer.resume())'`;

  test("an agent that its model asks to wait for longer than its turn is ended, with the status", async () => {
    const url = await startModel(429, { "retry-after": "3600" });
    expect(await runWith(url, `${print(started)}; ${ask}; sleep 300`)).toMatchObject({
      end: "failed",
      endedBy: "wait",
      model: { lastStatus: 429 },
    });
  });

  test("an agent that waits for less goes on", async () => {
    const url = await startModel(429, { "retry-after": "5" });
    const script = `${print(started)}; ${ask}; sleep 1; ${print(result)}`;
    expect(await runWith(url, script, { silenceMs: 200 })).toMatchObject({
      end: "completed",
      model: { lastStatus: 429 },
    });
  });

  test("an agent is not ended after its result while its model answers", async () => {
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    const url = await startModel(200, {}, held);
    // It says its result once its request is on its way, and another one after the answer.
    const [first, later] = [result, { ...result, result: "Later." }].map((event) => JSON.stringify(event));
    const script = `
      const request = require("http").get({ socketPath: process.env.MODEL_SOCKET, path: "/v1/models" }, (answer) => {
        answer.resume().on("end", () => console.log(${JSON.stringify(later)}));
      });
      request.on("finish", () => console.log(${JSON.stringify(first)}));`;
    const ended = runWith(url, `exec ${quoted(process.execPath)} -e '${script}'`, { silenceMs: 1000 });
    setTimeout(answer, 3000);
    expect(await ended).toMatchObject({ end: "completed", message: "Later." });
  });
});
