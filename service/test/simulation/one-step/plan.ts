import fc from "fast-check";
import type { Fate, Place } from "./link.ts";

/** What a run may do with the Actions cache. `refuses`: only a save shows that it may not write. */
export type CacheMode = "write" | "read" | "none" | "absent" | "refuses";

/**
 * What an agent does. Except for `nothing` and `gives-up`, it writes a file of its own.
 *
 * - `shared`: it changes the line that people change, too
 * - `fails`, `times-out`: it does not complete; `gives-up`: without a change
 */
export type AgentKind = "edits" | "shared" | "nothing" | "fails" | "gives-up" | "times-out";

/** What people do. */
export const acts = [
  "push-main",
  "push-main-shared",
  "merge",
  "squash",
  "squash-by-title",
  "merge-and-delete",
  "close",
  "reopen",
  "push-branch",
  "push-branch-shared",
  "rewrite-branch",
  "delete-branch",
  "open-by-hand",
  "rename",
  "evict",
  "delete-reply",
] as const;
export type Act = (typeof acts)[number];

/**
 * What starts a run: the night's schedule, a person who has a prompt of their own for the session, or a comment, in an issue or in the agent's
 * newest pull request. `anew`: a comment in the issue that asks for a new job.
 */
export type Trigger = "night" | "by-hand" | "issue" | "anew" | "pull";

/** An agent, and for how long it works, and then the check of its change. Without a check: 0. */
export interface AgentPlan {
  kind: AgentKind;
  ms: number;
  checkMs: number;
}

/** A moment of an attempt: when a call begins, by its number, or after its effect. */
interface Moment {
  call: number;
  isAfter: boolean;
}

/**
 * How an attempt ends early. `cancel`: somebody cancels the run. `kill`: the runner is lost. `kill-action`, `kill-child`: only one process
 * dies.
 */
export interface Stop extends Moment {
  how: "cancel" | "kill" | "kill-action" | "kill-child";
}

/** Some calls to a place, from one on, do not work. */
export interface Fault {
  place: Exclude<Place, "agent">;
  /** `undefined`: both. */
  isWrite: boolean | undefined;
  fate: Exclude<Fate, "works">;
  from: number;
  count: number;
}

/** What GitHub refuses in an attempt: pushes to branches that are there, new pull requests, or nothing. */
export type Refusal = "moves" | "pulls" | undefined;

/** One attempt of a run of the workflow, on a runner of its own. */
export interface AttemptPlan {
  /** Which run it is of. `again`: the newest; `earlier`: the one before that. */
  run: "new" | "again" | "earlier";
  /** What starts it, if it is new. */
  trigger: Trigger;
  onRerun: "resume" | "new";
  cache: CacheMode;
  agent: AgentPlan;
  before: readonly Act[];
  during: readonly (Moment & { act: Act })[];
  stop: Stop | undefined;
  faults: readonly Fault[];
  refuses: Refusal;
  /** A new run that begins while this one works. */
  beside: { call: number; trigger: Trigger; agent: AgentPlan; cache: CacheMode } | undefined;
  /** Since the end of the attempt before it, in milliseconds. */
  gapMs: number;
}

/** One history. */
export interface Plan {
  /** Whether comments start runs, too; otherwise, each is a night's. */
  hasComments: boolean;
  hasSession: boolean;
  /** Whether the nights of a session are told what people pushed. */
  hasChanges: boolean;
  isPrivate: boolean;
  /** Whether GitHub accepts refs of kept work. */
  takesRefs: boolean;
  /** Whether each run has the same prompt. */
  isSamePrompt: boolean;
  attempts: readonly AttemptPlan[];
}

const rarely = <T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(undefined) }, { weight, arbitrary });

const cache = fc.oneof(
  { weight: 6, arbitrary: fc.constant<CacheMode>("write") },
  { weight: 4, arbitrary: fc.constantFrom<CacheMode>("read", "none", "absent", "refuses") },
);
const agent = fc.record<AgentPlan>({
  kind: fc.constantFrom<AgentKind>(
    ...(["edits", "edits", "edits", "edits", "shared", "shared", "nothing", "fails", "gives-up", "times-out"] as const),
  ),
  ms: fc.constantFrom(2000, 20_000),
  checkMs: fc.constantFrom(0, 50_000),
});
const trigger = fc.constantFrom<Trigger>("night", "night", "night", "by-hand", "issue", "pull", "pull", "anew");
const call = fc.oneof(fc.nat(20), fc.nat(60));
const act = fc.constantFrom(...acts);
const fault = fc.record<Fault>({
  place: fc.constantFrom("git", "refs", "api", "cache"),
  isWrite: fc.constantFrom(undefined, true, true, false),
  fate: fc.constantFrom("fails", "lost"),
  from: fc.nat(5),
  count: fc.constantFrom(1, 1, 2, 6),
});

const attempt = fc.record<AttemptPlan>({
  run: fc.constantFrom("new", "again", "again", "earlier"),
  trigger,
  onRerun: rarely(1, fc.constant("new" as const)).map((mode) => mode ?? "resume"),
  cache,
  agent,
  before: rarely(5, fc.array(act, { minLength: 1, maxLength: 2 })).map((some) => some ?? []),
  during: rarely(2, fc.array(fc.record({ call, isAfter: fc.boolean(), act }), { minLength: 1, maxLength: 2 })).map(
    (some) => some ?? [],
  ),
  stop: rarely(
    3,
    fc.record<Stop>({
      call,
      isAfter: fc.boolean(),
      how: fc.constantFrom("cancel", "cancel", "kill", "kill", "kill-action", "kill-child"),
    }),
  ),
  faults: rarely(3, fc.array(fault, { minLength: 1, maxLength: 2 })).map((some) => some ?? []),
  refuses: rarely(2, fc.constantFrom("moves" as const, "pulls" as const)),
  beside: rarely(1, fc.record({ call, trigger, agent, cache })),
  gapMs: fc.constantFrom(20_000, 120_000, 86_400_000),
});

/** All kinds of histories; shrinks towards one attempt without faults. */
export const plans: fc.Arbitrary<Plan> = fc.record<Plan>({
  hasComments: fc.boolean(),
  hasSession: fc.boolean(),
  hasChanges: fc.boolean(),
  isPrivate: fc.boolean(),
  takesRefs: rarely(2, fc.constant(false)).map((takes) => takes ?? true),
  isSamePrompt: rarely(3, fc.constant(true)).map((isSame) => isSame ?? false),
  attempts: fc.array(attempt, { minLength: 1, maxLength: 6, size: "max" }),
});
