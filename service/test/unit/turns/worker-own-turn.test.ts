import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import type { Start } from "../../../src/git/find-start.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { PerProject } from "../../../src/per-project.ts";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import { machineClock } from "../../../src/store/sqlite/open-store.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { Worker } from "../../../src/turns/worker.ts";
import { memoryDatabase } from "../../support/memory-database.ts";

/** A repository in which finding a start lasts until the test ends it, with an error. */
class SlowRepository extends GitRepository {
  readonly starts: ((error: Error) => void)[] = [];

  override findStart(): Promise<Start> {
    return new Promise((_, fail) => this.starts.push(fail));
  }

  override async lastCommitOf(): Promise<undefined> {}
}

/** Turns of which the test knows how often they are looked for. */
class WatchedTurns extends ReadyTurns {
  /** How often the worker has looked for turns. */
  looks = 0;

  override mayHaveTurns(...args: Parameters<ReadyTurns["mayHaveTurns"]>): Promise<boolean> {
    this.looks++;
    return super.mayHaveTurns(...args);
  }
}

/** Starts a worker with one job, whose turn is being run. */
async function setUp() {
  const folder = temporaryFolder();
  const log: string[] = [];
  const database = memoryDatabase();
  const ready = new WatchedTurns({ clock: machineClock });
  let announce = (): void => {};
  const changes = {
    announceJob: () => {},
    onJob: () => {},
    onReady: (listener: () => void) => {
      announce = listener;
    },
  };
  const store = new Store({ database, ready, changes, nextTurnId: countTurnIds });
  const repository = new SlowRepository({ url: "/nowhere", folder });
  const worker = new Worker({
    store,
    projects: PerProject.same({
      repository,
      worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 0 }),
      pullRequests: {
        open: async () => "",
        read: async () => ({ state: "open", target: undefined }),
        findClosed: async () => new Set(),
      },
      agent: shellAgent(""),
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      largestChangeBytes: 1_000_000,
      timeLimitMs: 1000,
    }),
    folder,
    agents: 3,
    signal: new AbortController().signal,
    log: (line) => void log.push(line),
  });
  await store.jobs.add({ id: "job_1", project: "docs", createdAt: 0 }, "Go on");
  const waitForStarts = (count: number) =>
    vi.waitFor(() => expect(repository.starts).toHaveLength(count), { timeout: 10_000 });
  /** Lets the lease of the turn expire unnoticed, and waits until the worker has taken it again and found no other. */
  const takeAgain = async () => {
    const before = ready.looks;
    await database.run('UPDATE turn SET "readyAt" = 1');
    announce();
    const isTaken = async () => {
      expect(await database.row('SELECT 1 FROM turn WHERE "readyAt" IS NOT NULL')).toBeUndefined();
      expect(ready.looks).toBeGreaterThanOrEqual(before + 2);
    };
    await vi.waitFor(isTaken, { timeout: 10_000 });
  };
  const lines = () => log.filter((line) => line.includes("turn 1")).slice(1);
  await worker.start();
  await waitForStarts(1);
  return { worker, repository, waitForStarts, takeAgain, lines };
}

const lost =
  "job_1: turn 1 was taken over by another worker, because its lease had expired; nothing more is stored of it here";
const resumed = ["job_1: turn 1 was interrupted on another worker, resuming", "job_1: turn 1 started"];

test("a worker that has lost a turn unnoticed and takes it again runs it only after its first run has ended", async () => {
  const { worker, repository, waitForStarts, takeAgain, lines } = await setUp();
  await takeAgain();
  expect(repository.starts).toHaveLength(1);
  repository.starts[0]?.(new Error("the first run ends"));
  await waitForStarts(2);
  repository.starts[1]?.(new Error("no route"));
  await worker.drain();
  expect(lines()).toEqual([lost, ...resumed, "job_1: turn 1 failed: no route"]);
});

test("the end of a run that was lost does not let a third one begin before the second has ended", async () => {
  const { worker, repository, waitForStarts, takeAgain, lines } = await setUp();
  await takeAgain();
  repository.starts[0]?.(new Error("the first run ends"));
  await waitForStarts(2);
  await takeAgain();
  expect(repository.starts).toHaveLength(2);
  repository.starts[1]?.(new Error("the second run ends"));
  await waitForStarts(3);
  repository.starts[2]?.(new Error("no route"));
  await worker.drain();
  expect(lines()).toEqual([lost, ...resumed, lost, ...resumed, "job_1: turn 1 failed: no route"]);
});
