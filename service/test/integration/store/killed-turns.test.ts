import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { jobBranch, type RunningTurn } from "../../../src/model.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { TurnPorts } from "../../../src/turns/turn-ports.ts";
import { memoryHost } from "../../support/memory-host.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";
import { memoryWorktrees } from "../../support/memory-worktrees.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";

/*
 * A worker is killed before each thing that it does for a turn, and another one takes the turn over, with each of the stores. What people
 * do meanwhile is in the unit tests.
 */

const server = postgresOfFile();

/** The stores of two workers, and what lets the lease of the first one expire. */
interface Stores {
  one: Store;
  two: Store;
  expire(): Promise<unknown>;
}

function openSqlite(): Promise<Stores> {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  return Promise.resolve({ one: store, two: store, expire: () => store.runningTurns.requeueInterrupted() });
}

async function openPostgres(): Promise<Stores> {
  const url = await server().createStoreDatabase();
  const open = async (superviseMs: number): Promise<Store> => {
    const store = await openPostgresStore({ url, log: () => {}, times: { ...patient, superviseMs } });
    onTestFinished(() => store[Symbol.asyncDispose]());
    return store;
  };
  const expire = async (): Promise<void> => {
    await server().query(url, `UPDATE agent_jobs.turn SET "leaseUntil" = 1 WHERE lease IS NOT NULL`);
    await server().query(url, "UPDATE agent_jobs.supervision SET since = 1");
  };
  return { one: await open(600_000), two: await open(50), expire };
}

const effects = /^(?:countAttempt|setMade|recordPush|setPullRequest|finish|push|commit|keep|open|runAgent)$/;

/** Returns what makes ports those of a process that dies before one of its effects: no call returns then, or does anything. */
function dyingBefore(effect: number) {
  const { promise, resolve } = Promise.withResolvers<string>();
  let begun = 0;
  let isDead = false;
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (effects.test(String(name)) && ++begun === effect) {
            isDead = true;
            resolve(String(name));
          }
          return isDead ? new Promise(() => {}) : Reflect.apply(value, target, args);
        };
      },
    });
  return { wrap, died: promise };
}

async function take(store: Store): Promise<RunningTurn> {
  for (;;) {
    const turn = await store.runningTurns.startNext();
    if (turn !== undefined) return turn;
    await setTimeout(10);
  }
}

test.each([
  ["SQLite", openSqlite],
  ["Postgres", openPostgres],
])(
  "a turn whose worker is killed goes on where it stood, with one pull request and one agent from its end on, with %s",
  async (_, open) => {
    const { one, two, expire } = await open();
    const found: unknown[] = [];
    for (let effect = 1; ; effect++) {
      const job = `job_00000000-0000-4000-8000-${String(effect).padStart(12, "0")}`;
      const remote = new MemoryRemote();
      const repository = new MemoryRepository(remote);
      await repository.open();
      let agents = 0;
      /** Runs the next turn to its end. */
      const run = async (store: Store, wrap: <Port extends object>(port: Port) => Port): Promise<string> => {
        const runningTurns = wrap(store.runningTurns);
        const host = wrap({
          ...memoryHost,
          runAgent: async (...[, { directories }]: Parameters<typeof memoryHost.runAgent>) => {
            repository.edit(directories.tree, { "page.md": `By agent ${++agents}\n` });
            return { end: "completed", message: "Done", error: undefined } as const;
          },
        });
        const local = new LocalPullRequests({
          store: store.pullRequests,
          repository,
          baseUrl: () => "https://example.com",
          signal: new AbortController().signal,
          log: () => {},
        });
        const ports: TurnPorts = {
          ...memoryPorts(),
          store: new Proxy(store, {
            get: (target, name) => (name === "runningTurns" ? runningTurns : Reflect.get(target, name)),
          }),
          repository: wrap(repository),
          worktrees: memoryWorktrees(repository),
          pullRequests: wrap(local),
          host,
        };
        const turn = await take(store);
        const stored = await store.jobs.find(turn.job);
        if (stored === undefined) throw new Error("the job is gone");
        const result = await runTurn(turn, stored, ports, new AbortController().signal);
        if (result === "completed" || result === "failed") await runningTurns.finish(turn, result, 6);
        return result;
      };
      await one.jobs.add({ id: job, project: "docs", createdAt: effect }, "Fix it");
      const { wrap, died } = dyingBefore(effect);
      const end = await Promise.race([died, run(one, wrap)]);
      if (end === "completed") break;
      const isMade = repository.jobs.has(job);
      await expire();
      const result = await run(two, (port) => port);
      const [turn] = await two.turns.ofJob(job);
      const pulls = await two.pullRequests.newestOf(job, 5);
      const pages = remote.heads.has(jobBranch(job)) ? remote.read(jobBranch(job), "page.md") : undefined;
      found.push([end, result, agents, isMade, turn?.state, turn?.stage, pulls.length, pages]);
    }
    const ofEnd = (end: string, agents: number, isMade: boolean) => [
      ...[end, "completed", agents, isMade],
      ...["completed", "published", 1, `By agent ${agents}\n`],
    ];
    expect(found).toEqual([
      ofEnd("push", 1, false),
      ofEnd("countAttempt", 1, false),
      ofEnd("runAgent", 1, false),
      // What no clone has was not made.
      ofEnd("commit", 2, false),
      ofEnd("keep", 2, false),
      ofEnd("setMade", 1, true),
      ofEnd("push", 1, true),
      ofEnd("recordPush", 1, true),
      ofEnd("open", 1, true),
      ofEnd("setPullRequest", 1, true),
      ofEnd("finish", 1, true),
    ]);
  },
);
