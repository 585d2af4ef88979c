import { join } from "node:path";
import { scratchFolder } from "../../../bench/scratch.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { shellAgent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { GitRepository } from "../../src/git/git-repository.ts";
import { Worktrees } from "../../src/git/worktrees.ts";
import { LocalPullRequests } from "../../src/pulls/local.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { runTurn } from "../../src/turns/turn.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";

export interface StorageShare {
  /** Milliseconds of a turn in methods of the store. */
  storeMs: number;
  /** Milliseconds of a turn, with an agent that needs no time. */
  turnMs: number;
}

const turns = 30;
const warmUpTurns = 5;

export async function postgresShare(): Promise<StorageShare> {
  await using postgres = await PostgresServer.start();
  await using store = await openPostgresStore({ url: postgres.url, log: () => {} });
  return await measureShare(store);
}

export async function sqliteShare(): Promise<StorageShare> {
  using scratch = scratchFolder();
  await using store = openSqliteStore(join(scratch.path, "jobs.sqlite"));
  return await measureShare(store);
}

/** Runs turns one after another. */
async function measureShare(plain: Store): Promise<StorageShare> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const spent = { ms: 0 };
  const store = timed(plain, spent);
  const folder = scratch.path;
  const repository = new GitRepository({ url: docs.path, folder });
  await repository.open();
  const worktrees = new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 3000 });
  const { signal } = new AbortController();
  const log = () => {};
  const pullRequests = new LocalPullRequests({
    store: store.pullRequests,
    repository,
    baseUrl: () => "http://127.0.0.1:1",
    signal,
    log,
  });
  const options = {
    agent: shellAgent("echo more >> README.md"),
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
  };
  const run = { store, repository, worktrees, pullRequests, folder, timeLimitMs: 600_000, largestChangeBytes: 1e9 };
  let startedAt = performance.now();
  for (let index = 0; index < warmUpTurns + turns; index++) {
    if (index === warmUpTurns) {
      spent.ms = 0;
      startedAt = performance.now();
    }
    const id = `job_${index}`;
    // Its client waits for this, and not a turn.
    await plain.jobs.add({ id, project: "demo", createdAt: Date.now() }, "Say more", index);
    const turn = await store.runningTurns.startNext();
    const job = await store.jobs.find(id);
    if (turn === undefined || job === undefined) throw new Error("no turn is waiting");
    const result = await runTurn(turn, job, { ...options, ...run }, signal);
    if (result !== "completed") throw new Error(`the turn ${result}`);
    await store.runningTurns.finish(turn, result, Date.now());
  }
  return { storeMs: spent.ms / turns, turnMs: (performance.now() - startedAt) / turns };
}

/** Adds to `spent` the time during which at least one method has not returned. */
function timed(store: Store, spent: { ms: number }): Store {
  let running = 0;
  let since = 0;
  const measured = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value === "object" && value !== null) return measured(value);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (running++ === 0) since = performance.now();
          const result: unknown = value.apply(target, args);
          return Promise.resolve(result).finally(() => {
            if (--running === 0) spent.ms += performance.now() - since;
          });
        };
      },
    });
  return measured(store);
}
