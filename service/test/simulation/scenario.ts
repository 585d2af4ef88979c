import fc from "fast-check";

/** A create or message that a client sends. */
export interface ClientRequest {
  at: number;
  /** Which API machine gets it. */
  api: number;
  /** `undefined`: a create. Otherwise a message to this one of the jobs that clients know by then, or a create if there is none. */
  job: number | undefined;
  project: number;
  /** How agents end that run for it. They change the repository unless `isNoOp`. `again`: what the second one and later ones do. */
  agent: { ms: number; end: "completed" | "failed"; isNoOp: boolean; again: "the same" | "failed" | "no-op" };
  /** What its client sends some time after something of its turn was refused and is kept: the same prompt, or another one. */
  retry: { as: "message" | "create" | "another prompt"; ms: number };
}

/** What an operator asks for: that a turn stops. */
export interface Stop {
  at: number;
  /** Which API machine gets it. */
  api: number;
  /** Which of the turns that are stored by then. */
  turn: number;
}

/**
 * What goes wrong. Except as noted, from `at` for `ms` milliseconds.
 *
 * - `kill`: the process ends at once; a new one starts afterwards
 * - `stop`, `drain`: a graceful stop, with running agents stopped or waited for; a new process starts `ms` after its end
 * - `pause`: the machine does nothing
 * - `store-down`: the connections to the store break, and none can be made; what is being committed is committed or not
 * - `store-cut`: the same, from the first transaction on that is sent within a minute after `at`
 * - `lost-second`: the same on all machines, and what was committed in the second before is lost, as after a failover
 * - `restore`: all processes are killed, and the store is what it was up to 20 s before; they are started again afterwards
 * - `slow-commits`: commits take effect late
 * - `deaf`: notifications do not arrive
 * - `echo`: notifications arrive several times
 * - `git-down`: Git cannot reach the remote; pushes land or not, also after they have been reported as failed
 * - `slow-pushes`: pushes land late
 * - `no-space`: nothing can be checked out
 * - `clock`: the machine's clock is wrong by twelve times `ms`, fast or slow, from then on
 * - `foreign-push`: someone else pushes to the branch of a job, once
 * - `refuse-branch`: the remote accepts no new branches
 * - `refuse-push`: the remote accepts no commits of the service; branches can still be created, moved back and deleted
 * - `refuse-pull`: no pull request can be opened
 */
export const faultKinds = [
  "kill",
  "stop",
  "drain",
  "pause",
  "store-down",
  "store-cut",
  "lost-second",
  "restore",
  "slow-commits",
  "deaf",
  "echo",
  "git-down",
  "slow-pushes",
  "no-space",
  "clock",
  "foreign-push",
  "refuse-branch",
  "refuse-push",
  "refuse-pull",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  kind: FaultKind;
  at: number;
  ms: number;
  /** Which machine, or which job. */
  machine: number;
  isEverywhere: boolean;
  /** If given, it begins with this step of the machine after one of its agents has ended, within a minute after `at`, or never. */
  step: number | undefined;
  /** If given, a pause ends early, with this step of the machine that has taken a turn over from the paused one. */
  wake: number | undefined;
  /** Whether the process is killed then while Git pushes, which Git survives. */
  diesPushing: boolean;
}

/** What happens in one history. Times are milliseconds since its start. */
export interface Scenario {
  /** The seed of everything that is drawn during the run, for example delays. */
  seed: number;
  apis: number;
  workers: number;
  /** Agents at a time, of each worker. */
  agents: number;
  agentsPerProject: number | undefined;
  /** How many creates and messages each project has used up in the last hour. */
  usedBefore: number;
  requests: readonly ClientRequest[];
  stops: readonly Stop[];
  faults: readonly Fault[];
  /** How likely the connection to the store breaks while a transaction is sent, or while it is committed. */
  storeLoss: number;
}

/** Short ones, and those around the time of a lease. */
const durations = [100, 1500, 8000, 25_000, 40_000, 50_000, 70_000, 600_000];

const duration = fc.constantFrom(...durations).chain((ms) => fc.integer({ min: ms / 2, max: ms }));
const moment = fc.integer({ min: 0, max: 150_000 });
const index = fc.nat(5);

const requests = fc.record<ClientRequest>({
  at: fc.oneof(moment, fc.integer({ min: 0, max: 10_000 })),
  api: index,
  job: fc.option(index, { nil: undefined }),
  project: fc.nat(1),
  agent: fc.record({
    ms: fc.oneof(fc.integer({ min: 100, max: 60_000 }), fc.integer({ min: 100, max: 3000 })),
    end: fc.constantFrom("completed", "completed", "completed", "failed"),
    isNoOp: fc.constantFrom(false, false, false, true),
    again: fc.constantFrom("the same", "the same", "failed", "no-op"),
  }),
  retry: fc.record({
    as: fc.constantFrom("message", "create", "another prompt"),
    ms: fc.integer({ min: 100, max: 60_000 }),
  }),
});

const stops = fc.record<Stop>({ at: moment, api: index, turn: index });

const faults = fc.record<Fault>({
  kind: fc.constantFrom(...faultKinds, "pause", "pause", "kill", "slow-pushes", "store-cut"),
  at: moment,
  ms: duration,
  machine: index,
  isEverywhere: fc.constantFrom(false, false, true),
  step: fc.constant(undefined),
  wake: fc.constant(undefined),
  diesPushing: fc.constant(false),
});

/** From the end of an agent to that of its turn, each step can be the last one for a long time. */
const faultsAfterAgents = fc.record<Fault>({
  kind: fc.constantFrom("pause", "pause", "kill", "store-down", "git-down"),
  at: fc.integer({ min: 0, max: 60_000 }),
  ms: duration,
  machine: index,
  isEverywhere: fc.constantFrom(false, false, true),
  step: fc.nat(20),
  wake: fc.constant(undefined),
  diesPushing: fc.constant(false),
});

/** For whole turns. */
const refusals = fc.record<Fault>({
  kind: fc.constantFrom("refuse-branch", "refuse-push", "refuse-push", "refuse-pull", "refuse-pull"),
  at: fc.integer({ min: 0, max: 30_000 }),
  ms: fc.constantFrom(8000, 40_000, 70_000, 150_000),
  machine: index,
  isEverywhere: fc.constant(true),
  step: fc.constant(undefined),
  wake: fc.constant(undefined),
  diesPushing: fc.constant(false),
});

/** While much is committed. */
const losses = fc.record<Fault>({
  kind: fc.constantFrom("lost-second", "lost-second", "restore"),
  at: fc.integer({ min: 0, max: 15_000 }),
  ms: fc.constantFrom(100, 5000, 40_000),
  machine: index,
  isEverywhere: fc.constant(true),
  step: fc.constant(undefined),
  wake: fc.constant(undefined),
  diesPushing: fc.constant(false),
});

/** A worker that has lost its turn wakes while another one runs it: a zombie. */
const zombies = fc.record<Fault>({
  kind: fc.constant("pause"),
  at: fc.integer({ min: 0, max: 60_000 }),
  ms: fc.constant(100_000),
  machine: index,
  isEverywhere: fc.constant(false),
  // Mostly before a push, its record, or the page of the pull request.
  step: fc.constantFrom(2, 3, 3, 4, 5, 6, 7, 8, 8),
  // While others run the turn, or a later one of its job.
  wake: fc.oneof(fc.nat(20), fc.integer({ min: 20, max: 100 })),
  diesPushing: fc.boolean(),
});

export const scenarios: fc.Arbitrary<Scenario> = fc.record<Scenario>({
  seed: fc.nat(),
  apis: fc.integer({ min: 1, max: 2 }),
  workers: fc.constantFrom(1, 2, 2, 3),
  agents: fc.integer({ min: 1, max: 2 }),
  agentsPerProject: fc.constantFrom(undefined, undefined, 1, 2),
  usedBefore: fc.constantFrom(0, 0, 0, 97, 99),
  requests: fc.array(requests, { minLength: 1, maxLength: 8, size: "max" }),
  stops: fc.array(stops, { maxLength: 4, size: "max" }),
  // What zombies do takes several steps of others, which more faults seldom let happen.
  faults: fc.oneof(
    {
      weight: 2,
      arbitrary: fc.array(fc.oneof(faults, faultsAfterAgents, zombies, losses), { maxLength: 10, size: "max" }),
    },
    { weight: 3, arbitrary: fc.array(zombies, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(refusals, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(fc.oneof(refusals, faults, faultsAfterAgents), { maxLength: 8, size: "max" }) },
  ),
  storeLoss: fc.constantFrom(0, 0, 0.02, 0.1),
});
