import { expect, test } from "vitest";
import { createHealth } from "../../../src/api/health.ts";
import { checkDisk, checkLiveness, checkStore, checkWorker } from "../../../src/api/health-checks.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

test("is ok if every check finds nothing wrong, and names what is wrong otherwise", async () => {
  const none = async () => undefined;
  expect(await createHealth({ store: none, disk: none })()).toEqual({
    status: "ok",
    checks: { store: "ok", disk: "ok" },
  });
  expect(await createHealth({ store: none, disk: async () => "is full" })()).toEqual({
    status: "failing",
    checks: { store: "ok", disk: "is full" },
  });
  expect(await createHealth({})()).toEqual({ status: "ok", checks: {} });
});

test("does not ask more often than every five seconds", async () => {
  let asked = 0;
  const machine = new FakeMachine();
  const check = async () => {
    asked++;
    return undefined;
  };
  const health = createHealth({ store: check }, { machine });
  for (let request = 0; request < 50; request++) await health();
  machine.pass(4999);
  await health();
  expect(asked).toBe(1);
  machine.pass(1);
  await health();
  expect(asked).toBe(2);
});

test("waits only so long for a check, and does not begin it again while it goes on", async () => {
  let asked = 0;
  let answer = (_problem: string | undefined): void => {};
  const machine = new FakeMachine();
  const check = () => {
    asked++;
    return new Promise<string | undefined>((resolve) => {
      answer = resolve;
    });
  };
  const health = createHealth({ store: check }, { limitMs: 20, machine });
  const late = { status: "failing", checks: { store: "no answer within 0.02 s" } };
  for (let request = 0; request < 2; request++) {
    const report = health();
    machine.pass(20);
    expect(await report).toEqual(late);
    machine.pass(5000);
  }
  expect(asked).toBe(1);
  answer(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  const next = health();
  await new Promise((resolve) => setImmediate(resolve));
  answer(undefined);
  expect(await next).toMatchObject({ status: "ok" });
  expect(asked).toBe(2);
});

test("a store that cannot be written is unhealthy, without the details", async () => {
  expect(await checkStore({ probe: async () => {} })()).toBeUndefined();
  const probe = async () => {
    throw new Error("connect ECONNREFUSED db.internal:5432");
  };
  expect(await checkStore({ probe })()).toBe("cannot be written");
});

test.each([
  [256_000_000, undefined],
  [255_999_999, "less than 256 MB are free"],
])("a disk with %i free bytes: %s", async (bytes, problem) => {
  const machine = new FakeMachine();
  machine.free = bytes;
  expect(await checkDisk("/service", machine)()).toBe(problem);
});

test("a folder that cannot be read is unhealthy, and one that can is asked for its disk", async () => {
  expect(await checkDisk("/does/not/exist")()).toBe("cannot be read");
  expect(await checkDisk(import.meta.dirname)()).not.toBe("cannot be read");
});

test("a worker is unhealthy before it has started and while it is stuck", async () => {
  const stuck = "does not get an answer when it asks for a turn";
  for (const check of [checkLiveness, checkWorker]) {
    expect(await check(() => undefined)()).toBe("has not started");
    expect(await check(() => ({ isStuck: false, isFailing: false }))()).toBeUndefined();
    expect(await check(() => ({ isStuck: true, isFailing: true }))()).toBe(stuck);
  }
  const failing = { isStuck: false, isFailing: true };
  expect(await checkWorker(() => failing)()).toBe("cannot run turns; its log says why");
  expect(await checkLiveness(() => failing)()).toBeUndefined();
});
