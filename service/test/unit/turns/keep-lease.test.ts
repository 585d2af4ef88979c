import { expect, onTestFinished, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { keepLease, type LeaseStore, untilStoreIsBack } from "../../../src/turns/keep-lease.ts";
import { fakeMachine } from "../../support/fake-machine.ts";
import { identityOf } from "../../support/turn-identity.ts";

const turn: RunningTurn = {
  id: 7,
  identity: identityOf(7),
  job: "a",
  prompt: "Go on",
  attempts: 0,
  sections: "",
  covers: null,
  step: "",
  request: "r",
  lease: "lease",
  isResumed: false,
};

/** A store that does what the test says, once per renewal; then the lease is held. */
class FakeLeases implements LeaseStore {
  readonly renewEveryMs: number | undefined;
  readonly renewed: RunningTurn[] = [];
  /** What the next renewals do. */
  readonly script: (() => boolean)[] = [];
  #waiting: { count: number; resolve: () => void } | undefined;

  constructor(renewEveryMs?: number) {
    this.renewEveryMs = renewEveryMs;
  }

  async renewLease(renewed: RunningTurn): Promise<boolean> {
    this.renewed.push(renewed);
    if (this.#waiting && this.renewed.length >= this.#waiting.count) this.#waiting.resolve();
    return this.script.shift()?.() ?? true;
  }

  /** Waits until a lease has been renewed so many times. */
  async renewals(count: number): Promise<void> {
    if (this.renewed.length >= count) return;
    await new Promise<void>((resolve) => {
      this.#waiting = { count, resolve };
    });
  }
}

const outage = () => {
  throw new StoreUnavailable("the database does not respond");
};
const lost = () => false;

function keep(store: LeaseStore, stop = new AbortController().signal) {
  const lease = keepLease(turn, store, stop);
  onTestFinished(() => lease[Symbol.dispose]());
  return lease;
}

/** Lets everything happen that needs no more than some milliseconds. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 20));

test("renews a lease until it is disposed of", async () => {
  const store = new FakeLeases(1);
  const lease = keep(store);
  await store.renewals(3);
  expect(store.renewed[0]).toBe(turn);
  expect([lease.isLost, lease.signal.aborted]).toEqual([false, false]);
  lease[Symbol.dispose]();
  const { length } = store.renewed;
  await aWhile();
  expect(store.renewed).toHaveLength(length);
});

test("asks again after two seconds if the store does not answer", async () => {
  const store = new FakeLeases(10_000);
  store.script.push(outage, outage);
  const pauses: number[] = [];
  const end = Promise.withResolvers<void>();
  const sleep = async (ms: number) => (pauses.push(ms) === 4 ? end.resolve() : undefined);
  const lease = keepLease(turn, store, new AbortController().signal, fakeMachine({ sleep }));
  await end.promise;
  lease[Symbol.dispose]();
  expect(pauses.slice(0, 4)).toEqual([10_000, 2000, 2000, 10_000]);
  expect(lease.isLost).toBe(false);
});

test("renews no lease that never expires", async () => {
  const store = new FakeLeases();
  keep(store);
  await aWhile();
  expect(store.renewed).toEqual([]);
});

test("aborts when another worker has taken the turn over, and renews nothing more", async () => {
  const store = new FakeLeases(1);
  store.script.push(() => true, lost);
  const lease = keep(store);
  await new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
  expect(lease.isLost).toBe(true);
  await aWhile();
  expect(store.renewed).toHaveLength(2);
});

test("aborts when it is told that another worker has taken the turn over", () => {
  const lease = keep(new FakeLeases());
  lease.lose();
  expect([lease.isLost, lease.signal.aborted]).toEqual([true, true]);
});

test("keeps a lease while the store cannot be used", async () => {
  const store = new FakeLeases(1);
  store.script.push(outage, outage);
  const lease = keep(store);
  await store.renewals(4);
  expect([lease.isLost, lease.signal.aborted]).toEqual([false, false]);
});

test("a lease that is lost while it is disposed of is not lost: the end of the turn is stored", async () => {
  const store = new FakeLeases(1);
  const lease = keep(store);
  store.script.push(() => {
    lease[Symbol.dispose]();
    return false;
  });
  await store.renewals(1);
  await aWhile();
  expect([lease.isLost, lease.signal.aborted]).toEqual([false, false]);
});

test("aborts when the service stops, and still renews the lease until the end of the turn is stored", async () => {
  const store = new FakeLeases(1);
  const stop = new AbortController();
  const lease = keep(store, stop.signal);
  stop.abort();
  expect([lease.isLost, lease.signal.aborted]).toEqual([false, true]);
  await store.renewals(store.renewed.length + 2);
});

/** Returns a use of the store that does what the test says, and then nothing. */
function scripted(...steps: (() => void)[]) {
  let uses = 0;
  const use = async () => {
    uses++;
    steps.shift()?.();
    return uses;
  };
  return { use, uses: () => uses };
}

test("uses the store again until it is back", async () => {
  const unknown = () => {
    throw new OutcomeUnknown("the connection was lost");
  };
  const { use } = scripted(outage, unknown, outage);
  const pauses: number[] = [];
  const machine = fakeMachine({ sleep: async (ms: number) => void pauses.push(ms) });
  expect(await untilStoreIsBack(use, new AbortController().signal, machine)).toBe(4);
  expect(pauses).toEqual([2000, 2000, 2000]);
});

test("waits for the store neither when the service stops, nor after another error", async () => {
  const stop = new AbortController();
  const waiting = untilStoreIsBack(scripted(outage).use, stop.signal, fakeMachine());
  stop.abort(new Error("the service stops"));
  await expect(waiting).rejects.toThrow("the service stops");
  const { use, uses } = scripted(() => {
    throw new LeaseLost(7);
  });
  await expect(untilStoreIsBack(use, new AbortController().signal, fakeMachine())).rejects.toThrow(LeaseLost);
  expect(uses()).toBe(1);
});
