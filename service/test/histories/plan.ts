import type { RunAccess } from "../../../test/support/cache-service.ts";
import { Random } from "../chaos/random.ts";

/** What a scripted agent does: see `agent.ts`. */
export type AgentKind =
  | "page"
  | "edit"
  | "nothing"
  | "fails"
  | "slow"
  | "endless"
  | "overtime"
  | "leaves"
  | "commits"
  | "speaks"
  | "outside"
  | "secret"
  | "broken"
  | "unrepaired";

/** What people do: see `people.ts`. */
export type Act =
  | "push to main"
  | "edit main"
  | "push to branch"
  | "edit branch"
  | "squash"
  | "squash by title and delete"
  | "merge"
  | "close"
  | "reopen"
  | "delete branch"
  | "rename";

/** A moment of an attempt. `before` and `after` are about its requests, of which `match` selects some. */
export interface Moment {
  on: "time" | "agent started" | "agent ended" | "before" | "after";
  /** A regular expression for the names of requests. Default: any. */
  match?: string;
  /** How many such requests pass before. Default: 0. */
  skip?: number;
  /** Default: 0. */
  delayMs?: number;
}

/** What becomes of a request. `lost`: it is carried out, but its answer does not arrive. `dropped`: it does not arrive. */
export type Fate = "answered" | "lost" | "dropped" | "hangs" | "502" | "403" | "limited";

/** Requests that have a fate. */
export interface Fault {
  /** A regular expression for the names of requests. */
  match: string;
  fate: Exclude<Fate, "answered">;
  /** How many of them pass before. */
  skip: number;
  /** How many of them have the fate. */
  times: number;
  /** When it begins. Default: with the attempt. */
  from?: "agent started" | "agent ended";
}

export interface AttemptPlan {
  agent: AgentKind;
  /** What people do before it starts. */
  before?: Act[];
  /** What people do meanwhile. */
  during?: { act: Act; at: Moment };
  /** How it is stopped: as a runner cancels a step, or by SIGKILL of the action, or of all that runs on its runner. */
  stop?: { how: "cancel" | "kill action" | "kill all"; at: Moment };
  faults?: Fault[];
  /** Default: the plan's. */
  cache?: RunAccess;
  /** Whether GitHub has removed all entries of the cache before. */
  isEvicted?: true;
  /** What a rule says of pushes of commits to branches of jobs. */
  rule?: "refuses commits" | "finds a secret";
  /** Whether Actions may open no pull requests. */
  hasNoPulls?: true;
  /** A second run at once. */
  beside?: { agent: AgentKind; at: Moment };
}

export interface RunPlan {
  attempts: AttemptPlan[];
  /** Whether it is run again although it succeeded. */
  isRepeated?: true;
}

/** A history: runs of one workflow, and what happens to them. All that is drawn is here, so that it can be written as JSON. */
export interface Plan {
  mode: "plain" | "session" | "comment";
  cache: RunAccess;
  isPrivate?: true;
  /** Whether the repository refuses `refs/agent-work`. */
  refusesRefs?: true;
  hasCheck?: true;
  /** Whether only `docs` may be changed. */
  hasOnly?: true;
  /** Whether the agent has the key of a model. */
  hasModelKey?: true;
  /** Whether the prompt lists the changes since the last night. */
  hasChanges?: true;
  /** Whether all runs have the same prompt. */
  hasSamePrompt?: true;
  /** Whether the first run is run again at the end. */
  isFirstRepeated?: true;
  runs: RunPlan[];
}

/** How often something is drawn, among others. */
type Weights<T extends string> = Readonly<Partial<Record<T, number>>>;

function draw<T extends string>(random: Random, weights: Weights<T>): T {
  const entries = Object.entries(weights) as [T, number][];
  let left = random.between(
    0,
    entries.reduce((sum, [, weight]) => sum + weight, 0),
  );
  for (const [value, weight] of entries) {
    left -= weight;
    if (left < 0) return value;
  }
  throw new Error("nothing to draw");
}

const moments: Weights<string> = {
  "agent started": 5,
  "agent ended": 9,
  "before push create begun": 2,
  "after push create begun": 2,
  "before push .*create made": 4,
  "after push .*create made": 4,
  "before push .*(?:create|move) branch": 6,
  "after push .*(?:create|move) branch": 6,
  "before POST pulls$": 6,
  "after POST pulls$": 7,
  "before push .*delete": 3,
  "before PATCH": 2,
  "after cache commit": 4,
  "before cache": 4,
  before: 10,
  after: 6,
  time: 5,
};

function drawMoment(random: Random, weights: Weights<string> = moments): Moment {
  const [on, match] = splitMoment(draw(random, weights));
  const isAny = (on === "before" || on === "after") && (match === undefined || match === "cache");
  const skip = isAny ? Math.floor(random.between(0, match === undefined ? 45 : 10)) : random.next() < 0.15 ? 1 : 0;
  const delayMs = on === "time" ? random.between(100, 4000) : random.next() < 0.6 ? 0 : random.between(0, 600);
  return {
    on,
    ...(match !== undefined && { match: `^${match}` }),
    ...(skip > 0 && { skip }),
    ...(delayMs > 0 && { delayMs: Math.round(delayMs) }),
  };
}

function splitMoment(text: string): [Moment["on"], string | undefined] {
  const [, on, match] = /^(before|after) (.+)$/.exec(text) ?? [];
  return [(on ?? text) as Moment["on"], match];
}

const faults: Weights<string> = {
  "POST pulls$": 8,
  "push .*branch": 5,
  "push .*made": 4,
  "push .*begun": 3,
  "push .*delete": 2,
  push: 2,
  "list |fetch": 4,
  "GET pulls$": 4,
  "GET pulls/": 2,
  PATCH: 2,
  "GET activity": 2,
  "POST graphql": 2,
  "POST (?:issues|comments)": 2,
  "(?:GET|POST|PATCH) ": 4,
  "cache look up": 2,
  "cache (?:reserve|upload|commit)": 3,
  cache: 3,
  "": 4,
};

function drawFault(random: Random): Fault {
  const match = draw(random, faults);
  const from = draw(random, { start: 5, "agent started": 1, "agent ended": 4 });
  return {
    match: `^${match && `(?:${match})`}`,
    fate: draw(random, {
      "502": 8,
      lost: 7,
      dropped: 3,
      "403": match.includes("cache") ? 1 : 2,
      limited: 1,
      hangs: 0.5,
    }),
    skip: random.next() < 0.5 ? 0 : Math.floor(random.between(0, 8)),
    times:
      draw(random, { "1": 5, "2": 2, "4": 2, "30": 1 }) === "1" ? 1 : Number(draw(random, { "2": 2, "4": 2, "30": 1 })),
    ...(from !== "start" && { from }),
  };
}

function drawAct(random: Random): Act {
  return draw(random, {
    "push to main": 4,
    "edit main": 2,
    "push to branch": 4,
    "edit branch": 3,
    squash: 4,
    "squash by title and delete": 3,
    merge: 2,
    close: 3,
    reopen: 1,
    "delete branch": 2,
    rename: 1,
  });
}

function drawAttempt(random: Random, plan: Plan, isFirst: boolean): AttemptPlan {
  const yes = (chance: number): boolean => random.next() < chance;
  const drawn = draw<AgentKind>(random, {
    page: 40,
    edit: 14,
    nothing: 7,
    fails: 6,
    slow: 3,
    endless: 3,
    overtime: 1,
    leaves: 3,
    commits: 4,
    speaks: 4,
    secret: plan.hasModelKey ? 6 : 0,
    outside: plan.hasOnly ? 8 : 0,
    broken: plan.hasCheck ? 10 : 0,
    unrepaired: plan.hasCheck ? 8 : 0,
  });
  const at: Weights<string> = {
    "agent started": 2,
    "agent ended": 3,
    "before push .*branch": 3,
    "after push .*branch": 3,
    "before POST pulls$": 2,
    "after POST pulls$": 2,
  };
  const acts: Act[] = !isFirst && yes(0.45) ? [drawAct(random)] : [];
  // Without a change, a night has nothing to do.
  if (plan.hasChanges) acts.push("push to main");
  const isStopped = drawn === "endless" || yes(0.35);
  const how = draw(random, { cancel: 40, "kill action": 20, "kill all": 30 });
  // A session waits for a runner that is lost until its time is over, which is longer than this one has.
  const isBeside = !isStopped && !plan.hasSamePrompt && yes(0.15);
  // Another run takes seconds to begin.
  const agent = isBeside && yes(0.7) ? "slow" : drawn;
  return {
    agent,
    ...(acts.length > 0 && { before: acts }),
    ...(yes(0.15) && { during: { act: drawAct(random), at: drawMoment(random, at) } }),
    ...(isStopped && { stop: { how, at: agent === "endless" ? { on: "agent started" } : drawMoment(random) } }),
    ...(yes(0.3) && { faults: yes(0.25) ? [drawFault(random), drawFault(random)] : [drawFault(random)] }),
    ...(yes(0.12) && { cache: draw<RunAccess>(random, { write: 1, read: 1, none: 1, "403": 1 }) }),
    ...(!isFirst && yes(0.06) && { isEvicted: true }),
    ...(yes(0.08) && { rule: draw(random, { "refuses commits": 4, "finds a secret": 1 }) }),
    ...(yes(0.08) && { hasNoPulls: true }),
    ...(isBeside && {
      beside: {
        agent: draw<AgentKind>(random, { page: 4, edit: 3, nothing: 1, fails: 1 }),
        at: drawMoment(random, { "agent started": 5, "agent ended": 1, "before push .*branch": 1 }),
      },
    }),
  };
}

/** Draws a history. */
export function drawPlan(seed: number): Plan {
  const random = new Random(seed);
  const yes = (chance: number): boolean => random.next() < chance;
  const mode = draw<Plan["mode"]>(random, { plain: 3, session: 5, comment: 2 });
  const cache = draw<RunAccess>(
    random,
    mode === "comment" ? { read: 6, write: 2, none: 1, "403": 1 } : { write: 60, read: 15, none: 15, "403": 10 },
  );
  const options: Omit<Plan, "runs"> = {
    mode,
    cache,
    ...(yes(0.6) && { isPrivate: true }),
    ...(yes(0.12) && { refusesRefs: true }),
    ...(yes(0.25) && { hasCheck: true }),
    ...(yes(0.2) && { hasOnly: true }),
    ...(yes(0.2) && { hasModelKey: true }),
    ...(mode === "session" && yes(0.4) && { hasChanges: true }),
    ...(mode === "session" && yes(0.3) && { hasSamePrompt: true }),
    ...(mode === "session" && yes(0.2) && { isFirstRepeated: true }),
  };
  const plan: Plan = { ...options, runs: [] };
  const runs = draw(random, { "1": 4, "2": 4, "3": 2 });
  for (let run = 0; run < Number(runs); run++) {
    const attempts = Number(draw(random, { "1": 5, "2": 4, "3": 1 }));
    plan.runs.push({
      attempts: Array.from({ length: attempts }, (_, n) => drawAttempt(random, plan, run + n === 0)),
      ...(yes(0.3) && { isRepeated: true }),
    });
  }
  return plan;
}

/** Returns smaller histories, the boldest first: without a run, an attempt, or something that happens. */
export function* smallerPlans(plan: Plan): Generator<Plan> {
  const without = (change: (copy: Plan) => void): Plan => {
    const copy = structuredClone(plan);
    change(copy);
    return copy;
  };
  const attempts = plan.runs.flatMap((run, r) => run.attempts.map((attempt, a) => ({ attempt, r, a })));
  if (plan.runs.length > 1) for (const r of plan.runs.keys()) yield without((copy) => copy.runs.splice(r, 1));
  for (const { r, a } of attempts)
    if ((plan.runs[r]?.attempts.length ?? 0) > 1) yield without((copy) => copy.runs[r]?.attempts.splice(a, 1));
  for (const { attempt, r, a } of attempts) {
    const change = (edit: (copy: AttemptPlan) => void): Plan =>
      without((copy) => {
        const found = copy.runs[r]?.attempts[a];
        if (found) edit(found);
      });
    const { agent, ...others } = attempt;
    for (const key of Object.keys(others) as (keyof typeof others)[]) yield change((copy) => delete copy[key]);
    for (const key of ["faults", "before"] as const)
      if ((attempt[key]?.length ?? 0) > 1)
        for (const index of attempt[key]?.keys() ?? []) yield change((copy) => copy[key]?.splice(index, 1));
    if (agent !== "page") yield change((copy) => Object.assign(copy, { agent: "page" }));
    if (attempt.stop?.at.delayMs) yield change((copy) => delete copy.stop?.at.delayMs);
  }
  for (const [r, run] of plan.runs.entries())
    if (run.isRepeated) yield without((copy) => delete copy.runs[r]?.isRepeated);
  const { mode, cache, runs: _runs, ...flags } = plan;
  for (const key of Object.keys(flags) as (keyof typeof flags)[]) yield without((copy) => delete copy[key]);
  if (cache !== "write") yield { ...plan, cache: "write" };
  if (mode !== "plain") yield { ...plan, mode: "plain" };
}
