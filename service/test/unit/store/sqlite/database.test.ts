import { expect, onTestFinished, test } from "vitest";
import { Connection } from "../../../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../../../src/store/sqlite/database.ts";

function setUp() {
  const connection = new Connection(":memory:", () => {});
  connection.execute("CREATE TABLE note (text TEXT NOT NULL UNIQUE) STRICT");
  const database = new SqliteDatabase(connection);
  onTestFinished(() => database[Symbol.asyncDispose]());
  const notes = async () => (await database.rows<{ text: string }>("SELECT text FROM note")).map(({ text }) => text);
  return { database, notes };
}

/** A pause that the test ends. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const insert = "INSERT INTO note (text) VALUES (?)";

test("makes the changes of a transaction together, or none of them if it fails", async () => {
  const { database, notes } = setUp();
  const result = await database.transaction(async (transaction) => {
    expect(await transaction.run(insert, "one")).toBe(1);
    expect(await transaction.row("SELECT text FROM note")).toEqual({ text: "one" });
    expect(await transaction.rows("SELECT text FROM note")).toEqual([{ text: "one" }]);
    return "done";
  });
  expect(result).toBe("done");
  const failed = database.transaction(async (transaction) => {
    await transaction.run(insert, "two");
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  expect(await notes()).toEqual(["one"]);
  // It is not the end of the database.
  expect(await database.run(insert, "three")).toBe(1);
  expect(await notes()).toEqual(["one", "three"]);
});

test("lets everything else wait until a transaction has ended", async () => {
  const { database, notes } = setUp();
  const { open, opened } = gate();
  const done: string[] = [];
  const first = database.transaction(async (transaction) => {
    await transaction.run(insert, "first");
    await opened;
    await transaction.run(insert, "second");
    done.push("transaction");
  });
  const others = [
    database.run(insert, "outside").then(() => done.push("run")),
    database.row("SELECT text FROM note").then(() => done.push("row")),
    notes().then((texts) => done.push(texts.join(" "))),
    database.transaction(async () => void done.push("other transaction")),
    database.probe().then(() => done.push("probe")),
  ];
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(done).toEqual([]);
  open();
  await Promise.all([first, ...others]);
  expect(done[0]).toBe("transaction");
  expect(done).toContain("first second outside");
  expect(done).toHaveLength(6);
});

test("a statement from elsewhere is not undone with a transaction that fails", async () => {
  const { database, notes } = setUp();
  const { open, opened } = gate();
  const failed = database.transaction(async (transaction) => {
    await transaction.run(insert, "inside");
    await opened;
    throw new Error("no");
  });
  const outside = database.run(insert, "outside");
  open();
  await expect(failed).rejects.toThrow("no");
  expect(await outside).toBe(1);
  expect(await notes()).toEqual(["outside"]);
});

test("is closed when what was asked of it before is done, and then its lock is released", async () => {
  const connection = new Connection(":memory:", () => {});
  connection.execute("CREATE TABLE note (text TEXT NOT NULL) STRICT");
  const events: string[] = [];
  const lock = { [Symbol.dispose]: () => void events.push("released") };
  const database = new SqliteDatabase(connection, lock);
  const { open, opened } = gate();
  const change = database.transaction(async (transaction) => {
    await opened;
    await transaction.run(insert, "one");
    events.push("changed");
  });
  const closed = database[Symbol.asyncDispose]();
  open();
  await Promise.all([change, closed]);
  expect(events).toEqual(["changed", "released"]);
  await expect(database.run(insert, "two")).rejects.toThrow();
  await expect(database.probe()).rejects.toThrow();
});

test("does what is asked exclusively, because no other process has the file", async () => {
  const { database, notes } = setUp();
  const wasDone = await database.exclusively("archiving", async () => {
    await database.run(insert, "one");
  });
  expect(wasDone).toBe(true);
  expect(await notes()).toEqual(["one"]);
});
