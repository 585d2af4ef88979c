import { expect, test } from "vitest";
import type { Cost, Costs } from "../../../bench/capacity/costs.ts";
import { findLimits, type Limits, usesOf } from "../../../bench/capacity/limits.ts";
import { backgroundOf, type Fleet, simulate } from "../../../bench/capacity/simulate.ts";

const cost = (cpuMs: number, queries: number): Cost => ({ cpuMs, queries, wallMs: 1 });
const costs: Costs = {
  create: cost(4, 16),
  take: cost(5, 7),
  turn: cost(20, 40),
  ask: cost(0.2, 1),
  logChunk: cost(0.5, 1),
  renewal: cost(0.4, 1),
  poll: cost(0.1, 1),
  round: cost(0.3, 3),
  idleSecond: cost(0.1, 0.2),
  deliveryMs: 0.01,
  connectMs: 2,
  connectionMb: 2,
  notifyingCommits: 1000,
};
const fleetOf = (workers: number): Fleet => ({
  ...{ workers, places: 4, agentSeconds: 100, busy: 0.5, logShare: 0.5, apis: 2, cores: 4 },
});
const limits: Limits = {
  ...{ connections: 97, workerConnections: 3, apiConnections: 11, coreShare: 0.7, cpuFactor: 1 },
  ...{ gitHubRequests: 5000, gitHubRequestsPerTurn: 3 },
};

test("the same costs and seed give the same result, another seed a similar one", async () => {
  const [one, same, other] = [
    await simulate(costs, fleetOf(30)),
    await simulate(costs, fleetOf(30)),
    await simulate(costs, fleetOf(30), 2),
  ];
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
  expect(other.turnsPerMinute / one.turnsPerMinute).toBeCloseTo(1, 0);
});

test("background work is the sum of what processes do in a second", () => {
  const { cores, queries } = backgroundOf(costs, fleetOf(10));
  const [idle, asks, rounds, chunks, renewals, polls] = [12, (10 * (1 - 0.5 ** 4)) / 5, 10 / 30, 10, 2, 20 / 25];
  const ms = idle * 0.1 + asks * 0.2 + rounds * 0.3 + chunks * 0.5 + renewals * 0.4 + polls * 0.1;
  expect(cores).toBeCloseTo(ms / 1000, 10);
  expect(queries).toBeCloseTo(idle * 0.2 + asks + rounds * 3 + chunks + renewals + polls, 10);
});

test("turns end as often as places and agents allow, and use what they cost", async () => {
  const fleet = fleetOf(50);
  const simulated = await simulate(costs, fleet);
  // 100 places are in use, each for 100 seconds.
  expect(simulated.turnsPerMinute).toBeGreaterThan(50);
  expect(simulated.turnsPerMinute).toBeLessThan(70);
  const turns = simulated.turnsPerMinute / 60;
  const atLeast = backgroundOf(costs, fleet).cores + (turns * (4 + 5 + 20 + 4 * 52 * 0.01)) / 1000;
  expect(simulated.cores).toBeGreaterThan(atLeast * 0.9);
});

test("turns start at once if there is room, and late if Postgres has none", async () => {
  expect((await simulate(costs, fleetOf(50))).medianDelay).toBeLessThan(0.2);
  const slow = { ...costs, turn: cost(5000, 40) };
  expect((await simulate(slow, fleetOf(50))).medianDelay).toBeGreaterThan(10);
});

test("the first limit is found at the number of workers that reaches it", async () => {
  const found = await findLimits(costs, { ...limits, gitHubRequests: 1e9 }, fleetOf, 40);
  expect(found).toEqual([
    { name: "connections", workers: 25 },
    { name: "connections with PgBouncer", workers: expect.any(Number) },
    ...Array<unknown>(3).fill({ name: expect.any(String), workers: 40 }),
  ]);
  // 24 workers have 72 connections, and two APIs 22.
  const fleet = fleetOf(24);
  const uses = usesOf(await simulate(costs, fleet), fleet, costs, limits);
  expect(uses.find(({ name }) => name === "connections")?.use).toBeCloseTo(94 / 97, 10);
});
