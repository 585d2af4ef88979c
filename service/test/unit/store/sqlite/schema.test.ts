import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import type { RunningTurn } from "../../../../src/model.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../../src/store/store.ts";

/** The schema of the first version, as it was written then. */
const firstSchema = `
  CREATE TABLE job (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, createdAt INTEGER NOT NULL, archivedAt INTEGER,
    pullRequest TEXT, head TEXT
  ) STRICT;
  CREATE TABLE turn (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, prompt TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, endedAt INTEGER, answer TEXT
  ) STRICT;
  CREATE INDEX turnOfJob ON turn (job, id);
  CREATE INDEX turnInState ON turn (state, id);
  CREATE TABLE pull (
    number INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job, title TEXT NOT NULL, branch TEXT NOT NULL,
    target TEXT NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL
  ) STRICT;
  CREATE TABLE use (kind TEXT NOT NULL, project TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX useOfProject ON use (kind, project, at);
`;

/** Creates a SQLite file. */
function fileWith(sql: string): string {
  const file = join(temporaryFolder(), "jobs.sqlite");
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  return file;
}

/** Returns the message of the error with which a file is rejected. */
function rejectionOf(file: string): string {
  try {
    openSqliteStore(file);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("the file was opened");
}

async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (!turn) throw new Error("no turn is ready");
  return turn;
}

/** Creates a store of the current version with one job. */
async function createStore(): Promise<string> {
  const file = join(temporaryFolder(), "jobs.sqlite");
  await using store = openSqliteStore(file);
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
  return file;
}

describe.each([
  ["the first version", ""],
  ["the first version before it had answers", "ALTER TABLE turn DROP COLUMN answer;"],
])("a store of %s", (_, change) => {
  const rows = `
    INSERT INTO job VALUES ('done', 'docs', 1, NULL, 'http://127.0.0.1/pull/4', 'abc'), ('failed', 'docs', 2, 9, NULL, NULL),
      ('running', 'docs', 3, NULL, NULL, NULL), ('waiting', 'blog', 4, NULL, NULL, NULL);
    INSERT INTO turn (id, job, prompt, state, attempts, endedAt) VALUES
      (1, 'done', 'One', 'failed', 1, 10), (2, 'done', 'Two', 'completed', 1, 20), (3, 'failed', 'One', 'failed', 1, 30),
      (4, 'running', 'One', 'running', 1, NULL), (5, 'running', 'Two', 'waiting', 0, NULL),
      (6, 'waiting', 'One', 'completed', 1, 40), (7, 'waiting', 'Two', 'waiting', 0, NULL);
    INSERT INTO pull VALUES (4, 'done', 'Fix', 'agent/done', 'main', '000', '111');
  `;

  test("keeps its jobs, turns, pull requests and uses", async () => {
    const file = fileWith(firstSchema + change + rows);
    for (let round = 0; round < 2; round++) {
      await using store = openSqliteStore(file);
      const states = await Promise.all(["done", "failed", "running", "waiting"].map((id) => store.jobs.find(id)));
      expect(states).toMatchObject([
        { state: "completed", idleSince: 20, pullRequest: "http://127.0.0.1/pull/4", head: "abc" },
        { state: "failed", idleSince: 30, archivedAt: 9 },
        { state: "active", idleSince: null },
        { state: "active", idleSince: null },
      ]);
      expect((await store.turns.ofJob("done")).map(({ prompt, answer }) => [prompt, answer])).toEqual([
        ["One", null],
        ["Two", null],
      ]);
      expect(await store.pullRequests.find(4)).toMatchObject({ job: "done", title: "Fix", base: "000" });
      expect((await store.idleJobs.withPullRequest(9)).map(({ id }) => id)).toEqual(["done"]);
    }
    await using store = openSqliteStore(file);
    expect(await store.runningTurns.requeueInterrupted()).toEqual([{ id: 4, job: "running" }]);
    const [running, waiting] = [await startNext(store), await startNext(store)];
    expect([running, waiting]).toMatchObject([
      { id: 4, job: "running", attempts: 1 },
      { id: 7, job: "waiting" },
    ]);
    await store.runningTurns.setAnswer(running, "Done.");
    await store.runningTurns.finish(running, "completed", 50);
    const next = await startNext(store);
    expect(next).toMatchObject({ id: 5, job: "running" });
    expect(await store.turns.history(next)).toEqual([{ prompt: "One", answer: "Done.", state: "completed" }]);
    expect(await store.pullRequests.add({ job: "done", title: "", branch: "", target: "", base: "", head: "" })).toBe(
      5,
    );
  });

  test("still has its uses", async () => {
    const uses = Array.from({ length: 100 }, (_, index) => `('create', 'docs', ${index})`).join(", ");
    const file = fileWith(`${firstSchema}${change}INSERT INTO use VALUES ${uses};`);
    await using store = openSqliteStore(file);
    expect(await store.jobs.add({ id: "a", project: "docs", createdAt: 100 }, "One")).toEqual({
      retryAfterMs: 3_599_900,
    });
  });
});

test("the jobs of a store with one repository belong to that, whatever their projects are", async () => {
  // As the version before wrote it.
  const file = await createStore();
  const db = new DatabaseSync(file);
  const version = db.prepare("PRAGMA user_version").get()?.user_version;
  db.exec(`
    DROP TABLE projectRepository;
    ALTER TABLE repository DROP COLUMN main;
    PRAGMA user_version = ${Number(version) - 1};
    INSERT INTO repository VALUES ('https://example.com/docs');
    INSERT INTO job (id, project, createdAt) VALUES ('b', 'docs', 1), ('c', 'blog', 2);
  `);
  db.close();
  await using store = openSqliteStore(file);
  expect(await store.repositories.main()).toBe("https://example.com/docs");
  expect(await store.repositories.ofProjects()).toEqual(
    new Map([
      ["blog", "https://example.com/docs"],
      ["docs", "https://example.com/docs"],
    ]),
  );
});

test("an empty file becomes a store", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  writeFileSync(file, "");
  await using store = openSqliteStore(file);
  expect(await store.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
});

describe("a file that cannot be a store is rejected, and not changed", () => {
  test.each([
    ["text", () => ({ file: fileOf("# Notes, and a few more words\n".repeat(50)), says: "is not a SQLite database" })],
    [
      "another program's database",
      () => ({ file: fileWith("CREATE TABLE customer (id TEXT)"), says: "belongs to another program" }),
    ],
    [
      "another program's database with a version",
      () => ({
        file: fileWith("CREATE TABLE job (id TEXT); PRAGMA user_version = 1;"),
        says: "belongs to another program",
      }),
    ],
    [
      "another program's empty database",
      () => ({ file: fileWith("PRAGMA application_id = 7"), says: "belongs to another program" }),
    ],
    [
      "a store of a newer version",
      async () => ({
        file: change(await createStore(), "PRAGMA user_version = 99"),
        says: "written by a newer version",
      }),
    ],
    [
      "a store without a table",
      async () => ({
        file: change(await createStore(), "DROP TABLE use"),
        says: "is incomplete: its table use is missing",
      }),
    ],
    [
      "a store of the first version without a column",
      () => ({
        file: change(fileWith(firstSchema), "ALTER TABLE job DROP COLUMN head"),
        says: "is incomplete: its table job has no column head",
      }),
    ],
    ["a damaged store", async () => ({ file: damage(await createStore()), says: "is damaged" })],
    [
      "a store with a damaged index",
      async () => ({ file: damageIndex(await createStore()), says: "is damaged: row 1 missing" }),
    ],
  ])("%s", async (_, create) => {
    const { file, says } = await create();
    const before = readFileSync(file);
    const message = rejectionOf(file);
    expect(message).toContain(file);
    expect(message).toContain(says);
    expect(readFileSync(file).equals(before)).toBe(true);
    // Also the second time.
    expect(rejectionOf(file)).toBe(message);
  });

  function fileOf(text: string): string {
    const file = join(temporaryFolder(), "notes.md");
    writeFileSync(file, text);
    return file;
  }

  function change(file: string, sql: string): string {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
    return file;
  }

  /** Changes the only entry of an index, which is still well-formed. */
  function damageIndex(file: string): string {
    const bytes = readFileSync(file);
    const index = new DatabaseSync(file);
    const { rootpage } = index.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'turnByJob'").get() ?? {};
    index.close();
    const end = Number(rootpage) * 4096;
    // An entry is at the end of its page: the id of the job, "a", and that of the turn, 1.
    const at = bytes.lastIndexOf("a", end - 1);
    expect(at).toBeGreaterThan(end - 8);
    bytes.write("b", at);
    writeFileSync(file, bytes);
    return file;
  }

  /** Overwrites a page of a table. */
  function damage(file: string): string {
    const bytes = readFileSync(file);
    bytes.fill(0xff, 4096, 8192);
    writeFileSync(file, bytes);
    return file;
  }
});

test("a migration that fails changes nothing", () => {
  // The migration fails after its first changes, because it cannot create a table of this name.
  const file = fileWith(`${firstSchema}CREATE VIEW project AS SELECT project FROM job;`);
  const before = readFileSync(file);
  expect(rejectionOf(file)).toContain("project");
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("a store cannot be used by the first version any more, which changes nothing", async () => {
  const file = await createStore();
  const before = readFileSync(file);
  const db = new DatabaseSync(file);
  expect(() => db.exec(firstSchema.replace(/CREATE (TABLE|INDEX)/g, "CREATE $1 IF NOT EXISTS"))).toThrow("turnOfJob");
  db.close();
  expect(readFileSync(file).equals(before)).toBe(true);
  await using store = openSqliteStore(file);
  expect((await store.jobs.find("a"))?.state).toBe("active");
});

test("a store that an earlier version of the service is using is rejected", async () => {
  const file = await createStore();
  const earlier = new DatabaseSync(file);
  earlier.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE; COMMIT");
  expect(rejectionOf(file)).toMatch(/^cannot open .*: .*locked/);
  earlier.close();
  await using store = openSqliteStore(file);
  expect((await store.counts.total()).jobs).toBe(1);
});
