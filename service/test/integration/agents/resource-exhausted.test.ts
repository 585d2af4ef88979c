import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import type { SupervisorMessage } from "../../../src/agents/supervisor.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { type Machine, thisMachine } from "../../../src/machine.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";
import type { TurnPorts } from "../../../src/turns/turn-ports.ts";
import { docsRepository } from "../../support/agent-service.ts";
import { unsupervisedHost } from "../../support/unsupervised-host.ts";

afterEach(() => vi.unstubAllEnvs());

describe("a process that cannot be started", () => {
  test("does not end the service: neither Git nor an agent without free file descriptors", () => {
    const script = resolve(import.meta.dirname, "../../support/exhausted-descriptors.ts");
    const command = 'ulimit -n 100; exec "$0" "$@"';
    const output = execFileSync("/bin/sh", ["-c", command, process.execPath, script, temporaryFolder()], {
      encoding: "utf8",
    });
    expect(output.trim().split("\n")).toEqual([
      "git succeeds",
      "agent succeeds",
      "git without descriptors waits",
      "agent without descriptors waits",
      "git afterwards succeeds",
      "agent afterwards succeeds",
    ]);
  });

  test("is told by the supervisor of the agent", async () => {
    const supervisor = resolve(import.meta.dirname, "../../../src/agents/supervisor.ts");
    const settings = JSON.stringify({ stdoutFile: join(temporaryFolder(), "stdout") });
    /** Allows the agent to begin, and collects what else the supervisor says. */
    const answer = (child: ChildProcess): string[] => {
      const messages: string[] = [];
      child.on("message", (message: SupervisorMessage) => {
        if ("exhausted" in message) messages.push(message.exhausted);
        else child.send("begin");
      });
      return messages;
    };
    /** Starts it with few file descriptors. Returns its message to the service, and its exit code. */
    const run = async (descriptors: number) => {
      const command = `ulimit -n ${descriptors}; exec "$0" "$@"`;
      const args = ["-c", command, process.execPath, supervisor, settings, "/bin/true"];
      const child = spawn("/bin/sh", args, { stdio: ["ignore", "ignore", "ignore", "ipc"] });
      const messages = answer(child);
      const [code] = await once(child, "close");
      return { messages, code };
    };
    // How many Node itself needs depends on its version: one less than the least that is enough, between these, is too few.
    let [tooFew, enough] = [10, 40];
    expect((await run(enough)).code).toBe(0);
    while (enough - tooFew > 1) {
      const middle = Math.floor((tooFew + enough) / 2);
      if ((await run(middle)).code === 0) enough = middle;
      else tooFew = middle;
    }
    expect(await run(tooFew)).toEqual({ messages: [expect.stringContaining("EMFILE")], code: 127 });
    const child = fork(supervisor, [settings, "/no/such/agent"], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const messages = answer(child);
    expect((await once(child, "close"))[0]).toBe(127);
    expect(messages).toEqual([]);
  });
});

describe("a turn", () => {
  let bin: string;
  let attemptsFile: string;

  /** In front of `PATH`, there is a Git that finds no space for the command named in a file. */
  beforeEach(() => {
    bin = temporaryFolder();
    attemptsFile = join(temporaryFolder(), "attempts");
    writeFileSync(attemptsFile, "");
    say("fatal: cannot write: No space left on device");
    const real = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    writeFileSync(
      join(bin, "git"),
      `#!/bin/sh
if [ -e "${bin}/full" ]; then
  read -r full < "${bin}/full"
  for argument; do
    if [ "$argument" = "$full" ]; then cat "${bin}/message" >&2; exit 128; fi
  done
fi
exec ${real} "$@"
`,
    );
    chmodSync(join(bin, "git"), 0o755);
  });

  const fill = (command: string) => writeFileSync(join(bin, "full"), `${command}\n`);
  const say = (message: string) => writeFileSync(join(bin, "message"), message);
  const free = () => rmSync(join(bin, "full"), { force: true });
  /** There is space after the first pause. */
  const sleep: Machine["sleep"] = async (ms, signal) => {
    if (ms !== 1000) return thisMachine.sleep(ms, signal);
    free();
  };
  const attempts = () => readFileSync(attemptsFile, "utf8").length;

  async function setUp(ports: Partial<TurnPorts> = {}) {
    vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
    const docs = docsRepository();
    const folder = temporaryFolder();
    const repository = new GitRepository({ url: docs.path, folder });
    await repository.open();
    const store = openSqliteStore(":memory:");
    await store.jobs.add({ id: "job_1", project: "docs", createdAt: 0 }, "Say more");
    const all: TurnPorts = {
      store,
      repository,
      worktrees: new Worktrees({ repository, folder, kept: 1, slowCheckoutMs: 3_600_000 }),
      pullRequests: {
        open: async () => "https://example.com/pull/1",
        read: async () => ({ state: "open", target: undefined }),
        findClosed: async () => new Set(),
      },
      agent: shellAgent(`printf x >> '${attemptsFile}'; printf more >> README.md`),
      host: unsupervisedHost,
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      folder,
      timeLimitMs: 60_000,
      largestChangeBytes: 1_000_000,
      machine: { ...thisMachine, sleep },
      ...ports,
    };
    /** Runs the turn as an engine does. */
    const run = async () => {
      const turn = await store.runningTurns.startNext();
      const job = await store.jobs.find("job_1");
      if (!turn || !job) throw new Error("no turn is waiting");
      const result = await runTurn(turn, job, all, new AbortController().signal);
      if (result === "postponed") await store.runningTurns.requeue(turn);
      return result;
    };
    const log = () => readFileSync(join(folder, "logs/job_1.log"), "utf8");
    return { docs, run, log, store };
  }

  test.each([["fetch"], ["for-each-ref"], ["read-tree"]])(
    "waits if there is no space for git %s before the agent runs",
    async (command) => {
      const { docs, run, log } = await setUp();
      fill(command);
      expect(await run()).toBe("postponed");
      expect(await run()).toBe("postponed");
      expect(attempts()).toBe(0);
      expect(log()).toContain("The machine lacks something that the turn needs, so it waits and is started again: git");
      free();
      expect(await run()).toBe("completed");
      expect(docs.git("rev-list", "--count", "main..agent/job_1")).toBe("1");
    },
  );

  test("waits if git says that it cannot write, without the system's reason", async () => {
    const { docs, run } = await setUp();
    say("error: cannot update ref 'refs/heads/agent/job_2': couldn't write '/store/refs/heads/agent/job_2.lock'");
    docs.git("branch", "moved", "main");
    fill("fetch");
    expect(await run()).toBe("postponed");
    free();
    expect(await run()).toBe("completed");
  });

  test.each([
    ["update-index", "fatal: cannot write: No space left on device"],
    ["write-tree", "fatal: sha1 file '/store/index-commit.lock' write error. Out of diskspace"],
    ["commit-tree", "fatal: cannot write: No space left on device"],
  ])("commits what its agent did once there is space for git %s", async (command, message) => {
    const { docs, run, log } = await setUp();
    say(message);
    fill(command);
    expect(await run()).toBe("completed");
    expect(attempts()).toBe(1);
    expect(log()).toContain("its change cannot be committed now. That is tried again for an hour: git ");
    expect(docs.git("show", "agent/job_1:README.md")).toMatch(/[^e]more$/);
  });

  test("waits if its commit cannot be pushed, and does not run the agent again, even if the base has moved", async () => {
    const { docs, run, log } = await setUp();
    fill("push");
    expect(await run()).toBe("postponed");
    const tree = docs.git("rev-parse", "main^{tree}");
    docs.git("update-ref", "refs/heads/main", docs.git("commit-tree", tree, "-p", "main", "-m", "Move"));
    expect(await run()).toBe("postponed");
    expect(log()).not.toContain("It is run again");
    free();
    expect(await run()).toBe("completed");
    expect(attempts()).toBe(1);
    expect(docs.git("rev-parse", "agent/job_1~1")).toBe(docs.git("rev-parse", "main"));
  });

  test("waits if the agent cannot be started, without counting an attempt", async () => {
    let isExhausted = true;
    const sandbox = {
      ...unconfined,
      wrap: (command: Parameters<typeof unconfined.wrap>[0]) => {
        if (isExhausted) throw new ResourceExhausted("no process can be started now: spawn EAGAIN");
        return command;
      },
    };
    const { run, store } = await setUp({ sandbox, host: turnHost });
    for (let count = 0; count < 4; count++) expect(await run()).toBe("postponed");
    expect((await store.turns.ofJob("job_1"))[0]?.attempts).toBe(0);
    isExhausted = false;
    expect(await run()).toBe("completed");
    expect(attempts()).toBe(1);
  });

  test("waits before the agent runs if the disk is nearly full", async () => {
    const { run, log } = await setUp({ minFreeBytes: 1e18 });
    expect(await run()).toBe("postponed");
    expect(attempts()).toBe(0);
    expect(log()).toContain("less than 1000000000000 MB are free in ");
  });

  test("fails as before if the repository cannot be read", async () => {
    const { docs, run } = await setUp();
    rmSync(docs.path, { recursive: true });
    expect(await run()).toBe("failed");
  });
});
