import { expect, test } from "vitest";
import { keepUp, keepUpOnce } from "../../../src/git/upkeep.ts";
import type { WorktreePlace } from "../../../src/git/worktree.ts";

/** Records what is done. A turn begins after one of these steps, or runs from the start. */
function setUp({ turnBegins }: { turnBegins?: "at first" | "prepare" } = {}) {
  const steps: string[] = [];
  const needed: boolean[] = [];
  const place = { tree: "/tree", index: "/index" };
  const worktrees = {
    isIdle: turnBegins !== "at first",
    removeUnneeded: async (isNeeded: (place: WorktreePlace) => Promise<boolean>) => {
      steps.push("remove");
      needed.push(await isNeeded(place));
    },
    prepareSpares: async () => {
      steps.push("prepare");
      if (turnBegins === "prepare") worktrees.isIdle = false;
    },
  };
  const repository = {
    packIfNeeded: async () => {
      steps.push("pack");
      return true;
    },
  };
  const isNeeded = async ({ tree }: WorktreePlace): Promise<boolean> => tree === "/tree";
  return { options: { repository, worktrees, isNeeded }, steps, needed };
}

test("removes worktrees, prepares a spare one and packs while no turn runs", async () => {
  const { options, steps, needed } = setUp();
  await keepUpOnce(options);
  expect(steps).toEqual(["remove", "prepare", "pack"]);
  expect(needed).toEqual([true]);
});

test("does nothing while a turn runs", async () => {
  const { options, steps } = setUp({ turnBegins: "at first" });
  await keepUpOnce(options);
  expect(steps).toEqual([]);
});

test("does not pack if a turn began meanwhile", async () => {
  const { options, steps } = setUp({ turnBegins: "prepare" });
  await keepUpOnce(options);
  expect(steps).toEqual(["remove", "prepare"]);
});

test("logs an error once, and ends with the service", async () => {
  const { options } = setUp();
  const stop = new AbortController();
  const log: string[] = [];
  const repository = { packIfNeeded: () => Promise.reject(new Error("no space")) };
  const ended = keepUp({
    ...options,
    repository,
    signal: stop.signal,
    log: (line) => {
      log.push(line);
      stop.abort();
    },
  });
  await ended;
  expect(log).toEqual([expect.stringMatching(/Jobs are not affected\. Error: no space$/)]);
});

test("does nothing if the service has stopped, and logs no error that its end causes", async () => {
  const { options, steps } = setUp();
  const log = (): never => expect.unreachable();
  await keepUp({ ...options, signal: AbortSignal.abort(), log });
  expect(steps).toEqual([]);
  const stop = new AbortController();
  const packIfNeeded = async (): Promise<boolean> => {
    stop.abort();
    throw new Error("stopped");
  };
  await keepUp({ ...options, repository: { packIfNeeded }, signal: stop.signal, log });
  expect(steps).toEqual(["remove", "prepare"]);
});
