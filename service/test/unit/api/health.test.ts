import { expect, test } from "vitest";
import { createHealth } from "../../../src/api/health.ts";
import { checkDisk, checkLiveness, checkStore, checkWorker } from "../../../src/api/health-checks.ts";

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
  const clock = { now: 7000 };
  const check = async () => {
    asked++;
    return undefined;
  };
  const health = createHealth({ store: check }, { now: () => clock.now });
  for (let request = 0; request < 50; request++) await health();
  clock.now += 4999;
  await health();
  expect(asked).toBe(1);
  clock.now += 1;
  await health();
  expect(asked).toBe(2);
});

test("waits only so long for a check, and does not begin it again while it goes on", async () => {
  let asked = 0;
  let answer = (_problem: string | undefined): void => {};
  const clock = { now: 7000 };
  const check = () => {
    asked++;
    return new Promise<string | undefined>((resolve) => {
      answer = resolve;
    });
  };
  const health = createHealth({ store: check }, { limitMs: 20, now: () => clock.now });
  const late = { status: "failing", checks: { store: "no answer within 0.02 s" } };
  expect(await health()).toEqual(late);
  clock.now += 5000;
  expect(await health()).toEqual(late);
  expect(asked).toBe(1);
  answer(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  clock.now += 5000;
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
  expect(await checkDisk("/service", async () => bytes)()).toBe(problem);
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
  expect(await checkWorker(() => failing)()).toBe("cannot take turns; its log says why");
  expect(await checkLiveness(() => failing)()).toBeUndefined();
});
