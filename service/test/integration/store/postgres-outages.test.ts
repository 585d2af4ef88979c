import { setImmediate as nextTask, setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { thisMachine } from "../../../src/machine.ts";
import { waitForPostgres } from "../../../src/start/open-postgres.ts";
import { PostgresDatabase } from "../../../src/store/postgres/database.ts";
import { Notifications } from "../../../src/store/postgres/notifications.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import type { PostgresTimes } from "../../../src/store/postgres/times.ts";
import type { Store } from "../../../src/store/store.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { keepLease } from "../../../src/turns/keep-lease.ts";
import { Postgres, postgresOfFile } from "../../support/postgres.ts";
import { PostgresProcess } from "../../support/postgres-process.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";

const server = postgresOfFile();

/** Milliseconds since 1970. */
const now = Date.UTC(2026, 0, 1);

const outageBegins = expect.stringMatching(/^The store cannot be used: /);
const outageEnds = "The store can be used again.";

/** Opens a store. `lines` is its log. */
async function openStore(url: string, times: Partial<PostgresTimes> = {}) {
  const lines: string[] = [];
  const outages = { count: 0 };
  const onOutage = () => outages.count++;
  const store = await openPostgresStore({ url, times, log: (line) => void lines.push(line), onOutage });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { store, lines, outages };
}

const create = (store: Store, id: string) => store.jobs.add({ id, project: "docs", createdAt: now }, "One");

/** Opens a store behind a network that can fail, and a store that is not affected. */
async function openBoth(times: Partial<PostgresTimes> = {}) {
  const url = await server().createStoreDatabase();
  const proxy = await PostgresProxy.start(server().port);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const throughProxy = Object.assign(new URL(url), { port: String(proxy.port) }).href;
  const { store, lines, outages } = await openStore(throughProxy, { outcomePauseMs: 10, ...times });
  const { store: other } = await openStore(url, times);
  return { url, proxy, store, lines, outages, other };
}

test("a turn stays with its worker when all of its connections are lost without a sign, however many statements wait", async () => {
  // Nothing here depends on how fast the machine is: a connection may take as long as in production, an answer longer, and a lease
  // of this length ends long after the test.
  const times = { leaseMs: 600_000, soonMs: 60_000 };
  const { proxy, store, other } = await openBoth(times);
  await create(store, "a");
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  // The connections are open before they are lost.
  await Promise.all(Array.from({ length: 10 }, () => store.jobs.find("a")));
  proxy.goSilent();
  for (let statement = 0; statement < 20; statement++) void store.jobs.find("a").catch(() => {});
  const { promise: renewed, resolve } = Promise.withResolvers<number>();
  let tries = 0;
  const renewLease = async () => {
    tries++;
    const isHeld = await store.runningTurns.renewLease(turn);
    resolve(tries);
    return isHeld;
  };
  // Each pause is over at once, and the lease allows three tries.
  const machine = { ...thisMachine, sleep: () => nextTask() };
  using lease = keepLease(turn, { renewEveryMs: times.leaseMs / 3, renewLease }, new AbortController().signal, machine);
  expect(await renewed).toBeLessThanOrEqual(3);
  expect(lease.isLost).toBe(false);
  expect((await other.turns.ofJob("a"))[0]).toMatchObject({ state: "running", lease: turn.lease });
  // The store waits for the answers when it is closed.
  await proxy[Symbol.asyncDispose]();
});

describe("a connection that is lost during a commit", () => {
  test("loses nothing if the server has committed, and does nothing twice", async () => {
    const { proxy, store, lines, outages, other } = await openBoth();
    proxy.failures.push({ on: "COMMIT", how: "lose answer" });
    expect(await create(store, "a")).toBeUndefined();
    expect(await other.counts.total()).toEqual({ jobs: 1, waitingTurns: 1 });
    proxy.failures.push({ on: "COMMIT", how: "lose answer" });
    const turn = await store.runningTurns.startNext();
    expect(turn).toMatchObject({ job: "a" });
    if (turn === undefined) return;
    proxy.failures.push({ on: "COMMIT", how: "lose answer" });
    await store.runningTurns.finish(turn, "completed", now);
    expect(await other.jobs.find("a")).toMatchObject({ state: "completed", idleSince: now });
    expect(await other.runningTurns.startNext()).toBeUndefined();
    expect(lines).toEqual([outageBegins, outageEnds, outageBegins, outageEnds, outageBegins, outageEnds]);
    expect(outages.count).toBe(3);
  });

  test("waits for a server that is still committing", async () => {
    const { url, proxy, store, other } = await openBoth();
    // The question whether it was committed comes when it is being committed, which a lock shows.
    const slowCommit = `
      CREATE FUNCTION agent_jobs.slow() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock(42); PERFORM pg_sleep(0.5); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON agent_jobs.job DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION agent_jobs.slow();
      CREATE FUNCTION agent_jobs.later() RETURNS trigger LANGUAGE plpgsql AS '
        BEGIN
          WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = ''advisory'' AND objid = 42) LOOP
            PERFORM pg_sleep(0.01);
          END LOOP;
          RETURN NEW;
        END';
      CREATE TRIGGER later BEFORE INSERT ON agent_jobs."recentCommit"
        FOR EACH ROW WHEN (NEW."wasPrevented") EXECUTE FUNCTION agent_jobs.later()`;
    await server().query(url, slowCommit);
    proxy.failures.push({ on: "COMMIT", how: "lose connection" });
    expect(await create(store, "a")).toBeUndefined();
    expect((await other.jobs.find("a"))?.state).toBe("active");
  });

  test.each(["lose request", "lose request silently"] as const)(
    "changes nothing if the server has not committed, and says so (%s)",
    async (action) => {
      const { proxy, store, other } = await openBoth({ idleInTransactionMs: 300 });
      proxy.failures.push({ on: "COMMIT", how: action });
      await expect(create(store, "a")).rejects.toThrow(StoreUnavailable);
      expect(await other.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
      expect(await create(store, "a")).toBeUndefined();
      expect(await other.counts.total()).toEqual({ jobs: 1, waitingTurns: 1 });
    },
  );

  test("changes nothing, also in the queue, if the answer whether the server has committed is lost, too", async () => {
    const { proxy, store, other } = await openBoth();
    proxy.failures.push({ on: "COMMIT", how: "lose request" }, { on: "wasPrevented", how: "lose answer" });
    await expect(create(store, "a")).rejects.toThrow(StoreUnavailable);
    expect(await other.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
    expect(proxy.failures).toEqual([]);
    await create(other, "a");
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    for (const end of [
      () => store.runningTurns.requeue(turn),
      () => store.runningTurns.finish(turn, "completed", now),
    ]) {
      proxy.failures.push({ on: "COMMIT", how: "lose request" }, { on: "wasPrevented", how: "lose answer" });
      await expect(end()).rejects.toThrow(StoreUnavailable);
      await other.runningTurns.confirmLease(turn);
    }
    await store.runningTurns.finish(turn, "completed", now);
    expect((await other.jobs.find("a"))?.state).toBe("completed");
  });

  test.each(["lose request", "lose answer"] as const)(
    "is of unknown outcome if the server cannot be reached any more (%s)",
    async (action) => {
      const { proxy, store } = await openBoth({ outcomeMs: 100 });
      proxy.isCutOff = true;
      proxy.failures.push({ on: "COMMIT", how: action });
      await expect(create(store, "a")).rejects.toThrow(OutcomeUnknown);
      await expect(create(store, "b")).rejects.toThrow(StoreUnavailable);
      proxy.restore();
      expect(await create(store, "c")).toBeUndefined();
    },
  );

  test("does not matter if nothing was changed", async () => {
    const { proxy, store } = await openBoth();
    proxy.failures.push({ on: "COMMIT", how: "lose answer" });
    await expect(store.turns.add("unknown", "Two", now)).rejects.toThrow(StoreUnavailable);
    expect(await store.turns.add("unknown", "Two", now)).toBe(false);
  });
});

describe("a server that is restarted", () => {
  test("is used again, and the log says once that it was away and once that it is back", async () => {
    const own = await PostgresProcess.start();
    onTestFinished(() => own[Symbol.asyncDispose]());
    const url = await new Postgres(own.port).createDatabase();
    const { store, lines } = await openStore(url);
    const { store: other } = await openStore(url);
    const database = new PostgresDatabase({ url, log: () => {} });
    const notifications = new Notifications({ url, database, log: () => {} });
    onTestFinished(async () => {
      await notifications[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    });
    const heard: (string | undefined)[] = [];
    notifications.on("agent_jobs_turn", (payload) => heard.push(payload));
    await expect.poll(() => heard).toEqual([undefined]);
    await create(store, "a");
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");

    await own.stop();
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(create(store, `away_${attempt}`)).rejects.toThrow(StoreUnavailable);
      await expect(store.jobs.find("a")).rejects.toThrow(StoreUnavailable);
      await expect(store.runningTurns.startNext()).rejects.toThrow(StoreUnavailable);
      await expect(store.runningTurns.renewLease(turn)).rejects.toThrow(StoreUnavailable);
      await expect(store.probe()).rejects.toThrow(StoreUnavailable);
      await expect(store.exclusively("a", async () => {})).rejects.toThrow(StoreUnavailable);
    }
    // It is stored when the turn ends.
    await store.runningTurns.setReport(turn, { answer: "Done." });
    await expect(store.runningTurns.finish(turn, "completed", now)).rejects.toThrow(StoreUnavailable);
    expect(lines).toEqual([outageBegins]);

    await own.start();
    await store.runningTurns.finish(turn, "completed", now);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Done." }]);
    expect(await other.counts.total()).toEqual({ jobs: 1, waitingTurns: 0 });
    expect(lines).toEqual([outageBegins, outageEnds]);
    // Who listens does so again, and may have missed something.
    await expect.poll(() => heard.slice(2), { timeout: 20_000 }).toEqual([undefined]);
    await create(other, "b");
    await expect.poll(() => heard.slice(3), { timeout: 20_000 }).toEqual([""]);
    const again = await other.runningTurns.startNext();
    if (again === undefined) throw new Error("no turn is ready");
    await other.runningTurns.requeue(again);
    await expect.poll(() => heard.slice(4), { timeout: 20_000 }).toEqual([""]);
  });

  test("does not end a process whose connections are in use", async () => {
    const { url, store } = await openStoreWithUrl();
    const database = new PostgresDatabase({ url, log: () => {} });
    onTestFinished(() => database[Symbol.asyncDispose]());
    const interrupted = database.transaction(async (transaction) => {
      await transaction.run("INSERT INTO repository (name) VALUES (?)", "example/docs");
      await server().endConnections(url);
      await setTimeout(100);
    });
    await expect(interrupted).rejects.toThrow(StoreUnavailable);
    const work = async () => {
      await server().endConnections(url);
      await setTimeout(100);
    };
    expect(await database.exclusively("a", work)).toBe(true);
    expect(await store.repositories.main()).toBeUndefined();
  });
});

async function openStoreWithUrl(times: Partial<PostgresTimes> = {}) {
  const url = await server().createStoreDatabase();
  return { url, ...(await openStore(url, times)) };
}

describe("a transaction whose process is paused", () => {
  test("changes nothing, and others do not wait for it", async () => {
    const { url, store } = await openStoreWithUrl();
    const times = { idleInTransactionMs: 100 };
    const database = new PostgresDatabase({ url, times, log: () => {} });
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { promise: pause, resolve: resume } = Promise.withResolvers<void>();
    const isPaused = Promise.withResolvers<void>();
    const paused = database.transaction(async (transaction) => {
      await transaction.lock("create in docs");
      await transaction.run("INSERT INTO repository (name) VALUES (?)", "example/docs");
      isPaused.resolve();
      await pause;
    });
    await isPaused.promise;
    // It has the lock that this one waits for.
    expect(await create(store, "a")).toBeUndefined();
    resume();
    await expect(paused).rejects.toThrow(StoreUnavailable);
    expect(await store.repositories.main()).toBeUndefined();
  });

  test("changes nothing, even if it goes on before it hears of its end", async () => {
    const { url, store } = await openStoreWithUrl();
    const times = { idleInTransactionMs: 100 };
    const database = new PostgresDatabase({ url, times, log: () => {} });
    onTestFinished(() => database[Symbol.asyncDispose]());
    const paused = database.transaction(async (transaction) => {
      await transaction.run("INSERT INTO repository (name) VALUES (?)", "example/docs");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    });
    await expect(paused).rejects.toThrow(StoreUnavailable);
    expect(await store.repositories.main()).toBeUndefined();
  });

  test("of which a statement has failed is not taken for one that was committed", async () => {
    const { url, store } = await openStoreWithUrl();
    const database = new PostgresDatabase({ url, log: () => {} });
    onTestFinished(() => database[Symbol.asyncDispose]());
    const change = database.transaction(async (transaction) => {
      await transaction.run("INSERT INTO repository (name) VALUES (?)", "example/docs");
      await transaction.run("INSERT INTO nothing VALUES (1)").catch(() => {});
    });
    await expect(change).rejects.toThrow();
    expect(await store.repositories.main()).toBeUndefined();
  });
});

test("a server that can only be read is an outage until something is written", async () => {
  const { url, store, lines } = await openStoreWithUrl();
  await create(store, "a");
  const database = new URL(url).pathname.slice(1);
  await server().query(url, `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  await server().endConnections(url);
  const isReachable = () => store.counts.total().then(Boolean, () => false);
  const findState = () =>
    store.jobs.find("a").then(
      (job) => job?.state,
      () => undefined,
    );
  // Each connection that was ended can first be an outage that reading ends.
  await waitUntil(() => create(store, "b").then(undefined, (error: Error) => /read-only/.test(error.message)));
  expect(lines.at(-1)).toEqual(outageBegins);
  lines.length = 0;
  for (const id of ["c", "d"]) {
    await expect(create(store, id)).rejects.toThrow(StoreUnavailable);
    await expect(store.runningTurns.startNext()).rejects.toThrow(StoreUnavailable);
    await expect(store.probe()).rejects.toThrow(StoreUnavailable);
    expect(await waitUntil(findState)).toBe("active");
  }
  expect(lines).toEqual([]);
  await server().query(server().url("postgres"), `ALTER DATABASE ${database} RESET default_transaction_read_only`);
  await server().endConnections(url);
  await waitUntil(isReachable);
  expect(lines).toEqual([]);
  await waitUntil(() =>
    store.probe().then(
      () => true,
      () => false,
    ),
  );
  expect(lines).toEqual([outageEnds]);
  expect((await store.runningTurns.startNext())?.job).toBe("a");
});

test("a server that does not let the service in is an outage, and the service needs no rights beyond its database", async () => {
  const url = new URL(await server().createDatabase());
  const database = url.pathname.slice(1);
  const asAdministrator = (sql: string) => server().query(server().url("postgres"), sql);
  const role = `owner_of_${database}`;
  await asAdministrator(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await asAdministrator(`ALTER DATABASE ${database} OWNER TO ${role}`);
  Object.assign(url, { username: role, password: "secret" });
  const { store, lines } = await openStore(url.href);
  await create(store, "a");
  await asAdministrator(`ALTER ROLE ${role} NOLOGIN`);
  // A connection that was being opened meanwhile is let in, and can be ended only once the server lists it.
  let creates = 0;
  await waitUntil(async () => {
    await server().endConnections(server().url(database));
    return create(store, `let_in_${creates++}`).then(
      () => undefined,
      () => true,
    );
  });
  for (const id of ["b", "c"]) await expect(create(store, id)).rejects.toThrow(StoreUnavailable);
  await asAdministrator(`ALTER ROLE ${role} LOGIN`);
  expect(await create(store, "d")).toBeUndefined();
  expect(lines).toEqual([outageBegins, outageEnds]);
});

describe("a service that starts", () => {
  const waiting = expect.stringMatching(/^The service waits to start: cannot open the Postgres store: /);

  /** Opens a store, and collects what is logged. */
  function start(url: string) {
    const lines: string[] = [];
    const place = { url, directUrl: undefined, schema: undefined };
    return { lines, opened: waitForPostgres(place, (line) => void lines.push(line), undefined, 20) };
  }

  test("waits while its database is away, and says so once", async () => {
    const url = await server().createStoreDatabase();
    const proxy = await PostgresProxy.start(server().port);
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    proxy.cutOff();
    const { lines, opened } = start(url.replace(`:${server().port}/`, `:${proxy.port}/`));
    await waitUntil(() => lines.length > 0);
    await setTimeout(100);
    proxy.restore();
    await using store = await opened;
    expect(await store.counts.total()).toMatchObject({ jobs: 0 });
    expect(lines).toEqual([waiting, "The store can be used. The service starts."]);
  });

  test.each([
    { what: "password", change: { password: "wrong" }, says: /password authentication failed/ },
    { what: "database", change: { pathname: "/no_such_database" }, says: /database "no_such_database" does not exist/ },
  ])("ends at once if its $what is wrong", async ({ change, says }) => {
    const url: URL = Object.assign(new URL(server().url("postgres")), change);
    const { lines, opened } = start(url.href);
    await expect(opened).rejects.toThrow(says);
    expect(lines).toEqual([]);
  });
});

describe("the password", () => {
  const password = "secret_of_postgres";
  const wrong = "another_secret";

  test.each([
    { what: "nothing listens there", change: (url: URL) => Object.assign(url, { port: "1" }), reason: "ECONNREFUSED" },
    {
      what: "the password is wrong",
      change: (url: URL) => Object.assign(url, { password: wrong }),
      reason: "password",
    },
    { what: "there is no such database", change: (url: URL) => Object.assign(url, { pathname: "/x" }), reason: "x" },
    { what: "the address is malformed", change: ({ href }: URL) => href.replace("@", "@[x"), reason: "" },
  ])("is in no error and no line of the log if $what", async ({ change, reason }) => {
    const lines: string[] = [];
    const url = String(change(new URL(server().url("postgres"))));
    expect(url).toMatch(/secret/);
    const opened = openPostgresStore({ url, log: (line) => void lines.push(line) });
    const error = await opened.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringMatching(`^cannot open the Postgres store: .*${reason}`) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/secret/);
    expect(lines.join("\n")).not.toMatch(/secret/);
  });

  test("is in no line of the log if a server is away later", async () => {
    const url = await server().createStoreDatabase();
    const proxy = await PostgresProxy.start(server().port);
    const throughProxy = Object.assign(new URL(url), { port: String(proxy.port) }).href;
    const { store, lines } = await openStore(throughProxy);
    await proxy[Symbol.asyncDispose]();
    const error = await create(store, "a").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(inspect([error, lines], { depth: 9, showHidden: true })).not.toContain(password);
    expect(lines).toEqual([outageBegins]);
  });
});
