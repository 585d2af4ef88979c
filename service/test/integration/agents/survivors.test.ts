import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { rows } from "../../../../test/support/thorough.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { type AgentDirectories, runAgent } from "../../../src/agents/run-agent.ts";
import { createSandbox, type SandboxKind } from "../../../src/agents/sandbox/create-sandbox.ts";
import { behindGate, gateDescriptor, unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import type { SupervisorSettings } from "../../../src/agents/supervisor.ts";
import { type AgentProcesses, killSurvivors, recordProcesses } from "../../../src/agents/survivors.ts";
import { ownFile } from "../../../src/own-file.ts";
import { identify, type ProcessIdentity } from "../../../src/processes/own-processes.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import { docsRepository, send, waitForJob } from "../../support/agent-service.ts";
import { findObstacle } from "../../support/sandbox-obstacle.ts";
import { spawnService } from "../../support/service-process.ts";

const isLinux = process.platform === "linux";
const obstacles = new Map<SandboxKind | "unconfined", string | undefined>([
  ["bwrap", await findObstacle("bwrap")],
  ["none", await findObstacle("none")],
  ["unconfined", isLinux ? undefined : "no /proc"],
]);
type Kind = "bwrap" | "none" | "unconfined";

/** Returns the processes whose command line or environment has a text: it is that of agents, and of all that is around them. */
function processesWith(text: string): string[] {
  return readdirSync("/proc").flatMap((id) => {
    try {
      if (!/^\d+$/.test(id) || Number(id) === process.pid) return [];
      const command = readFileSync(`/proc/${id}/cmdline`, "latin1");
      const found = command.includes(text) || readFileSync(`/proc/${id}/environ`, "latin1").includes(text);
      return found ? [`${id} ${command.replaceAll("\0", " ")}`] : [];
    } catch {
      // It has ended, or is somebody else's.
      return [];
    }
  });
}

/** Creates the directory of a job, in which agents can be run. */
async function setUp(kind: Kind) {
  const folder = temporaryFolder();
  const directory = new JobDirectory(folder, "job_1");
  await directory.prepare();
  mkdirSync(directory.tree);
  const sandbox = kind === "unconfined" ? unconfined : await createSandbox(kind, folder, true, () => {});
  const run = (command: string, signal = new AbortController().signal, directories: AgentDirectories = directory) =>
    runAgent(shellAgent(command), {
      prompt: "",
      isFollowUp: false,
      history: [],
      jobId: "job_1",
      requestId: "r1",
      directories,
      objects: folder,
      sandbox,
      network: fullNetwork,
      limits: {},
      compileCache: process.env.NODE_COMPILE_CACHE,
      onLimitExceeded: () => {},
      logFile: join(folder, "log"),
      timeLimitMs: 60_000,
      signal,
    });
  return { folder, directory, sandbox, run };
}

/** How many agents start at once. */
const agents = 6;

/** Starts agents at once and, after some time, stops them one by one. Returns what is left when they are said to have ended. */
async function stopStarting(kind: Kind, ms: number): Promise<string[]> {
  const left = Array.from({ length: agents }, async (_, index) => {
    const { folder, run } = await setUp(kind);
    const stop = new AbortController();
    const end = run("exec sleep 300", stop.signal);
    await setTimeout(ms + index);
    stop.abort();
    expect(await end).toMatchObject({ end: "stopped" });
    return processesWith(folder);
  });
  return (await Promise.all(left)).flat();
}

/** How long six agents take until they run, so that there are moments within that on every machine. */
async function startUpMs(kind: Kind): Promise<number> {
  const startedAt = performance.now();
  const started = Array.from({ length: agents }, async () => {
    const { run } = await setUp(kind);
    await run("true");
  });
  await Promise.all(started);
  return performance.now() - startedAt;
}

const moments = [50, 30, 40, 60, 20, 70, ...Array.from({ length: 60 }, (_, index) => index * 1.8)];
const kinds: [Kind, number][] = [
  ["bwrap", 2],
  ["none", 1],
  ["unconfined", 1],
];

let wholeMs: number | undefined;

describe.each(kinds)("with the sandbox %s", (kind, sampled) => {
  const obstacle = obstacles.get(kind);
  const skipped = obstacle ? `, skipped: ${obstacle}` : "";
  const possible = test.skipIf(obstacle !== undefined);

  possible(`a stop at any moment of a start leaves no process${skipped}`, async () => {
    wholeMs ??= await startUpMs(kind);
    const ms = wholeMs;
    for (const percent of rows(moments, sampled)) expect(await stopStarting(kind, (ms * percent) / 100)).toEqual([]);
  });

  possible(`no agent starts before its processes are recorded${skipped}`, async () => {
    const { folder, directory, run } = await setUp(kind);
    const stop = new AbortController();
    const end = run("touch started; exec sleep 300", stop.signal);
    await waitUntil(() => existsSync(join(directory.tree, "started")));
    const { leaders } = JSON.parse(readFileSync(directory.processes, "utf8")) as AgentProcesses;
    expect(leaders).toHaveLength(kind === "unconfined" ? 1 : 2);
    expect(leaders.map(({ id }) => identify(id))).toEqual(leaders);
    stop.abort();
    await end;
    expect(existsSync(directory.processes)).toBe(false);
    const unrecorded = { ...directory, processes: join(folder, "missing", "processes") };
    await expect(run("touch unrecorded", undefined, unrecorded)).rejects.toThrow("ENOENT");
    expect(existsSync(join(directory.tree, "unrecorded"))).toBe(false);
    expect(processesWith(folder)).toEqual([]);
  });

  const losses: [string, boolean, (supervisor: ChildProcess) => unknown][] = [
    ["loses the service", false, (supervisor) => supervisor.disconnect()],
    ["loses the service", true, (supervisor) => supervisor.disconnect()],
    ["is killed", false, (supervisor) => supervisor.kill("SIGKILL")],
    ["is killed", true, (supervisor) => supervisor.kill("SIGKILL")],
  ];
  // Others outlive their supervisor, until the service kills them.
  const possibleLosses = kind === "bwrap" ? losses : losses.slice(0, 3);
  test.skipIf(obstacle !== undefined).each(possibleLosses)(
    `a supervisor that %s leaves no process, after the agent has begun: %s${skipped}`,
    async (_, hasBegun, lose) => {
      const { folder, directory, sandbox } = await setUp(kind);
      const command = { file: "/bin/sh", args: ["-c", "touch started; exec sleep 300"] };
      const access = {
        currentDirectory: directory.tree,
        writable: [directory.tree],
        readable: [],
        hasNetwork: true,
        temporary: directory.temporary,
      };
      const isGated = sandbox.hasProcessNamespace === true;
      const { file, args, inherited } = sandbox.wrap(isGated ? behindGate(command) : command, access);
      const settings: SupervisorSettings = {
        stdoutFile: join(folder, "stdout"),
        inherited,
        gate: isGated ? gateDescriptor : undefined,
      };
      const supervisor = fork(ownFile("agents/supervisor.ts"), [JSON.stringify(settings), file, ...args], {
        cwd: directory.tree,
        detached: true,
        stdio: ["ignore", "ignore", "ignore", "ipc"],
        env: { ...process.env, AGENT_RESULT_FILE: join(directory.temporary, "result.json") },
      });
      await once(supervisor, "message");
      if (hasBegun) {
        supervisor.send("begin");
        await waitUntil(() => existsSync(join(directory.tree, "started")));
      }
      lose(supervisor);
      await waitUntil(() => processesWith(folder).length === 0);
      expect(existsSync(join(directory.tree, "started"))).toBe(hasBegun);
    },
  );
});

describe.skipIf(!isLinux)("a service that starts", () => {
  /** Starts a process with a variable. Returns it, and how it ends. */
  function start(variable: string): { child: ChildProcess; ended: Promise<unknown[]> } {
    const child = spawn("sleep", ["300"], { stdio: "ignore", env: { ...process.env, VARIABLE: variable } });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, ended: once(child, "exit") };
  }

  test("kills what is recorded, but no process with the id or the variable of another one", async () => {
    const folder = temporaryFolder();
    const [recorded, marked, other] = [start("1"), start("of the agent"), start("of the agent, too")];
    const [one, three] = [recorded, other].map(({ child }) => identify(child.pid ?? 0));
    if (one === undefined || three === undefined) throw new Error("a process has ended");
    const write = (job: string, leaders: readonly ProcessIdentity[]): string => {
      const { path, processes } = new JobDirectory(folder, job);
      mkdirSync(path, { recursive: true });
      recordProcesses(processes, { leaders, variable: "VARIABLE=of the agent" });
      return processes;
    };
    const files = [write("one", [one]), write("two", [{ ...three, start: one.start.replace(/.$/, "x") }])];
    const broken = new JobDirectory(folder, "three");
    mkdirSync(broken.path);
    writeFileSync(broken.processes, '{"leaders":[{"id":1');
    const log: string[] = [];
    await killSurvivors(folder, (line) => void log.push(line));
    expect(await Promise.all([recorded.ended, marked.ended])).toEqual([
      [null, "SIGKILL"],
      [null, "SIGKILL"],
    ]);
    expect(identify(three.id)).toEqual(three);
    expect(log).toEqual(["one: an agent was left by a service that was killed, and is killed now"]);
    expect(files.filter((file) => existsSync(file))).toEqual([]);
  });
});

const obstacle = obstacles.get("bwrap");
const hows = ["alone", "with all supervisors"] as const;
const kills = Array.from({ length: 16 }, (_, index) => (100 + index * 25) % 400).flatMap((ms) =>
  hows.map((how) => [ms, how] as const),
);

test.skipIf(obstacle !== undefined).each(rows(kills, 1))(
  `no turn in a sandbox runs twice at the same time if the service is killed %i ms after its agents began to start, %s${obstacle ? `, skipped: ${obstacle}` : ""}`,
  async (ms, how) => {
    const docs = docsRepository();
    const folder = temporaryFolder();
    const store = join(folder, "jobs.sqlite");
    /** Starts it with an agent that holds a lock while it runs `command`. */
    const start = (command: string, port = "0") => {
      const agent = `flock -n ~/lock ${command} || touch ~/overlap`;
      const options = { repository: docs.path, project: "docs", store, agent, agents: `${agents}`, port };
      return spawnService(Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]));
    };
    const homes = (file: string) => globSync(`${store}.files/jobs/*/${file}`);
    const unique = `300.0${Date.now()}`;
    const first = await start(`sleep ${unique}`);
    const creates = Array.from(
      { length: agents },
      async (_, index) => (await send(first, "docs/job", `Go ${index}`)).job,
    );
    const jobs = await Promise.all(creates);
    await waitUntil(() => homes("input/prompt.txt").length >= agents / 2);
    await setTimeout(ms);
    const ended = once(first.child, "exit");
    first.child.kill("SIGKILL");
    await ended;
    const supervisors = how === "alone" ? [] : processesWith(folder).filter((line) => line.includes("supervisor.ts"));
    for (const line of supervisors) process.kill(Number.parseInt(line, 10), "SIGKILL");
    const second = await start("true", new URL(first.url).port);
    for (const { id } of jobs) await waitForJob(second, id);
    expect(homes("home/overlap")).toEqual([]);
    expect(processesWith(unique)).toEqual([]);
  },
);
