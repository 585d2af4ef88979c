import { expect, onTestFinished, test } from "vitest";
import { waitForPostgres } from "../../../src/start/open-postgres.ts";
import { PostgresProcess, postgresPassword } from "../../support/postgres-process.ts";

test("a service waits while its database is away, says so once, and does not wait for what does not pass", async () => {
  const server = await PostgresProcess.start();
  onTestFinished(() => server[Symbol.asyncDispose]());
  await server.stop();
  const own = `postgres://postgres:${postgresPassword}@127.0.0.1:${server.port}/postgres`;
  const lines: string[] = [];
  const outages: string[] = [];
  const open = (url: string, sleeps: (() => unknown)[] = []) =>
    waitForPostgres(
      { url, directUrl: undefined, schema: "agent_jobs" },
      (line) => lines.push(line),
      () => outages.push("began"),
      {
        sleep: async () => {
          const next = sleeps.shift();
          if (next === undefined) throw new Error("it waited");
          await next();
        },
      },
    );
  const store = await open(own, [() => {}, () => server.start()]);
  await store[Symbol.asyncDispose]();
  expect(lines).toEqual([
    expect.stringMatching(/^The service waits for Postgres before it starts: cannot open the Postgres store: .+/),
    "Postgres answers. The service starts.",
  ]);
  expect(outages).toEqual(["began"]);
  const wrong = (change: (url: URL) => void) => {
    const url = new URL(own);
    change(url);
    return open(url.href);
  };
  await expect(wrong((url) => Object.assign(url, { password: "other" }))).rejects.toThrow(/password/);
  await expect(wrong((url) => Object.assign(url, { pathname: "/other" }))).rejects.toThrow(/does not exist/);
  await expect(wrong((url) => Object.assign(url, { hostname: "nowhere.invalid" }))).rejects.toThrow(/nowhere\.invalid/);
});
