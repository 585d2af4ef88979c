import { onTestFinished } from "vitest";
import { type Agent, shellAgent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import type { AgentOptions, AgentResult } from "../../src/agents/run-agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import type { ChangedFile } from "../../src/git/changed-files.ts";
import type { Start, StartOptions } from "../../src/git/find-start.ts";
import type { LeftOut } from "../../src/git/left-out.ts";
import type { RunningTurn, TurnResult } from "../../src/model.ts";
import type { Change, PullRequestState } from "../../src/pulls/pull-requests.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { runTurn } from "../../src/turns/turn.ts";
import type { TurnHost } from "../../src/turns/turn-host.ts";
import type { Failure, TurnPorts } from "../../src/turns/turn-ports.ts";
import { fakeMachine } from "./fake-machine.ts";

const completed: AgentResult = { end: "completed", message: "Fixed it", error: undefined };

/** The branch of a job in a repository without a disk. The next commits are named c1, c2 and so on. */
class FakeBranch {
  readonly commits: { commit: string; message: string }[] = [];
  /** What turns asked for their start. */
  readonly asked: StartOptions[] = [];
  /** What the log should say about the next start. */
  notes: string[] = [];
  /** Whether the agent changes a file. */
  isChanged = true;
  leftOut: LeftOut[] = [];
  /** The files of every commit. The id of a content is the content. */
  changed: ChangedFile[] = [];
  /** Whether the next turns start over from the target branch. */
  isOver = false;
  #made = 0;

  readonly repository: TurnPorts["repository"] = {
    objects: "/objects",
    fetch: async () => {},
    findStart: async (branch, options): Promise<Start> => {
      this.asked.push(options);
      const remoteHead = this.isOver ? undefined : this.commits.at(-1)?.commit;
      const isContinued = remoteHead !== undefined;
      const head = remoteHead ?? "base";
      return { branch, targetBranch: "main", base: "base", head, remoteHead, isContinued, notes: this.notes };
    },
    lastCommitOf: async () => undefined,
    commits: async (_base, head) => {
      const index = this.commits.findIndex(({ commit }) => commit === head);
      return this.commits.slice(0, index === -1 ? undefined : index + 1);
    },
    branchHead: async (branch) => (branch === "main" ? "base" : this.commits.at(-1)?.commit),
    commit: async (_worktree, text) => {
      const message = typeof text === "string" ? text : text({ leftOut: this.leftOut });
      const { leftOut } = this;
      if (!this.isChanged) return { commit: undefined, leftOut };
      this.#made++;
      this.commits.push({ commit: `c${this.#made}`, message });
      return { commit: `c${this.#made}`, leftOut };
    },
    changedFiles: async () => this.changed,
    paths: async () => ({ paths: ["docs/page.md", "docs/api"], submodules: ["docs/api"] }),
    readContents: async function* (ids) {
      for (const id of ids) yield { id, content: id };
    },
    keep: async () => {},
    copy: async (commit) => commit,
    push: async () => {},
    rebase: async () => undefined,
    merge: async () => ({ conflicts: [] }),
    withOwnFiles: async (commit) => ({ commit, leftOut: [] }),
    packCommit: async () => new Uint8Array(),
    unpackCommit: async () => undefined,
  };
}

/** How an agent was started. */
export interface AgentStart {
  agent: Agent;
  options: AgentOptions;
}

export interface TurnRun {
  result: TurnResult;
  /** What the job's log has of this turn. */
  log: string;
  /** Why it failed or was postponed. */
  failures: string[];
}

/** Creates a job in a store of its own, whose turns run on a machine without a disk and processes, and what they use. */
export async function setUpTurns() {
  const store: Store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "Fix it");
  const branch = new FakeBranch();
  const starts: AgentStart[] = [];
  const opened: Change[] = [];
  /** What happened to the job's directory. */
  const steps: string[] = [];
  const stop = new AbortController();
  const next: { result: AgentResult; state: PullRequestState } = { result: completed, state: "open" };
  let log = "";
  const machine = fakeMachine({ freeBytes: async () => 100_000_000 });
  const host: TurnHost = {
    prepare: async () => true,
    clean: async ({ path }) => void steps.push(`clean ${path}`),
    appendLog: (_file, text) => {
      log += text;
    },
    runAgent: async (agent, options) => {
      starts.push({ agent, options });
      return next.result;
    },
    lastOutput: async () => "",
    hideSecrets: async () => {},
    findSessions: async () => [],
    replaceHome: async () => ({ drop: async () => {}, [Symbol.asyncDispose]: async () => {} }),
    hasOwnCommits: async () => false,
    mayHaveLeftWork: async () => false,
  };
  const ports: TurnPorts = {
    store,
    repository: branch.repository,
    worktrees: {
      checkOut: async (place, { head }) => {
        steps.push(`check out ${head}`);
        return { ...place, head, identity: undefined };
      },
      takeBack: async () => void steps.push("take back"),
      release: async () => void steps.push("release"),
    },
    pullRequests: {
      open: async (change) => {
        opened.push(change);
        return change.existing ?? `https://example.com/pull/${opened.length}`;
      },
      read: async () => ({ state: next.state, target: undefined }),
      findClosed: async () => new Set(),
    },
    agent: shellAgent("agent"),
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
    folder: "/service",
    timeLimitMs: 90_000,
    largestChangeBytes: 1000,
    machine,
    host,
  };
  const take = async (): Promise<RunningTurn> => {
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is waiting");
    return turn;
  };
  /** Runs the next turn, and stores its end as a worker does. */
  const run = async (onFailed: (failure: Failure) => void = () => {}): Promise<TurnRun> => {
    const turn = await take();
    const job = await store.jobs.find("a");
    if (job === undefined) throw new Error("the job is gone");
    log = "";
    const failures: string[] = [];
    let last: Failure | undefined;
    const onFailure = (failure: Failure): void => {
      last = failure;
      failures.push(failure.reason);
      onFailed(failure);
    };
    let hasRun = false;
    const onAgentEnd = (): void => {
      hasRun = true;
    };
    const result = await runTurn(turn, job, { ...ports, onFailure, onAgentEnd }, stop.signal);
    if (result === "completed" || result === "failed") await store.runningTurns.finish(turn, result, 6, last);
    else await store.runningTurns.requeue(turn, 0, hasRun);
    return { result, log, failures };
  };
  /** Sends a message and runs its turn. */
  const runMessage = async (prompt: string): Promise<TurnRun> => {
    await store.turns.add("a", prompt, 7);
    return run();
  };
  return { store, branch, ports, machine, host, next, starts, opened, steps, stop, take, run, runMessage };
}
