import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { RunningTurn, Turn } from "../../../src/model.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import type { PostgresHomes } from "../../../src/store/postgres/homes.ts";
import { ownHomes, SharedHomes } from "../../../src/store/shared-homes.ts";
import { LeaseLost, StoreUnavailable } from "../../../src/store-errors.ts";
import { identityOf } from "../../support/turn-identity.ts";

/** A store of homes in memory. Agents ran in the turns of `attempted`. */
class FakeHomeStore implements Omit<PostgresHomes, "deleteArchived"> {
  attempted: number[] = [];
  homes = new Map<string, { turn: string; archive: Uint8Array }>();
  error: Error | undefined;

  async lastAttemptedBefore({ id }: Turn): Promise<string | undefined> {
    const last = this.attempted.filter((turn) => turn < id).at(-1);
    return last === undefined ? undefined : identityOf(last);
  }

  async loadHome(jobId: string, turn: string): Promise<Uint8Array | undefined> {
    const home = this.homes.get(jobId);
    return home?.turn === turn ? home.archive : undefined;
  }

  async saveHome({ identity, job }: RunningTurn, archive: Uint8Array): Promise<void> {
    if (this.error) throw this.error;
    this.homes.set(job, { turn: identity, archive });
  }
}

const turn = (id: number): RunningTurn => ({
  id,
  identity: identityOf(id),
  job: "a",
  prompt: "",
  attempts: 0,
  sections: "",
  covers: null,
  step: "",
  request: "r",
  lease: "x",
  isResumed: false,
});

/** Several machines with the same store. */
function setUp() {
  const store = new FakeHomeStore();
  const log: string[] = [];
  const machine = () => {
    const homes = new SharedHomes(store);
    const directory = new JobDirectory(temporaryFolder(), "a");
    return {
      directory,
      session: () => (existsSync(directory.home) ? readdirSync(directory.home).sort() : undefined),
      begin: async (id: number) => {
        await homes.bring(turn(id), directory, (line) => log.push(line));
        mkdirSync(directory.home, { recursive: true });
        await homes.begin(turn(id), directory);
      },
      /** Runs an agent that adds a file to its home. */
      run: async (id: number) => {
        await homes.bring(turn(id), directory, (line) => log.push(line));
        mkdirSync(directory.home, { recursive: true });
        await homes.begin(turn(id), directory);
        store.attempted.push(id);
        writeFileSync(join(directory.home, `turn-${id}`), `${id}`);
        await homes.keep(turn(id), directory, (line) => log.push(line));
      },
      keep: (id: number) => homes.keep(turn(id), directory, (line) => log.push(line)),
      bring: (id: number) => homes.bring(turn(id), directory, (line) => log.push(line)),
    };
  };
  return { store, log, machine };
}

describe("a turn", () => {
  test("starts with the home that the last one left on another machine", async () => {
    const { log, machine } = setUp();
    const [one, other] = [machine(), machine()];
    await one.run(1);
    await other.run(2);
    expect(other.session()).toEqual(["turn-1", "turn-2"]);
    expect(readFileSync(join(other.directory.home, "turn-1"), "utf8")).toBe("1");
    await one.run(3);
    expect(one.session()).toEqual(["turn-1", "turn-2", "turn-3"]);
    expect(log).toEqual([]);
  });

  test("uses the home of its machine if the last turn ran there", async () => {
    const { store, machine } = setUp();
    const one = machine();
    await one.run(1);
    store.homes.clear();
    await one.bring(2);
    expect(one.session()).toEqual(["turn-1"]);
  });

  test("that was interrupted starts again with the home from before it, not with what it has left", async () => {
    const { store, machine } = setUp();
    const one = machine();
    await one.run(1);
    await one.begin(2);
    writeFileSync(join(one.directory.home, "begun"), "");
    store.attempted.push(2);
    await one.bring(2);
    expect(one.session()).toEqual(["turn-1"]);
  });

  test("that is waiting after its agent has ended keeps the home, also if it could not be stored", async () => {
    const { store, machine } = setUp();
    const one = machine();
    store.error = new StoreUnavailable("down");
    await one.run(1);
    await one.bring(1);
    expect(one.session()).toEqual(["turn-1"]);
  });

  test.skipIf(!existsSync("/dev/full"))(
    "whose home cannot be marked on a full disk does not depend on that",
    async () => {
      const { machine, store, log } = setUp();
      const [one, other] = [machine(), machine()];
      await one.begin(1);
      writeFileSync(join(one.directory.home, "session"), "");
      rmSync(one.directory.homeTurn);
      symlinkSync("/dev/full", one.directory.homeTurn);
      await one.keep(1);
      store.error = new LeaseLost(1);
      await expect(one.keep(1)).rejects.toThrow(LeaseLost);
      store.error = undefined;
      store.attempted.push(1);
      await other.bring(2);
      expect([other.session(), log]).toEqual([["session"], []]);
    },
  );

  test("does not start with the home of a turn before the last one", async () => {
    const { store, log, machine } = setUp();
    const [one, other] = [machine(), machine()];
    await one.run(1);
    await other.run(2);
    store.homes.clear();
    await one.bring(3);
    expect(one.session()).toBeUndefined();
    expect(existsSync(one.directory.homeTurn)).toBe(false);
    expect(log).toEqual([
      "The session of the agent's last turn was not kept for other machines, so a new one starts, with the history file.",
    ]);
  });

  test("that is the first one starts with nothing", async () => {
    const { log, machine } = setUp();
    const one = machine();
    mkdirSync(one.directory.home, { recursive: true });
    await one.bring(1);
    expect(one.session()).toBeUndefined();
    expect(log).toEqual([]);
  });

  test("starts a new session if the stored one is damaged", async () => {
    const { store, log, machine } = setUp();
    await machine().run(1);
    store.homes.set("a", { turn: identityOf(1), archive: Buffer.from("damaged") });
    const other = machine();
    await other.bring(2);
    expect(other.session()).toBeUndefined();
    expect(existsSync(other.directory.homeTurn)).toBe(false);
    expect(log).toEqual([
      expect.stringMatching(/^The session of the agent's last turn cannot be restored, so a new one/),
    ]);
    expect(readdirSync(dirname(other.directory.home))).toEqual([]);
  });
});

test("a turn whose directory cannot be written starts a new session", async () => {
  const { log, machine } = setUp();
  await machine().run(1);
  const other = machine();
  symlinkSync("/nowhere/at/all", dirname(other.directory.path));
  await other.bring(2);
  expect(log).toEqual([expect.stringMatching(/cannot be restored, so a new one starts: \S/)]);
});

test("a session of 60 MB that repeats itself is stored in a small part of its size, and restored", async () => {
  const { store, log, machine } = setUp();
  const [one, other] = [machine(), machine()];
  await one.begin(1);
  store.attempted.push(1);
  const part = randomBytes(20_000);
  writeFileSync(
    join(one.directory.home, "session"),
    Buffer.concat([...Array<Buffer>(200).fill(part), Buffer.alloc(56_000_000)]),
  );
  await new SharedHomes(store).keep(turn(1), one.directory, (line) => log.push(line));
  expect(store.homes.get("a")?.archive.length).toBeLessThan(50_000);
  await other.bring(2);
  expect([other.session(), log]).toEqual([["session"], []]);
});

test("files with a secret are not stored", async () => {
  const { store, log, machine } = setUp();
  const one = machine();
  await one.begin(1);
  writeFileSync(join(one.directory.home, "env"), "KEY=sk-0123456789");
  writeFileSync(join(one.directory.home, "session"), "x");
  await new SharedHomes(store, [{ name: "KEY", value: "sk-0123456789\n" }]).keep(turn(1), one.directory, (line) =>
    log.push(line),
  );
  expect(log).toEqual(["Not kept for other machines, because they have a secret: env"]);
  store.attempted.push(1);
  const other = machine();
  await other.bring(2);
  expect(other.session()).toEqual(["session"]);
});

describe("a home that cannot be stored", () => {
  test.each([
    ["is too large", { size: 101_000_000 }, "it has more than 100 MB"],
    ["has nothing in it", { size: undefined }, "it has no files to keep"],
  ])("because it %s is only logged", async (_, { size }, reason) => {
    const { store, log, machine } = setUp();
    const one = machine();
    await one.begin(1);
    const file = join(one.directory.home, "large");
    if (size !== undefined) {
      writeFileSync(file, "");
      // A hole, which is not written.
      truncateSync(file, size);
    }
    await new SharedHomes(store).keep(turn(1), one.directory, (line) => log.push(line));
    expect(log).toEqual([
      `The agent's session is not kept for other machines, so it continues only on this one: ${reason}`,
    ]);
    expect(store.homes.size).toBe(0);
  });

  test("because it is too large after it was compressed is only logged", async () => {
    const { store, log, machine } = setUp();
    const one = machine();
    await one.begin(1);
    writeFileSync(join(one.directory.home, "large"), randomBytes(2_100_000));
    await new SharedHomes(store).keep(turn(1), one.directory, (line) => log.push(line));
    expect(log).toEqual([expect.stringMatching(/: it has more than 2 MB, compressed$/)]);
    expect(store.homes.size).toBe(0);
  });

  test("because the store cannot be used is only logged, and leaves no archive behind", async () => {
    const { store, log, machine } = setUp();
    store.error = new StoreUnavailable("down");
    const one = machine();
    await one.run(1);
    expect(log).toEqual([expect.stringMatching(/: the store cannot be used$/)]);
    expect(readdirSync(one.directory.path).sort()).toEqual(["home", "home-turn"]);
  });

  test("because another worker has taken the turn over ends the turn", async () => {
    const { store, machine } = setUp();
    store.error = new LeaseLost(1);
    await expect(machine().run(1)).rejects.toThrow(LeaseLost);
  });
});

describe("a turn on the only machine", () => {
  /** A job whose agent has left a session in a turn. */
  function setUpOwn() {
    const directory = new JobDirectory(temporaryFolder(), "a");
    const log: string[] = [];
    const session = join(directory.home, "session");
    mkdirSync(directory.home, { recursive: true });
    writeFileSync(session, "first");
    return {
      directory,
      session,
      log,
      bring: () => ownHomes.bring(turn(2), directory, (line) => log.push(line)),
      begin: () => ownHomes.begin?.(turn(2), directory),
      keep: () => ownHomes.keep?.(turn(2), directory, () => {}),
    };
  }

  test("that was interrupted starts again with the home from before it, each time", async () => {
    const { directory, session, log, bring, begin, keep } = setUpOwn();
    for (const attempt of [1, 2]) {
      await bring();
      expect([readFileSync(session, "utf8"), readdirSync(directory.home)]).toEqual(["first", ["session"]]);
      await begin();
      writeFileSync(session, `edits of attempt ${attempt}`);
      writeFileSync(join(directory.home, "more"), "");
    }
    await bring();
    expect(readFileSync(session, "utf8")).toBe("first");
    expect(log).toHaveLength(2);
    await begin();
    writeFileSync(session, "second");
    await keep();
    await bring();
    expect(readFileSync(session, "utf8")).toBe("second");
    expect(readdirSync(directory.path)).toEqual(["home"]);
  });

  test("that was interrupted has no home if that was too large, or what is kept of it is damaged", async () => {
    const { directory, session, log, bring, begin } = setUpOwn();
    truncateSync(session, 60_000_000);
    await begin();
    await bring();
    expect([existsSync(directory.home), readdirSync(directory.path)]).toEqual([false, []]);
    mkdirSync(directory.home);
    writeFileSync(directory.homeBefore, "damaged");
    await bring();
    expect([existsSync(directory.home), readdirSync(directory.path)]).toEqual([false, []]);
    expect(log.at(-1)).toMatch(/^That cannot be restored, so a new session starts: /);
  });

  test("is not held up by a home that is missing", async () => {
    const { directory, bring, begin } = setUpOwn();
    rmSync(directory.home, { recursive: true });
    await begin();
    await bring();
    expect(readdirSync(directory.path)).toEqual([]);
  });
});
