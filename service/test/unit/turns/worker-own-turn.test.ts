import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import type { Start } from "../../../src/git/find-start.ts";
import { Repository } from "../../../src/git/repository.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { PerProject } from "../../../src/per-project.ts";
import { SqliteReadyTurns } from "../../../src/store/sqlite/ready-turns.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { Worker } from "../../../src/turns/worker.ts";
import { memoryDatabase } from "../../support/memory-database.ts";

/** A repository in which finding a start lasts until the test ends it, with an error. */
class SlowRepository extends Repository {
  readonly starts: ((error: Error) => void)[] = [];

  override findStart(): Promise<Start> {
    return new Promise((_, fail) => this.starts.push(fail));
  }

  override async lastCommitOf(): Promise<undefined> {}
}

/** Leases that expire when the test says so. */
class ExpiringTurns extends SqliteReadyTurns {
  #listener = () => {};

  override onReady(listener?: () => void): void {
    this.#listener = listener ?? this.#listener;
  }

  announce(): void {
    this.#listener();
  }
}

test("a worker that has lost a turn unnoticed and takes it again runs it only after its first run has ended", async () => {
  const folder = temporaryFolder();
  const log: string[] = [];
  const database = memoryDatabase();
  const ready = new ExpiringTurns();
  const store = new Store({ database, ready, nextTurnId: countTurnIds });
  const repository = new SlowRepository({ url: "/nowhere", folder });
  const worker = new Worker({
    store,
    projects: PerProject.same({
      repository,
      worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 0 }),
      pullRequests: { open: async () => "", stateOf: async () => "open", findClosed: async () => new Set() },
      agent: shellAgent(""),
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      largestChangeBytes: 1_000_000,
      timeLimitMs: 1000,
    }),
    folder,
    agents: 2,
    signal: new AbortController().signal,
    log: (line) => void log.push(line),
  });
  await store.jobs.add({ id: "job_1", project: "docs", createdAt: 0 }, "Go on");
  const waitForStarts = (count: number) =>
    vi.waitFor(() => expect(repository.starts).toHaveLength(count), { timeout: 10_000 });
  await worker.start();
  await waitForStarts(1);
  await database.run("INSERT INTO ready (turn, project) VALUES (1, 'docs')");
  ready.announce();
  const isTaken = async () => expect(await database.row("SELECT 1 FROM ready")).toBeUndefined();
  await vi.waitFor(isTaken, { timeout: 10_000 });
  expect(repository.starts).toHaveLength(1);
  repository.starts[0]?.(new Error("the first run ends"));
  await waitForStarts(2);
  repository.starts[1]?.(new Error("no route"));
  await worker.drain();
  expect(log.filter((line) => line.includes("turn 1")).slice(1)).toEqual([
    "job_1: turn 1 was taken over by another worker, because its lease had expired; nothing more is stored of it here",
    "job_1: turn 1 was interrupted on another worker, resuming",
    "job_1: turn 1 started",
    "job_1: turn 1 failed: no route",
  ]);
});
