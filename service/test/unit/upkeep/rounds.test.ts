import { expect, test } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { type Round, runRounds } from "../../../src/upkeep/rounds.ts";
import { fakeMachine } from "../../support/fake-machine.ts";

/** A minute in which rounds run, and what they have done by its end. */
interface Minute {
  ran: string[];
  log: string[];
}

/** Runs rounds for a few minutes, on a clock on which the first one begins at 1 000 000. */
async function runFor(
  minutes: number,
  create: (ran: (text: string) => void) => Round[],
  shared?: Pick<Store, "exclusively">,
): Promise<Minute[]> {
  const stop = new AbortController();
  const done: Minute[] = [];
  let minute: Minute = { ran: [], log: [] };
  let ms = 0;
  const sleep = async (pause: number, signal?: AbortSignal): Promise<void> => {
    expect(signal).toBe(stop.signal);
    ms += pause;
    done.push(minute);
    minute = { ran: [], log: [] };
    if (done.length === minutes) stop.abort();
  };
  const machine = fakeMachine({ sleep, wallTime: () => 1_000_000 + ms, now: () => 5000 + ms });
  const rounds = create((text) => minute.ran.push(text));
  await runRounds(rounds, shared, stop.signal, (line) => minute.log.push(line), machine);
  return done;
}

class Sweep implements Round {
  readonly name = "Sweep";
  readonly #ran: (text: string) => void;
  constructor(ran: (text: string) => void) {
    this.#ran = ran;
  }
  async run(now: number): Promise<void> {
    this.#ran(`sweep at ${now}`);
  }
}

class Failing implements Round {
  readonly name = "Failing";
  readonly #error: Error;
  constructor(error: Error) {
    this.#error = error;
  }
  async run(): Promise<void> {
    throw this.#error;
  }
}

test("rounds run at once and then every minute, until the service stops", async () => {
  expect(await runFor(2, (ran) => [new Sweep(ran)])).toEqual([
    { ran: ["sweep at 1000000"], log: [] },
    { ran: ["sweep at 1060000"], log: [] },
  ]);
});

test("a round that fails is logged, and does not keep others from running", async () => {
  const [minute] = await runFor(1, (ran) => [new Failing(new Error("no such table")), new Sweep(ran)]);
  expect(minute?.log).toEqual([expect.stringMatching(/^Failing failed: Error: no such table/)]);
  expect(minute?.ran).toEqual(["sweep at 1000000"]);
});

test("a round that cannot use the store is not logged: the store has logged that", async () => {
  const [minute] = await runFor(1, () => [new Failing(new StoreUnavailable("no connection"))]);
  expect(minute?.log).toEqual([]);
});

test("a round that another process runs is left to that", async () => {
  const asked: string[] = [];
  const shared = {
    exclusively: async (name: string, work: () => Promise<void>) => {
      asked.push(name);
      if (asked.length === 1) await work();
      return asked.length === 1;
    },
  };
  const minutes = await runFor(2, (ran) => [new Sweep(ran)], shared);
  expect(asked).toEqual(["Sweep", "Sweep"]);
  expect(minutes.map(({ ran }) => ran)).toEqual([["sweep at 1000000"], []]);
});

test("no round runs after the service has stopped", async () => {
  const ran: string[] = [];
  await runRounds([new Sweep((text) => ran.push(text))], undefined, AbortSignal.abort(), () => {});
  expect(ran).toEqual([]);
});
