import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { type Agent, shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { describeEarlierTurns } from "../../../src/agents/run-agent.ts";
import type { Sandbox, SandboxAccess } from "../../../src/agents/sandbox/sandbox.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { setUpAgents } from "../../support/run-agent.ts";

/** Returns an agent that reports what it wrote to stdout. */
const echoingAgent = (command: string): Agent => ({
  ...shellAgent(command),
  readReport: (stdout) => ({ message: stdout, error: undefined }),
});

describe("an agent ends", () => {
  test("as completed with exit code 0 and no error in its report", async () => {
    const { run } = setUpAgents();
    const completed = { message: "done\n", error: undefined, end: "completed" };
    expect(await run(echoingAgent("echo done"))).toEqual(completed);
    expect(await run(echoingAgent("echo done; exit 3"))).toEqual({ ...completed, exitCode: 3, end: "failed" });
    const failing = { ...shellAgent("true"), readReport: () => ({ message: "x", error: "overloaded" }) };
    expect(await run(failing)).toEqual({ message: "x", error: "overloaded", end: "failed" });
  });

  test("as timed out or stopped, with its report, if it was terminated", async () => {
    const { run } = setUpAgents();
    const agent = echoingAgent("echo started; touch started; trap 'exit 0' TERM; sleep 300 & wait");
    expect(await run(agent, { timeLimitMs: 1500 })).toMatchObject({ end: "timed-out" });
    const stop = new AbortController();
    const other = setUpAgents();
    const result = other.run(agent, { signal: stop.signal });
    await waitUntil(() => existsSync(join(other.paths.tree, "started")));
    stop.abort();
    expect(await result).toEqual({ message: "started\n", error: undefined, endedBy: "stop", end: "stopped" });
  });

  test("as failed if it kills its supervisor, and the report of an earlier turn does not count", async () => {
    const { run } = setUpAgents();
    await run(echoingAgent("echo earlier"));
    const killing = echoingAgent("echo late; kill -9 $PPID; sleep 300");
    expect(await run(killing)).toEqual({ message: "", error: undefined, exitCode: 137, end: "failed" });
  });

  test("without a report if it left a named pipe in its place", async () => {
    const { run, paths } = setUpAgents();
    const pipe = join(paths.input, "stdout.txt");
    const agent = echoingAgent(`mkfifo '${pipe}'; kill -9 $PPID; sleep 300`);
    expect(await run(agent)).toEqual({ message: "", error: undefined, exitCode: 137, end: "failed" });
  });

  test.skipIf(!existsSync("/dev/full"))("as completed if the disk is full when it has ended", async () => {
    const { run, paths } = setUpAgents();
    const agent = echoingAgent(`ln -s /dev/full '${join(paths.input, "stdout.txt")}'; echo done`);
    expect(await run(agent)).toEqual({ message: "done\n", error: undefined, end: "completed" });
  });

  test("as completed if the file that names its processes cannot be removed", async () => {
    const { run, folder } = setUpAgents();
    const agent = echoingAgent(`cd '${folder}'; rm processes.json; mkdir processes.json; echo done`);
    expect(await run(agent)).toMatchObject({ message: "done\n", end: "completed" });
  });
});

test.skipIf(process.platform !== "linux")(
  "only the agent reads the machine's certificates, whose descriptor its supervisor would close",
  async () => {
    const { run, folder } = setUpAgents();
    const file = join(folder, "ca.pem");
    writeFileSync(file, "");
    const show = 'echo "$NODE_EXTRA_CA_CERTS"; tr "\\0" "\\n" < /proc/$PPID/environ | grep -c ^NODE_EXTRA_CA_CERTS=';
    const agent = { ...echoingAgent(show), environment: { NODE_EXTRA_CA_CERTS: file } };
    expect((await run(agent)).message).toBe(`${file}\n0\n`);
  },
);

test("the events of an agent become lines of the log, and are kept as they are", async () => {
  const { run, folder } = setUpAgents();
  const init = JSON.stringify({ type: "init", model: "large" });
  const event = JSON.stringify({ type: "text", part: { text: "I will write." } });
  const rawFile = join(folder, "events.jsonl");
  const agent = {
    ...echoingAgent(`echo '${init}'; echo '${event}'; echo plain; echo problem >&2`),
    eventFormat: "opencode" as const,
  };
  const { message, usedModel } = await run(agent, { rawFile });
  expect([message, usedModel]).toEqual([`${init}\n${event}\nplain\n`, "large"]);
  expect(readFileSync(join(folder, "log"), "utf8").split("\n").sort()).toEqual([
    "",
    "| I will write.",
    "| Model: large",
    "| plain",
    "| problem",
  ]);
  expect(readFileSync(rawFile, "utf8")).toBe(message);
});

test("of an endless line, the log, the events and the report have a part", async () => {
  const { run, folder } = setUpAgents();
  const rawFile = join(folder, "events.jsonl");
  const agent = {
    ...echoingAgent("head -c 12000000 /dev/zero | tr '\\0' x; echo end"),
    eventFormat: "opencode" as const,
  };
  const { end, message = "" } = await run(agent, { rawFile });
  expect(end).toBe("completed");
  expect(message).toHaveLength(1024 * 1024);
  expect(message.endsWith("xend\n")).toBe(true);
  for (const file of [rawFile, join(folder, "log")]) expect(statSync(file).size).toBeLessThan(11_000_000);
});

test("a command tells in a file what it has to say, and what it cost", async () => {
  const { run } = setUpAgents();
  const said = { message: "Done.", costUsd: 0.02, error: undefined, end: "completed" };
  const write = `echo '{"message":"Done.","costUsd":0.02}' > "$AGENT_RESULT_FILE"`;
  expect(await run(shellAgent(write))).toEqual(said);
  expect(await run(shellAgent(`${write}; exit 1`))).toEqual({ ...said, end: "failed", exitCode: 1 });
  // That of an earlier turn does not count.
  expect(await run(shellAgent("true"))).toEqual({ end: "completed" });
});

test.each([
  ["a link", (secret: string) => `ln -s ${secret} "$AGENT_RESULT_FILE"`],
  ["a folder", () => 'mkdir "$AGENT_RESULT_FILE"'],
  ["a pipe", () => 'mkfifo "$AGENT_RESULT_FILE"'],
  [
    "a large file",
    (secret: string) => `{ cat ${secret}; head -c 300000 /dev/zero | tr '\\0' ' '; } > "$AGENT_RESULT_FILE"`,
  ],
])("%s in place of the file says nothing", async (_what, command) => {
  const { run, folder } = setUpAgents();
  const secret = join(folder, "secret.json");
  writeFileSync(secret, '{"message":"secret"}');
  expect(await run(shellAgent(command(secret)))).toEqual({ end: "completed" });
  // Not even for the next turn.
  expect(await run(shellAgent("true"))).toEqual({ end: "completed" });
});

test("processes that an agent leaves behind are killed", async () => {
  const { run, folder } = setUpAgents();
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  // Ends when no process can write to the pipe.
  const ended = once(createReadStream(pipe).resume(), "end");
  expect(await run(shellAgent("exec 3> ../pipe; sleep 300 > /dev/null 2>&1 &"))).toMatchObject({ end: "completed" });
  await ended;
});

test("an agent that the machine cannot start now is an error of its own", async () => {
  const { run, folder } = setUpAgents();
  const preload = join(folder, "preload.mjs");
  writeFileSync(
    preload,
    `import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

childProcess.spawn = () => { throw Object.assign(new Error("spawn EAGAIN"), { code: "EAGAIN" }); };
syncBuiltinESMExports();
`,
  );
  const started = run({ ...shellAgent("true"), environment: { NODE_OPTIONS: `--import=${preload}` } });
  await expect(started).rejects.toThrow(ResourceExhausted);
  await expect(started).rejects.toThrow("the agent cannot be started now: no process can be started now: spawn EAGAIN");
});

test("a sandbox whose program is missing is no failure of the agent: it may be being updated", async () => {
  const { run } = setUpAgents();
  const sandbox: Sandbox = { isConfining: true, wrap: () => ({ file: "/no/such/sandbox", args: [] }) };
  await expect(run(shellAgent("true"), { sandbox })).rejects.toThrow(ResourceExhausted);
});

test("an agent gets its prompt with the prefix, and the earlier turns line by line", async () => {
  const { run, paths } = setUpAgents();
  const history = [
    { prompt: "One\nmore", answer: "Done", state: "completed" as const },
    { prompt: "Two", answer: null, state: "failed" as const },
  ];
  const agent = { ...shellAgent('cat > stdin; cp "$AGENT_PROMPT_FILE" file; cat "$AGENT_HISTORY_FILE" > history') };
  await run({ ...agent, promptPrefix: "Prompt: " }, { prompt: "/Go on", history });
  const read = (file: string) => readFileSync(join(paths.tree, file), "utf8");
  expect([read("stdin"), read("file")]).toEqual(["Prompt: /Go on", "Prompt: /Go on"]);
  expect(read("history")).toBe(history.map((turn) => `${JSON.stringify(turn)}\n`).join(""));
  expect(history).toHaveLength(2);
});

test("an agent that reads no file of earlier turns gets them before its prompt, unless it has a session of them", async () => {
  const { run, paths } = setUpAgents();
  const history = [{ prompt: "One", answer: "Done", state: "completed" as const }];
  const agent = { ...shellAgent("cat > stdin"), promptPrefix: "The task: ", isToldHistory: true };
  const stdin = () => readFileSync(join(paths.tree, "stdin"), "utf8");
  await run(agent, { prompt: "Go on", history });
  expect(stdin()).toBe(`${describeEarlierTurns(history)}The task: Go on`);
  await run(agent, { prompt: "Go on", history, isFollowUp: true });
  expect(stdin()).toBe("The task: Go on");
});

test("an agent is wrapped in its network, and that in its sandbox, with access to its files only", async () => {
  const { run, paths, folder } = setUpAgents();
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\necho program > ran; echo $* >> ran\n", { mode: 0o755 });
  const reads = { agent: join(folder, "agent-reads"), network: join(folder, "network-reads") };
  const turns: unknown[] = [];
  const access: SandboxAccess[] = [];
  const agent: Agent = {
    ...shellAgent(""),
    command: (turn) => {
      turns.push(turn);
      return { file: "no-such-program", args: [] };
    },
    reads: [reads.agent],
    environment: { SSL_CERT_FILE: "/certificates.pem" },
  };
  const sandbox: Sandbox = {
    isConfining: true,
    wrap: ({ file, args }, given) => {
      access.push(given);
      return { file, args: [...args, "sandboxed"] };
    },
  };
  const network = {
    ...fullNetwork,
    isShared: false,
    environment: { PROXY: "http://proxy" },
    reads: [reads.network],
    programs: [program],
    wrap: () => ({ file: program, args: ["networked"] }),
  };
  expect(await run(agent, { sandbox, network, isFollowUp: true })).toMatchObject({ end: "completed" });
  expect(readFileSync(join(paths.tree, "ran"), "utf8")).toBe("program\nnetworked sandboxed\n");
  expect(turns).toEqual([{ isFollowUp: true, isSandboxed: true }]);
  expect(access).toEqual([
    {
      currentDirectory: paths.tree,
      writable: [paths.home, paths.tree, paths.temporary],
      readable: expect.any(Array),
      hasNetwork: false,
      temporary: paths.temporary,
    },
  ]);
  const readable = access[0]?.readable ?? [];
  const files = [program, "/certificates.pem", reads.agent, reads.network, paths.input, paths.objects];
  expect(readable).toEqual(expect.arrayContaining(files));
  // Such as the folder of the service, which has the folders of other jobs.
  expect(readable).not.toContain(folder);
  expect(readable).not.toContain("");
});

test("an agent's program is looked up in its PATH, and its installation shown to the sandbox", async () => {
  const { run, folder } = setUpAgents();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "own-agent"), "#!/bin/sh\n", { mode: 0o755 });
  let readable: readonly string[] = [];
  const sandbox: Sandbox = {
    isConfining: true,
    wrap: (command, access) => {
      readable = access.readable;
      return command;
    },
  };
  const agent = { ...shellAgent("own-agent"), environment: { PATH: `${bin}:${process.env.PATH}` } };
  expect(await run(agent, { sandbox })).toMatchObject({ end: "completed" });
  expect(readable.some((path) => path.startsWith(bin))).toBe(true);
});

test("compiled code of the supervisor is kept if told so, and the agent does not learn where", async () => {
  const { run, paths, folder } = setUpAgents();
  const compileCache = join(folder, "cache");
  const agent = shellAgent('echo "$NODE_COMPILE_CACHE" > variable');
  const variable = () => readFileSync(join(paths.tree, "variable"), "utf8");
  await run(agent, { compileCache });
  expect(variable()).toBe("\n");
  expect(readdirSync(compileCache)).not.toEqual([]);
  await run({ ...agent, environment: { NODE_COMPILE_CACHE: join(folder, "own") } }, { compileCache });
  expect(variable()).toBe(`${join(folder, "own")}\n`);
  await run(agent);
  expect(variable()).toBe("\n");
});

test.skipIf(process.platform !== "linux")("leaves no file open, however an agent ends", async () => {
  const { run, folder } = setUpAgents();
  const open = () =>
    readdirSync("/proc/self/fd").flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/self/fd/${descriptor}`)].filter((path) => path.startsWith(folder));
      } catch {
        return [];
      }
    });
  await run(shellAgent("true"));
  await run(shellAgent("exit 1"));
  const broken = { ...shellAgent("true"), readReport: () => JSON.parse("{") };
  await expect(run(broken)).rejects.toThrow(SyntaxError);
  expect(open()).toEqual([]);
});

describe.skipIf(process.platform !== "linux")("the limits of an agent", () => {
  test("kill it", async () => {
    const { run } = setUpAgents();
    const exceeded: string[] = [];
    const agent = shellAgent("sleep 300 & sleep 300");
    const onLimitExceeded = ({ what }: { what: string }) => void exceeded.push(what);
    expect(await run(agent, { limits: { processes: 1 }, onLimitExceeded })).toMatchObject({ end: "failed" });
    expect(exceeded).toEqual(["more than 1 processes"]);
  });

  test("of memory is the kernel's if it can, and what it kills has failed for that", async () => {
    const { run } = setUpAgents();
    const exceeded: string[] = [];
    const steps: string[] = [];
    const cgroups = {
      create: (name: string, { memoryMb }: { memoryMb: number }) => {
        steps.push(`${name} ${memoryMb}`);
        return {
          add: (id: number) => {
            steps.push("add");
            process.kill(-id, "SIGKILL");
          },
          hadTooLittleMemory: true,
          [Symbol.asyncDispose]: async () => void steps.push("remove"),
        };
      },
    };
    const onLimitExceeded = ({ what }: { what: string }) => void exceeded.push(what);
    const result = await run(shellAgent("sleep 300"), { limits: { memoryMb: 100 }, cgroups, onLimitExceeded });
    expect(result).toMatchObject({ end: "failed" });
    expect(exceeded).toEqual(["more than 100 MB of memory"]);
    expect(steps).toEqual(["job_1 100", "add", "remove"]);
    await run(shellAgent("true"), { cgroups });
    expect(steps).toHaveLength(3);
  });

  test("of its files is watched beside that of memory, which the kernel has", async () => {
    const { run, paths } = setUpAgents();
    const exceeded: string[] = [];
    const group = { add: () => {}, hadTooLittleMemory: false, [Symbol.asyncDispose]: async () => {} };
    const onLimitExceeded = ({ what }: { what: string }) => void exceeded.push(what);
    const options = { limits: { memoryMb: 1000, diskMb: 1 }, cgroups: { create: () => group }, onLimitExceeded };
    writeFileSync(join(paths.tree, "large"), "x".repeat(3_000_000));
    expect(await run(shellAgent("sleep 300"), options)).toMatchObject({ end: "failed" });
    expect(exceeded).toEqual(["more than 1 MB of disk"]);
  });

  test("end with it", async () => {
    const { run, paths } = setUpAgents();
    const exceeded: string[] = [];
    const onLimitExceeded = ({ what }: { what: string }) => void exceeded.push(what);
    // A check takes place at once, and the next one a second later.
    const agent = shellAgent("sleep 0.3");
    expect(await run(agent, { limits: { diskMb: 1 }, onLimitExceeded })).toMatchObject({ end: "completed" });
    writeFileSync(join(paths.tree, "large"), "x".repeat(3_000_000));
    await setTimeout(1500);
    expect(exceeded).toEqual([]);
  });
});
