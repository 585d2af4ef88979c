import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";
import { addJob, memoryStore, startNext } from "../../../support/memory-store.ts";

describe("a file", () => {
  test("keeps everything, and can only be read by its owner", async () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    {
      await using store = openSqliteStore(file);
      await store.jobs.add({ id: "a", project: "docs", createdAt: 5, model: "large" }, "One");
      const turn = await startNext(store);
      await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc");
      await store.runningTurns.finish(turn, "completed", 0);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await using store = openSqliteStore(file);
    expect(await store.jobs.find("a")).toEqual({
      id: "a",
      project: "docs",
      createdAt: 5,
      branch: "agent/a",
      state: "completed",
      idleSince: 0,
      kept: null,
      archivedAt: null,
      pullRequest: "https://example.com/pull/1",
      branchDueAt: null,
      head: "abc",
      base: null,
      session: null,
      model: "large",
    });
    expect(() => openSqliteStore(file)).toThrow("is locked: another service is running on it");
  });

  test("that cannot be opened or locked is named with the reason", () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    const reason = "unable to open database file";
    mkdirSync(file);
    expect(() => openSqliteStore(file)).toThrow(new Error(`cannot open ${file}: ${reason}`));
    const unlocked = join(temporaryFolder(), "jobs.sqlite");
    mkdirSync(`${unlocked}.lock`);
    expect(() => openSqliteStore(unlocked)).toThrow(
      new Error(`cannot lock ${unlocked} with ${unlocked}.lock: ${reason}`),
    );
  });

  test("that could not be written during a turn has what the turn reached after its end, and what later turns reach", async () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    await using store = openSqliteStore(file);
    await addJob(store, "a");
    const turn = await startNext(store);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await store.runningTurns.setReport(turn, { answer: "Done" });
    await store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc");
    other.exec("COMMIT");
    other.close();
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: null, head: null });
    await store.runningTurns.finish(turn, "completed", 0);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Done" }]);
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/1", head: "abc" });
    await store.turns.add("a", "Two", 0);
    const next = await startNext(store);
    await store.runningTurns.setPullRequest(next, "https://example.com/pull/2", "def");
    await store.runningTurns.finish(next, "completed", 0);
    expect(await store.jobs.find("a")).toMatchObject({ pullRequest: "https://example.com/pull/2", head: "def" });
  });

  test("that could not be written during a turn has what the turn reached when the turn is put back, too", async () => {
    const file = join(temporaryFolder(), "jobs.sqlite");
    await using store = openSqliteStore(file);
    await addJob(store, "a");
    const turn = await startNext(store);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await store.runningTurns.setReport(turn, { answer: "Done" });
    other.exec("COMMIT");
    other.close();
    await store.runningTurns.requeue(turn, 1000);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting", answer: "Done" }]);
  });

  test("that cannot be changed leaves no half of a change", async () => {
    const store = memoryStore();
    await addJob(store, "a");
    await expect(store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Two")).rejects.toThrow("UNIQUE");
    expect(await store.turns.add("unknown", "Two", 0)).toBe(false);
    await addJob(store, "b");
    expect((await store.turns.ofJob("a")).map(({ prompt }) => prompt)).toEqual(["One"]);
    expect((await store.turns.ofJob("b")).map(({ prompt }) => prompt)).toEqual(["One"]);
  });
});
