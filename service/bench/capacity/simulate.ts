import { median, quantile, seededRandom } from "../../../bench/statistics.ts";
import type { Machine } from "../../src/machine.ts";
import { WakeUps } from "../../src/store/postgres/wake-ups.ts";
import type { Cost, Costs } from "./costs.ts";

/** How a fleet of workers is used. */
export interface Fleet {
  workers: number;
  /** How many turns a worker runs at a time. */
  places: number;
  /** The mean time of an agent, in seconds. */
  agentSeconds: number;
  /** The share of places that run a turn. */
  busy: number;
  /** In which share of the seconds the log of a running turn grows. */
  logShare: number;
  apis: number;
  /** The cores of the Postgres server. */
  cores: number;
}

export interface Simulated {
  turnsPerMinute: number;
  /** Cores of Postgres in use. */
  cores: number;
  queriesPerSecond: number;
  /** Transactions with a notification. */
  notifyingCommitsPerSecond: number;
  /** How often a worker asked in vain for each turn that was taken, after a notification or a turn of its own. */
  asksPerTurn: number;
  /** From the create of a turn to its start, in seconds, of turns for which there was a free place. */
  medianDelay: number;
  /** 99 of 100 turns start sooner. */
  longestDelay: number;
  /** Connections in a transaction or statement, on average. */
  busyConnections: number;
}

const warmUpSeconds = 60;
/** Few workers have few turns, so that they are simulated for longer. */
const measuredSeconds = ({ workers }: Fleet): number => 240 * Math.max(1, Math.ceil(100 / workers));
const pollEverySeconds = 25;
const renewEverySeconds = 10;
const askEverySeconds = 5;
const roundEverySeconds = 30;
/** A network between machines, for each query. */
const roundTripMs = 0.5;
/** A create, a start and an end announce their job, and a create its turn, in one commit each. */
const commitsPerTurn = 3;

/** What happens at a time in the simulation, in milliseconds. */
interface Event {
  at: number;
  run: () => void;
}

/** A queue of events in the order of their times, and of their addition if the times are equal. */
class Agenda {
  readonly #heap: (Event & { order: number })[] = [];
  #count = 0;

  add(at: number, run: () => void): void {
    const heap = this.#heap;
    const event = { at, run, order: this.#count++ };
    let index = heap.push(event) - 1;
    for (; index > 0; ) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(event, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = event;
  }

  next(): Event | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const [one, other] = [heap[left], heap[left + 1]];
      if (one === undefined) break;
      const [child, place] = other !== undefined && isBefore(other, one) ? [other, left + 1] : [one, left];
      if (!isBefore(child, last)) break;
      heap[index] = child;
      index = place;
    }
    heap[index] = last;
    return first;
  }
}

const isBefore = (one: Event & { order: number }, other: Event & { order: number }) =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/**
 * What all processes do all the time, whatever the turns do: cores of Postgres, queries a second and connections in use.
 *
 * @param costs - of which those of background work are used
 */
export function backgroundOf(costs: Costs, fleet: Fleet): { cores: number; queries: number; connections: number } {
  const running = fleet.workers * fleet.places * fleet.busy;
  // A worker with all places taken does not ask.
  const free = fleet.workers * (1 - fleet.busy ** fleet.places);
  const rates: [Cost, number][] = [
    [costs.idleSecond, fleet.workers + fleet.apis],
    [costs.ask, free / askEverySeconds],
    [costs.round, fleet.workers / roundEverySeconds],
    [costs.logChunk, running * fleet.logShare],
    [costs.renewal, running / renewEverySeconds],
    [costs.poll, running / pollEverySeconds],
  ];
  const sum = (value: (cost: Cost) => number) => rates.reduce((total, [cost, rate]) => total + value(cost) * rate, 0);
  return {
    cores: sum(({ cpuMs }) => cpuMs) / 1000,
    queries: sum((cost) => cost.queries),
    connections: sum((cost) => (cost === costs.idleSecond ? 0 : durationMs(cost))) / 1000,
  };
}

const durationMs = ({ wallMs, queries }: Cost): number => wallMs + queries * roundTripMs;

/**
 * Simulates workers on one Postgres server for some minutes. Background work is a load without events; creates, notifications, the
 * questions that follow them and ends of turns are events. Their work waits for that before it: Postgres is `cores` cores that have no
 * other work. The workers decide as those of the service do when a notification wakes them.
 *
 * @param seed - the result is the same for the same one
 */
export async function simulate(costs: Costs, fleet: Fleet, seed = 1): Promise<Simulated> {
  const random = seededRandom(seed);
  const exponential = (mean: number) => -mean * Math.log(1 - random());
  const agenda = new Agenda();
  const background = backgroundOf(costs, fleet);
  const freeCores = Math.max(0.001, fleet.cores - background.cores);
  const seconds = measuredSeconds(fleet);
  let now = 0;
  let workDoneAt = 0;
  const used = { cpuMs: 0, queries: 0, connectionMs: 0, asks: 0, taken: 0, ended: 0, commits: 0 };
  const isMeasured = () => now >= warmUpSeconds * 1000;
  /** Returns when work of Postgres that begins now is done. */
  const work = (cost: Cost): number => {
    workDoneAt = Math.max(workDoneAt, now) + cost.cpuMs / freeCores;
    const doneAt = Math.max(workDoneAt, now + durationMs(cost));
    if (isMeasured()) {
      used.cpuMs += cost.cpuMs;
      used.queries += cost.queries;
      used.connectionMs += doneAt - now;
    }
    return doneAt;
  };
  const delivery = { cpuMs: costs.deliveryMs * (fleet.workers + fleet.apis), queries: 0, wallMs: 0 };
  const waiting: { createdAt: number; hasPlace: boolean }[] = [];
  let takenPlaces = 0;
  const delays: number[] = [];
  const workers: SimulatedWorker[] = [];
  const notify = () => {
    for (const worker of workers) worker.wakeUps.notified();
  };

  class SimulatedWorker {
    running = 0;
    isAsking = false;
    isWanted = false;
    readonly wakeUps: WakeUps;

    constructor(machine: Pick<Machine, "sleep" | "random">, signal: AbortSignal) {
      this.wakeUps = new WakeUps(() => this.ask(), machine, signal);
    }

    ask(): void {
      this.isWanted = true;
      if (this.isAsking || this.running >= fleet.places) return;
      this.isWanted = false;
      this.isAsking = true;
      agenda.add(work(costs.ask), () => {
        const turn = waiting.shift();
        if (turn === undefined) {
          if (isMeasured()) used.asks++;
          this.wakeUps.looked(false);
          this.isAsking = false;
          if (this.isWanted) this.ask();
          return;
        }
        agenda.add(work({ ...costs.take, cpuMs: costs.take.cpuMs - costs.ask.cpuMs }), () => {
          this.wakeUps.looked(true);
          this.isAsking = false;
          if (isMeasured()) {
            if (turn.hasPlace) delays.push(now - turn.createdAt);
            used.taken++;
          }
          this.start(exponential(fleet.agentSeconds * 1000));
          this.ask();
        });
      });
    }

    start(ms: number): void {
      this.running++;
      takenPlaces++;
      agenda.add(now + ms, () => {
        work({ ...delivery, cpuMs: delivery.cpuMs * 2 });
        agenda.add(work(costs.turn), () => {
          this.running--;
          takenPlaces--;
          if (isMeasured()) used.ended++;
          this.ask();
        });
      });
    }
  }

  const stop = new AbortController();
  const machine = {
    random,
    sleep: (ms: number) => new Promise<void>((resolve) => agenda.add(now + ms, resolve)),
  };
  for (let index = 0; index < fleet.workers; index++) {
    const worker = new SimulatedWorker(machine, stop.signal);
    workers.push(worker);
    for (let place = 0; place < fleet.places; place++)
      if (random() < fleet.busy) worker.start(exponential(fleet.agentSeconds * 1000));
  }
  const meanPause = (fleet.agentSeconds * 1000) / (fleet.workers * fleet.places * fleet.busy);
  const arrive = () => {
    const createdAt = now;
    const hasPlace = takenPlaces + waiting.length < fleet.workers * fleet.places;
    work({ ...delivery, cpuMs: delivery.cpuMs * 2 });
    agenda.add(work(costs.create), () => {
      waiting.push({ createdAt, hasPlace });
      notify();
    });
    agenda.add(now + exponential(meanPause), arrive);
  };
  agenda.add(exponential(meanPause), arrive);
  // Those that all missed are found by workers that ask from time to time.
  const poll = () => {
    if (waiting.length > 0) workers[Math.floor(random() * workers.length)]?.ask();
    agenda.add(now + (askEverySeconds * 1000) / fleet.workers, poll);
  };
  agenda.add(0, poll);
  const endAt = (warmUpSeconds + seconds) * 1000;
  for (let event = agenda.next(); event !== undefined && event.at < endAt; event = agenda.next()) {
    now = event.at;
    event.run();
    // A pause that has ended wakes its worker in a microtask or two.
    await undefined;
    await undefined;
  }
  stop.abort();
  const perSecond = (value: number) => value / seconds;
  return {
    turnsPerMinute: (used.ended / seconds) * 60,
    cores: background.cores + perSecond(used.cpuMs) / 1000,
    queriesPerSecond: background.queries + perSecond(used.queries),
    notifyingCommitsPerSecond: perSecond(used.taken) * commitsPerTurn,
    asksPerTurn: used.asks / Math.max(1, used.taken),
    medianDelay: median(delays) / 1000,
    longestDelay: quantile(delays, 0.99) / 1000,
    busyConnections: background.connections + perSecond(used.connectionMs) / 1000,
  };
}
