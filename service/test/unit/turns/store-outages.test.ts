import { expect, onTestFinished, test } from "vitest";
import { builtInEditor } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import type { Database, Transaction, Value } from "../../../src/store/sql.ts";
import { Connection } from "../../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../../src/store/sqlite/database.ts";
import { machineClock } from "../../../src/store/sqlite/open-store.ts";
import { openSchema } from "../../../src/store/sqlite/schema.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import type { TurnPorts } from "../../../src/turns/turn-ports.ts";
import { FakeMachine, fakeMachine } from "../../support/fake-machine.ts";

/** Makes the transactions that run a certain statement fail: before they are committed, or afterwards. */
class FailingDatabase extends SqliteDatabase implements Database {
  failure: { statement: string; error: Error; isCommitted: boolean } | undefined;
  /** Whether nothing can be read or written. */
  isOut = false;

  override async rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    if (this.isOut) throw new StoreUnavailable("the connection was lost");
    return super.rows(sql, ...values);
  }

  override async row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return (await this.rows<T>(sql, ...values))[0];
  }

  override async transaction<T>(change: (transaction: Transaction) => Promise<T>): Promise<T> {
    if (this.isOut) throw new StoreUnavailable("the connection was lost");
    let isFailing = false;
    const watch = (transaction: Transaction): Transaction => {
      const check = (sql: string): void => {
        isFailing ||= this.failure !== undefined && sql.includes(this.failure.statement);
        if (isFailing && this.failure?.isCommitted === false) throw this.failure.error;
      };
      return {
        ...transaction,
        run: async (sql, ...values) => {
          check(sql);
          return transaction.run(sql, ...values);
        },
        rows: async (sql, ...values) => {
          check(sql);
          return transaction.rows(sql, ...values);
        },
      };
    };
    const result = await super.transaction((transaction) => change(watch(transaction)));
    if (isFailing && this.failure) throw this.failure.error;
    return result;
  }
}

async function createStore() {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  const database = new FailingDatabase(connection);
  const store = new Store({ database, ready: new ReadyTurns({ clock: machineClock }), nextTurnId: countTurnIds });
  onTestFinished(() => store[Symbol.asyncDispose]());
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "Fix it");
  return { database, store };
}

/** The ports of a turn whose agent changes a file, and that counts the runs of the agent. */
function createPorts(store: Store) {
  let runs = 0;
  const commits: { commit: string; message: string }[] = [];
  const branch = "agent/a";
  const repository: TurnPorts["repository"] = {
    objects: "/objects",
    fetch: async () => {},
    findStart: async () => {
      const remoteHead = commits.at(-1)?.commit;
      const isContinued = remoteHead !== undefined;
      return {
        branch,
        targetBranch: "main",
        base: "base",
        head: remoteHead ?? "base",
        remoteHead,
        isContinued,
        notes: [],
      };
    },
    lastCommitOf: async () => undefined,
    commits: async () => commits,
    branchHead: async (name) => (name === "main" ? "base" : commits.at(-1)?.commit),
    commit: async (_worktree, text) => {
      const message = typeof text === "string" ? text : text({ leftOut: [] });
      commits.push({ commit: "c1", message });
      return { commit: "c1", leftOut: [] };
    },
    changedFiles: async () => [],
    paths: async () => ({ paths: [], submodules: [] }),
    readContents: async function* () {},
    keep: async () => {},
    copy: async (commit) => commit,
    push: async () => {},
    rebase: async () => undefined,
    merge: async () => ({ conflicts: [] }),
    withOwnFiles: async (commit) => ({ commit, leftOut: [] }),
    packCommit: async () => new Uint8Array(),
    unpackCommit: async () => undefined,
  };
  const { signal } = new AbortController();
  const log = () => {};
  const host: TurnHost = {
    prepare: async () => true,
    clean: async () => {},
    appendLog: log,
    runAgent: async () => {
      runs++;
      return { end: "completed", message: "Fixed it", error: undefined };
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
    repository,
    worktrees: {
      checkOut: async (place, { head }) => ({ ...place, head, identity: undefined }),
      takeBack: async () => {},
      release: async () => {},
    },
    pullRequests: new LocalPullRequests({
      store: store.pullRequests,
      repository: {
        ...repository,
        list: async () => {},
        fetchIfBehind: async () => {},
        targetBranch: async () => "main",
        branchHeads: async () => new Map(),
        isMerged: async () => false,
        findMerged: async () => new Map(),
      },
      baseUrl: () => "http://127.0.0.1",
      signal,
      log,
    }),
    agent: builtInEditor,
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
    folder: "/nowhere",
    timeLimitMs: 1000,
    largestChangeBytes: 1000,
    machine: fakeMachine(),
    host,
  };
  return { ports, host, agentRuns: () => runs };
}

const stop = new AbortController();

/** Takes the next turn and runs it. Stores that it failed only if that is asked for. */
async function runNext(store: Store, ports: TurnPorts, end: "failed" | "none" = "none") {
  const turn = await store.runningTurns.startNext();
  const job = await store.jobs.find("a");
  if (turn === undefined || job === undefined) throw new Error("no turn is waiting");
  const result = await runTurn(turn, job, ports, stop.signal);
  if (end === "failed") await store.runningTurns.finish(turn, end, 6);
  return { turn, result };
}

const lost = new StoreUnavailable("the connection was lost");
const unknown = new OutcomeUnknown("the connection was lost while a change was stored");

test.each([
  ["cannot be stored", lost, false],
  ["may have been stored", unknown, true],
  ["may not have been stored", unknown, false],
])("a turn whose pull request %s waits for the store", async (_, error, isCommitted) => {
  const { store, database } = await createStore();
  const { ports, agentRuns } = createPorts(store);
  database.failure = { statement: 'INSERT INTO "pullRequest"', error, isCommitted };
  ports.machine = fakeMachine({
    sleep: async () => {
      database.failure = undefined;
    },
  });
  expect((await runNext(store, ports)).result).toBe("completed");
  expect(agentRuns()).toBe(1);
  expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "http://127.0.0.1/pull/1", head: "c1" });
  expect(await store.pullRequests.newestOf("a", 5)).toHaveLength(1);
});

test.each([
  ["changes something", true, undefined],
  ["changes nothing", false, undefined],
  ["changes nothing and continues a session that costs money", false, { session: "s", totalUsd: 2 }],
])(
  "an outage that begins while an agent runs that %s makes nobody run it again",
  async (_, isChanging, sessionCost) => {
    const { store, database } = await createStore();
    const { ports, host, agentRuns } = createPorts(store);
    // Work of an earlier turn is on the branch, so that a turn without a change asks for its pull request, too.
    await runNext(store, ports, "failed");
    await store.turns.add("a", "More", 7);
    const { runAgent } = host;
    host.prepare = async () => false;
    host.runAgent = async (...args) => {
      database.isOut = true;
      return { ...(await runAgent(...args)), sessionCost };
    };
    if (!isChanging) ports.repository.commit = async () => ({ commit: undefined, leftOut: [] });
    let pauses = 0;
    ports.machine = fakeMachine({
      sleep: async (_ms, signal) => {
        // The time limit of the commit is none of these pauses.
        if (signal === stop.signal && ++pauses % 2 === 0) database.isOut = !database.isOut;
      },
    });
    const { turn, result } = await runNext(store, ports);
    expect(result).toBe("completed");
    expect(agentRuns()).toBe(2);
    database.isOut = false;
    await store.runningTurns.finish(turn, result as "completed", 8);
    expect((await store.turns.ofJob("a"))[1]).toMatchObject({ state: "completed", attempts: 1, answer: "Fixed it" });
  },
);

test("a turn that is taken again in an outage, after its agent has run, is postponed, and its agent is not run again", async () => {
  const { store, database } = await createStore();
  const { ports, agentRuns } = createPorts(store);
  ports.repository.commit = async () => ({ commit: undefined, leftOut: [] });
  expect((await runNext(store, ports)).result).toBe("completed");
  // Its lease expires before its end is stored.
  await store.runningTurns.requeueInterrupted();
  const [turn, job] = [await store.runningTurns.startNext(), await store.jobs.find("a")];
  if (turn === undefined || job === undefined) throw new Error("no turn is waiting");
  database.isOut = true;
  expect(await runTurn(turn, job, ports, stop.signal)).toBe("postponed");
  database.isOut = false;
  expect(await runTurn(turn, job, ports, stop.signal)).toBe("completed");
  expect(agentRuns()).toBe(1);
});

test("what an agent did is stored by a worker that has lost its turn in an outage, once that is over", async () => {
  const { store, database } = await createStore();
  const { ports, host, agentRuns } = createPorts(store);
  ports.repository.commit = async () => ({ commit: undefined, leftOut: [] });
  const { runAgent } = host;
  host.runAgent = async (...args) => {
    database.isOut = true;
    return runAgent(...args);
  };
  const lost = new AbortController();
  ports.machine = fakeMachine({
    sleep: async (_ms, signal) => {
      if (signal !== lost.signal) return;
      database.isOut = false;
      lost.abort(new LeaseLost(1));
    },
  });
  const [turn, job] = [await store.runningTurns.startNext(), await store.jobs.find("a")];
  if (turn === undefined || job === undefined) throw new Error("no turn is waiting");
  // Whatever it returns, the store would refuse its end.
  await runTurn(turn, job, ports, lost.signal);
  expect(await store.turns.ofJob("a")).toMatchObject([{ stage: "made", made: "{}", answer: "Fixed it" }]);
  await store.runningTurns.requeueInterrupted();
  expect((await runNext(store, ports)).result).toBe("completed");
  expect(agentRuns()).toBe(1);
});

test("the attempt counts of a turn that is postponed after its agent has run", async () => {
  const { store } = await createStore();
  const { ports, agentRuns } = createPorts(store);
  ports.repository.commit = async () => {
    throw new ResourceExhausted("disk full");
  };
  const results: string[] = [];
  for (let time = 1; time <= 3; time++) {
    let hasRun = false;
    const onAgentEnd = () => {
      hasRun = true;
    };
    const machine = new FakeMachine();
    const { turn, result } = await machine.passUntil(runNext(store, { ...ports, machine, onAgentEnd }, "none"));
    results.push(result);
    if (result === "postponed") await store.runningTurns.requeue(turn, 0, hasRun);
  }
  expect(results).toEqual(["postponed", "postponed", "failed"]);
  expect(agentRuns()).toBe(2);
});

test("a turn of which it is unknown whether its attempt was counted is postponed, and no agent is run", async () => {
  const { store, database } = await createStore();
  const { ports, agentRuns } = createPorts(store);
  database.failure = { statement: "attempts = attempts + 1", error: unknown, isCommitted: true };
  const { turn, result } = await runNext(store, ports);
  expect(result).toBe("postponed");
  expect(agentRuns()).toBe(0);
  database.failure = undefined;
  await store.runningTurns.requeue(turn);
  expect((await store.runningTurns.startNext())?.attempts).toBe(0);
});

test.each([
  ["was", true],
  ["was not", false],
])("an answer of which it is unknown whether it %s stored is stored once the store is back", async (_, isCommitted) => {
  const { store, database } = await createStore();
  const { ports } = createPorts(store);
  database.failure = { statement: "SET answer", error: unknown, isCommitted };
  ports.machine = fakeMachine({
    sleep: async () => {
      database.failure = undefined;
    },
  });
  const { turn, result } = await runNext(store, ports);
  expect(result).toBe("completed");
  await store.runningTurns.finish(turn, "completed", 6);
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Fixed it" }]);
});

test("a store with a clock counts by it, whatever the clocks of those say that use it", async () => {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  const now = 1_800_000_000_000;
  const store = new Store({
    database: new SqliteDatabase(connection),
    ready: new ReadyTurns({ clock: machineClock }),
    nextTurnId: countTurnIds,
    clock: () => String(now),
  });
  onTestFinished(() => store[Symbol.asyncDispose]());
  const hourMs = 3_600_000;
  const create = (index: number, at: number) =>
    store.jobs.add({ id: `job ${index}`, project: "docs", createdAt: at }, "Fix it", at);
  for (let index = 0; index < 100; index++) expect(await create(index, now - 2 * hourMs)).toBeUndefined();
  expect(await create(100, now + 2 * hourMs)).toEqual({ retryAfterMs: hourMs });
  expect(await create(101, now - 2 * hourMs)).toEqual({ retryAfterMs: hourMs });
});
