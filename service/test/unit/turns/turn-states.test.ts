import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { isThorough } from "../../../../test/support/thorough.ts";
import type { StoredTurn } from "../../../src/model.ts";
import { isCommitOf } from "../../../src/pulls/commit-message.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import type { Edits, MemoryCommit } from "../../support/memory-objects.ts";
import type { MemoryRepository } from "../../support/memory-repository.ts";
import { TurnWorld, type WorldOptions } from "../../support/turn-world.ts";

/*
 * Every state in which a worker can find a turn: whatever came before it, a worker dies before each of its effects, people do something, and
 * another worker goes on; or people do it while the first one runs. The states are not listed here: they are what a worker leaves.
 */

/** What a job has when the turn that is looked at begins. */
interface Before {
  checks?: WorldOptions["checks"];
  /** The prompt of an earlier turn. Default: there is none. */
  earlier?: string;
  /** How that ends. */
  refused?: "push" | "pull request";
  pull?: "closed" | "merged";
  /** What comes to main after it. Default: nothing. */
  main?: Edits;
  /** The prompt of the turn. */
  prompt: string;
}

const befores: Readonly<Record<string, Before>> = {
  nothing: { prompt: "One" },
  "nothing, with a check": { prompt: "One", checks: ["completed"] },
  "nothing, with a check that fails": { prompt: "One", checks: ["failed", "completed"] },
  "a pull request": { earlier: "One", prompt: "Two" },
  "a pull request that is behind": { earlier: "One", main: { "main.md": "1\n" }, prompt: "Two" },
  "a pull request that conflicts": { earlier: "One", main: { "One.md": "1\n" }, prompt: "Two" },
  "a pull request of the same prompt": { earlier: "One", prompt: "One" },
  "a merged pull request": { earlier: "One", pull: "merged", prompt: "Two" },
  "a closed pull request": { earlier: "One", pull: "closed", prompt: "Two" },
  "a refused push": { earlier: "One", refused: "push", prompt: "Two" },
  "a refused push of the same prompt": { earlier: "One", refused: "push", prompt: "One" },
  "a refused pull request": { earlier: "One", refused: "pull request", prompt: "Two" },
  "a refused pull request of the same prompt": { earlier: "One", refused: "pull request", prompt: "One" },
};

async function prepare(world: TurnWorld, clone: MemoryRepository, { earlier, refused, pull, main, prompt }: Before) {
  const { remote, pulls } = world;
  if (earlier !== undefined) {
    const isNew = (commit: string) => !remote.objects.isAncestor(commit, remote.head("main"));
    if (refused === "push")
      remote.refuses = ({ commit }) => (commit !== undefined && isNew(commit) ? "error: GH013" : undefined);
    if (refused === "pull request") pulls.refusal = new GitHubError("not permitted to create pull requests", 403);
    await world.send(earlier);
    await world.run(clone);
    remote.refuses = () => undefined;
    pulls.refusal = undefined;
    if (pull !== undefined) pulls.end(world.branch, pull);
    if (main !== undefined) remote.commitTo("main", main);
  }
  await world.send(prompt);
}

const page = { "person.md": "By hand\n" };
const conflict = { "One.md": "By hand\n", "Two.md": "By hand\n", "The.md": "By hand\n" };

/** What people do after the worker has died. */
interface Act {
  /** Default: always possible. */
  isPossible?(world: TurnWorld): boolean;
  /** Returns the commit that they make; `undefined` if they make none. */
  apply(world: TurnWorld): string | undefined;
}

const hasBranch = ({ remote, branch }: TurnWorld): boolean => remote.heads.has(branch);
const isMergeable = (world: TurnWorld): boolean =>
  isOpen(world) && world.remote.objects.merge(world.remote.head("main"), world.remote.head(world.branch)) !== undefined;
const isOpen = ({ pulls, branch }: TurnWorld): boolean => pulls.openOf(branch) !== undefined;

const acts: Readonly<Record<string, Act>> = {
  nothing: { apply: () => undefined },
  "push on top": {
    isPossible: hasBranch,
    apply: ({ remote, branch }) => remote.commitTo(branch, page),
  },
  "push a conflict": {
    isPossible: hasBranch,
    apply: ({ remote, branch }) => remote.commitTo(branch, conflict),
  },
  amend: {
    isPossible: (world) => world.commits().length > 0,
    apply: ({ remote, branch }) => remote.amend(branch, page),
  },
  "delete the branch": {
    isPossible: hasBranch,
    apply: ({ pulls, branch }) => {
      pulls.deleteBranch(branch);
      return undefined;
    },
  },
  close: {
    isPossible: isOpen,
    apply: ({ pulls, branch }) => {
      pulls.end(branch, "closed");
      return undefined;
    },
  },
  merge: {
    isPossible: isMergeable,
    apply: ({ pulls, branch }) => {
      pulls.end(branch, "merged");
      return undefined;
    },
  },
  "merge and delete": {
    isPossible: isMergeable,
    apply: ({ pulls, branch, remote }) => {
      pulls.end(branch, "merged");
      remote.deleteBranch(branch);
      return undefined;
    },
  },
  "push to main": {
    apply: ({ remote }) => remote.commitTo("main", page),
  },
  "take everything off the branch": {
    isPossible: hasBranch,
    apply: ({ remote, branch }) => {
      remote.setHead(branch, remote.head("main"));
      return undefined;
    },
  },
};

/** Returns all that others can see of a turn's state. */
async function stateOf(world: TurnWorld, clone: MemoryRepository): Promise<string> {
  return JSON.stringify([
    [...world.remote.heads],
    [...clone.jobs],
    [...world.bundles].map(([, packed]) => String(packed)),
    world.pulls.all.map((one) => [one.state, one.changes.map(({ head }) => head)]),
    await world.turns(),
    await world.link(),
  ]);
}

/** Whether a commit of a turn is among some. */
const hasOf = (turn: StoredTurn, commits: readonly (MemoryCommit | undefined)[]): boolean =>
  commits.some((commit) => commit !== undefined && isCommitOf(turn, commit.message));

/** What a turn has before people do something. */
interface Found {
  world: TurnWorld;
  before: Before;
  turn: StoredTurn;
  /** Whether its commit was made, and whoever goes on can find it. */
  isMade: boolean;
  /** How many agents were started, and how many pull requests opened. */
  agents: number;
  opened: number;
}

/** @param next - the clone of whoever goes on */
async function look(world: TurnWorld, before: Before, next: MemoryRepository): Promise<Found> {
  const turn = await world.lastTurn();
  const isMade = hasOf(turn, [...world.commits(), await world.kept(next), await world.kept("bundles")]);
  return { world, before, turn, isMade, agents: world.agents.length, opened: world.pulls.all.length };
}

/** What people did. */
interface Done {
  act: string;
  /** The commit that they made; `undefined` if they made none. */
  commit: string | undefined;
  /** Whether they did it while the worker ran. Default: after it had died. */
  isMeanwhile?: boolean;
}

/** Returns which rules a turn has broken since. */
async function findBroken(
  { world, before: { earlier, refused, prompt }, turn, isMade, agents, opened }: Found,
  clones: readonly MemoryRepository[],
  end: string,
  { act, commit, isMeanwhile = false }: Done,
): Promise<string[]> {
  const { remote, pulls, branch } = world;
  const { state, reason } = await world.lastTurn();
  const isOwn = (one: string): boolean => one === prompt;
  const [ran, all] = [world.agents.slice(agents).filter(isOwn).length, world.agents.filter(isOwn).length];
  const merged = pulls.all.flatMap(({ mergedHead }) => mergedHead ?? []);
  const published = remote.objects.log([...remote.heads.values(), ...merged]);
  // With the same prompt, what was kept is the turn's result.
  const isResult = (one: StoredTurn): boolean => one.id === turn.id || (refused !== undefined && isOwn(one.prompt));
  const isPublished = (await world.turns()).some((one) => isResult(one) && hasOf(one, published));
  const isReset = act === "take everything off the branch";
  const isTaken = isReset || ["delete the branch", "merge", "merge and delete"].includes(act);
  const isClosed = isTaken || act === "close";
  const isDeleted = ["delete the branch", "merge and delete"].includes(act);
  const keeps = await Promise.all([...clones, "bundles" as const].map((one) => world.kept(one)));
  const broken: Readonly<Record<string, boolean>> = {
    "the turn does not end": end !== "ended",
    // On another machine, what people took off the branch is made again.
    "an agent runs although the commit was made": ran > 0 && isMade && !(isTaken && clones.length > 1),
    "an agent runs a third time": all > (earlier === prompt ? 3 : 2),
    "two pull requests are open": pulls.all.filter((one) => one.state === "open").length > 1,
    "two pull requests are opened": pulls.all.length > opened + (isMeanwhile && isClosed ? 2 : 1),
    "what a person did is gone": commit !== undefined && !isThere(world, commit),
    "completed, and its commit is nowhere":
      state === "completed" && !isPublished && !(isMeanwhile && (isReset || act === "delete the branch")),
    "completed, and no pull request is open": state === "completed" && pulls.openOf(branch) === undefined && !isClosed,
    "failed without a reason of people":
      state === "failed" &&
      !((isReset || act === "push a conflict") && reason?.includes("conflicts with its change")) &&
      !(isClosed && /was closed (?:since|while the turn ran)/.test(reason ?? "")) &&
      !(isDeleted && reason?.includes("somebody has deleted that branch since")) &&
      !(isReset && reason?.includes("somebody has taken it from there since")),
    "what was paid for is lost":
      isMade && !isPublished && !hasOf(turn, keeps) && act !== "delete the branch" && !isReset,
  };
  const found = `${state}, ${ran} of ${all} ran, opened ${opened} of ${pulls.all.length}, ${reason ?? ""}`;
  return Object.keys(broken).flatMap((rule) => (broken[rule] ? `${rule}: ${found}` : []));
}

/** Whether a person's commit is on a branch, or all that it has: it is copied if it names the turn. */
function isThere({ remote }: TurnWorld, commit: string): boolean {
  const { objects } = remote;
  const files = [...objects.files(commit)];
  return [...remote.heads.values()].some((head) => {
    const found = objects.files(head);
    return objects.isAncestor(commit, head) || files.every(([path, id]) => found.get(path) === id);
  });
}

/** Sets up a job with a turn that waits. */
async function setUp(before: Before, keeps: WorldOptions["keeps"]) {
  const world = new TurnWorld({ checks: before.checks, keeps, folder: before.checks && temporaryFolder() });
  const clone = await world.addClone();
  await prepare(world, clone, before);
  return { world, clone, begin: await world.snapshot(clone) };
}

/** Where the next worker is: where the first one died, on another machine, or on another one because the first is gone with its clone. */
const machines = ["the same machine", "another machine", "a machine after a lost one"] as const;
/** Two thirds of the states are for the thorough run. */
const isSampled = (number: number): boolean => isThorough || number % 3 === 0;

test.each(Object.entries(befores))("a turn is right whenever its worker dies, after %s", async (_name, before) => {
  const broken: string[] = [];
  let states = 0;
  for (const keeps of ["nothing", "only place"] as const) {
    const seen = new Set<string>();
    const { world, clone, begin } = await setUp(before, keeps);
    await using _ = world;
    const dies = async (at: number): Promise<boolean> =>
      (await world.run(clone, (number) => (number === at ? "die" : undefined))).end === "died";
    for (let at = 1; await dies(at); at++) {
      const state = await stateOf(world, clone);
      const isNew = !seen.has(state);
      seen.add(state);
      const died = await world.snapshot(clone);
      for (const [index, [act, { isPossible, apply }]] of isNew ? Object.entries(acts).entries() : [])
        for (const machine of keeps === "nothing" ? machines.slice(0, 2) : machines.slice(2)) {
          if (!isSampled(at + index + machines.indexOf(machine))) continue;
          await died();
          if (isPossible?.(world) === false) continue;
          states++;
          const next = machine === "the same machine" ? clone : await world.addClone();
          const found = await look(world, before, next);
          const commit = apply(world);
          const { end } = await world.run(next);
          const rules = await findBroken(found, [...new Set([next, clone])], end, { act, commit });
          broken.push(...rules.map((rule) => `before effect ${at}, ${act}, ${machine}: ${rule}`));
        }
      await begin();
    }
  }
  expect(broken).toEqual([]);
  expect(states).toBeGreaterThan(isThorough ? 120 : 40);
});

test.each(Object.entries(befores))(
  "a turn is right whatever people do while it runs, after %s",
  async (_name, before) => {
    const broken: string[] = [];
    let states = 0;
    const { world, clone, begin } = await setUp(before, "nothing");
    await using _ = world;
    for (const [act, { isPossible = () => true, apply }] of Object.entries(acts))
      for (let at = 1, isOver = false; !isOver; at++) {
        await begin();
        const found = await look(world, before, clone);
        let did: { commit: string | undefined } | undefined;
        const { end, effects } = await world.run(clone, (number) => {
          if (number === at && isPossible(world)) did = { commit: apply(world) };
          return undefined;
        });
        isOver = effects < at;
        if (did === undefined) continue;
        states++;
        const rules = await findBroken(found, [clone], end, { act, ...did, isMeanwhile: true });
        broken.push(...rules.map((rule) => `before effect ${at}, ${act}: ${rule}`));
      }
    expect(broken).toEqual([]);
    expect(states).toBeGreaterThan(isThorough ? 40 : 13);
  },
);

test.each<[string, { isAmended?: true; hasMore?: true; isForgotten?: true }]>([
  ["the worker dies", {}],
  ["the worker dies, and a person amends what it pushed", { isAmended: true }],
  ["the worker dies, and a person amends what it pushed, and pushes on top", { isAmended: true, hasMore: true }],
  ["the worker dies, and nothing says which commit it checked", { isForgotten: true }],
])(
  "what a check showed is published only of what it checked, whenever %s",
  async (_name, { isAmended, hasMore, isForgotten }) => {
    const wrong: string[] = [];
    // The agent's first go fails its check, its second one does not.
    const before: Before = { prompt: "One", checks: ["failed", "completed", "completed"] };
    const { world, clone, begin } = await setUp(before, "nothing");
    await using _ = world;
    const dies = async (at: number): Promise<boolean> =>
      (await world.run(clone, (number) => (number === at ? "die" : undefined))).end === "died";
    for (let at = 1; await dies(at); at++) {
      if (isAmended && world.commits().length > 0) {
        world.remote.amend(world.branch, page);
        if (hasMore) world.remote.commitTo(world.branch, { "top.md": "By hand\n" });
      }
      if (isForgotten && (await world.lastTurn()).head === null) {
        await world.forgetMade();
        world.checked.clear();
      }
      await world.run(clone);
      const { head = "", check } = world.pulls.openOf(world.branch)?.changes.at(-1) ?? {};
      const files = [...world.remote.objects.files(head).keys()];
      const paths = files.filter((path) => path !== "top.md").join();
      const showed = world.checked.get(paths);
      if (showed === undefined || check?.result !== (showed === "completed" ? "passed" : "failed"))
        wrong.push(`before effect ${at}: ${check?.result} of ${paths}, which showed ${showed}`);
      world.checked.clear();
      await begin();
    }
    expect(wrong).toEqual([]);
  },
);
