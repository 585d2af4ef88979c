import { expect, onTestFinished, test } from "vitest";
import { builtInEditor } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import type { Database, Transaction } from "../../../src/store/sql.ts";
import { Connection } from "../../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../../src/store/sqlite/database.ts";
import { SqliteReadyTurns } from "../../../src/store/sqlite/ready-turns.ts";
import { openSchema } from "../../../src/store/sqlite/schema.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { TurnPorts } from "../../../src/turns/turn-ports.ts";
import { fakeMachine } from "../../support/fake-machine.ts";

/** Makes the transactions that run a certain statement fail: before they are committed, or afterwards. */
class FailingDatabase extends SqliteDatabase implements Database {
  failure: { statement: string; error: Error; isCommitted: boolean } | undefined;

  override async transaction<T>(change: (transaction: Transaction) => Promise<T>): Promise<T> {
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
  const store = new Store({ database, ready: new SqliteReadyTurns(), nextTurnId: countTurnIds });
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
    branchHead: async () => commits.at(-1)?.commit,
    commit: async (_worktree, message) => {
      commits.push({ commit: "c1", message });
      return { commit: "c1", leftOut: [] };
    },
    changedFiles: async () => [],
    readContents: async function* () {},
    push: async () => {},
    rebase: async () => undefined,
    withOwnFiles: async (commit) => commit,
  };
  const { signal } = new AbortController();
  const log = () => {};
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
    host: {
      prepare: async () => true,
      clean: async () => {},
      appendLog: log,
      runAgent: async () => {
        runs++;
        return { end: "completed", message: "Fixed it", error: undefined };
      },
      lastOutput: async () => "",
      hasOwnCommits: async () => false,
    },
  };
  return { ports, agentRuns: () => runs };
}

/** Takes the next turn and runs it. Stores its end as a worker does. */
async function runNext(store: Store, ports: TurnPorts) {
  const turn = await store.runningTurns.startNext();
  const job = await store.jobs.find("a");
  if (turn === undefined || job === undefined) throw new Error("no turn is waiting");
  const result = await runTurn(turn, job, ports, new AbortController().signal);
  return { turn, result };
}

const lost = new StoreUnavailable("the connection was lost");
const unknown = new OutcomeUnknown("the connection was lost while a change was stored");

test.each([
  ["cannot be stored", lost, false],
  ["may have been stored", unknown, true],
  ["may not have been stored", unknown, false],
])(
  "a turn whose pull request %s is postponed, and opens it without running the agent again",
  async (_, error, isCommitted) => {
    const { store, database } = await createStore();
    const { ports, agentRuns } = createPorts(store);
    database.failure = { statement: 'INSERT INTO "pullRequest"', error, isCommitted };
    const { turn, result } = await runNext(store, ports);
    expect(result).toBe("postponed");
    database.failure = undefined;
    await store.runningTurns.requeue(turn);
    expect((await runNext(store, ports)).result).toBe("completed");
    expect(agentRuns()).toBe(1);
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "http://127.0.0.1/pull/1", head: "c1" });
    expect(await store.pullRequests.newestOf("a", 5)).toHaveLength(1);
  },
);

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
])(
  "an answer of which it is unknown whether it %s stored is stored with the end of the turn",
  async (_, isCommitted) => {
    const { store, database } = await createStore();
    const { ports } = createPorts(store);
    database.failure = { statement: "SET answer", error: unknown, isCommitted };
    const { turn, result } = await runNext(store, ports);
    expect(result).toBe("completed");
    database.failure = undefined;
    await store.runningTurns.finish(turn, "completed", 6);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Fixed it" }]);
  },
);

test("a store with a clock counts by it, whatever the clocks of those say that use it", async () => {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  const now = 1_800_000_000_000;
  const store = new Store({
    database: new SqliteDatabase(connection),
    ready: new SqliteReadyTurns(),
    nextTurnId: countTurnIds,
    now: async () => now,
  });
  onTestFinished(() => store[Symbol.asyncDispose]());
  const hourMs = 3_600_000;
  const create = (index: number, at: number) =>
    store.jobs.add({ id: `job ${index}`, project: "docs", createdAt: at }, "Fix it", at);
  for (let index = 0; index < 100; index++) expect(await create(index, now - 2 * hourMs)).toBeUndefined();
  expect(await create(100, now + 2 * hourMs)).toEqual({ retryAfterMs: hourMs });
  expect(await create(101, now - 2 * hourMs)).toEqual({ retryAfterMs: hourMs });
});
