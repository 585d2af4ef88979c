import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { Worktree } from "../../../src/git/commit-worktree.ts";
import type { Start } from "../../../src/git/find-start.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import type { WorktreePlace } from "../../../src/git/worktree.ts";
import { Worktrees, type WorktreesOptions } from "../../../src/git/worktrees.ts";

/** Creates a worktree without Git, as the service leaves it between turns. */
function create({ tree, index }: WorktreePlace, content = ""): void {
  mkdirSync(tree, { recursive: true });
  writeFileSync(join(tree, "page.md"), content);
  writeFileSync(index, "");
}

/** A repository without Git, whose worktrees have one file with the commit. It says what was there before each checkout. */
class FakeRepository extends GitRepository {
  /** For each checkout, the content that was there; `undefined` if it wrote a worktree from nothing. */
  readonly found: (string | undefined)[] = [];
  readonly restored: string[] = [];
  fetches = 0;
  /** `undefined` if the target branch does not exist. */
  head: string | undefined = "c1";
  /** What preparing a spare worktree waits for. */
  gate: () => Promise<void> = () => Promise.resolve();
  /** Called for each checkout. */
  onCheckOut = (): void => {};

  override async checkOut(start: Start, place: WorktreePlace): Promise<Worktree> {
    const page = join(place.tree, "page.md");
    this.found.push(existsSync(page) ? readFileSync(page, "utf8") : undefined);
    this.onCheckOut();
    create(place, start.head);
    return { ...place, head: start.head, identity: undefined };
  }

  override async fetch(): Promise<void> {
    this.fetches++;
    await this.gate();
  }

  override async targetBranch(chosen = "main"): Promise<string> {
    return chosen;
  }

  override async branchHead(branch: string): Promise<string | undefined> {
    return branch === "main" ? this.head : { next: "n1" }[branch];
  }

  override async restoreWorktree(place: WorktreePlace, commit: string): Promise<void> {
    this.restored.push(commit);
    create(place, commit);
  }
}

function setUp(options: Partial<WorktreesOptions> = {}) {
  const folder = temporaryFolder();
  const repository = new FakeRepository({ url: "/nowhere", folder });
  const worktrees = new Worktrees({
    repository,
    folder,
    kept: 2,
    slowCheckoutMs: Number.POSITIVE_INFINITY,
    ...options,
  });
  const placeOf = (job: string): WorktreePlace => ({
    tree: join(folder, "jobs", job, "tree"),
    index: join(folder, "jobs", job, "index"),
  });
  const checkOut = (job: string) => {
    const place = placeOf(job);
    mkdirSync(dirname(place.tree), { recursive: true });
    const start = { branch: `agent/${job}`, targetBranch: "main", base: "c1", head: "c1", remoteHead: undefined };
    return worktrees.checkOut(place, { ...start, isContinued: false, notes: [] });
  };
  const turn = async (job: string) => {
    await checkOut(job);
    await worktrees.takeBack(placeOf(job));
    await worktrees.release(placeOf(job));
  };
  /** Runs a turn of each job, one after another. */
  const turns = async (...jobs: string[]) => {
    for (const job of jobs) await turn(job);
  };
  /** Returns which jobs have a worktree. */
  const kept = () =>
    readdirSync(join(folder, "jobs"))
      .filter((job) => existsSync(placeOf(job).tree))
      .sort();
  const spare = { tree: join(folder, "spare/tree"), index: join(folder, "spare/index") };
  return { folder, repository, worktrees, placeOf, checkOut, turn, turns, kept, spare };
}

describe("a worktree", () => {
  test("is not one to continue with while an agent has it", async () => {
    const { checkOut, placeOf, worktrees } = setUp();
    expect(await checkOut("a")).toEqual({ ...placeOf("a"), head: "c1", identity: undefined });
    expect(existsSync(placeOf("a").index)).toBe(false);
    await worktrees.takeBack(placeOf("a"));
    expect(existsSync(placeOf("a").index)).toBe(true);
  });

  test("that was not taken back is removed after its turn", async () => {
    const { checkOut, placeOf, worktrees, folder } = setUp();
    await checkOut("a");
    await worktrees.release(placeOf("a"));
    expect(readdirSync(join(folder, "jobs/a"))).toEqual([]);
  });

  test("is in use from its checkout to its release", async () => {
    const { checkOut, placeOf, worktrees } = setUp();
    expect(worktrees.isIdle).toBe(true);
    await checkOut("a");
    expect(worktrees.isIdle).toBe(false);
    await worktrees.release(placeOf("a"));
    expect(worktrees.isIdle).toBe(true);
  });

  test("is kept for the next turn of its job, for the jobs that were used last", async () => {
    const { turns, kept, repository } = setUp();
    await turns("a", "b", "a");
    expect(repository.found).toEqual([undefined, undefined, "c1"]);
    await turns("c");
    expect(kept()).toEqual(["a", "c"]);
  });

  test("is not kept if none may be", async () => {
    const { turns, kept } = setUp({ kept: 0 });
    await turns("a");
    expect(kept()).toEqual([]);
  });

  test("that is in use is no excess, and does not count as kept", async () => {
    const { turns, checkOut, kept } = setUp();
    await turns("a", "b");
    await checkOut("a");
    await turns("c");
    expect(kept()).toEqual(["a", "b", "c"]);
  });

  test("is removed when its job does not need it", async () => {
    const { turns, worktrees, kept, placeOf } = setUp();
    await turns("a", "b");
    const asked: WorktreePlace[] = [];
    await worktrees.removeUnneeded(async (place) => {
      asked.push(place);
      return place.tree === placeOf("a").tree;
    });
    expect(asked).toEqual([placeOf("a"), placeOf("b")]);
    expect(kept()).toEqual(["a"]);
    await worktrees.removeUnneeded(async () => true);
    expect(kept()).toEqual(["a"]);
  });

  test("is not removed if a turn begins while it is asked whether the job needs it", async () => {
    const { turns, checkOut, worktrees, kept } = setUp();
    await turns("a");
    await worktrees.removeUnneeded(async () => {
      await checkOut("a");
      return false;
    });
    expect(kept()).toEqual(["a"]);
  });

  test("is written from nothing if a turn begins while it is being removed", async () => {
    const { turns, checkOut, worktrees, repository, kept } = setUp();
    await turns("a");
    const removed = worktrees.removeUnneeded(async () => false);
    await Promise.resolve();
    await checkOut("a");
    await removed;
    expect(repository.found).toEqual([undefined, undefined]);
    expect(kept()).toEqual(["a"]);
  });
});

describe("worktrees of an earlier service", () => {
  /** Creates worktrees of jobs, the first of which was used last. */
  const createEarlier = (placeOf: (job: string) => WorktreePlace, ...jobs: string[]): WorktreePlace[] =>
    jobs.map((job, age) => {
      const place = placeOf(job);
      create(place, "earlier");
      utimesSync(place.index, 1_000_000 - age, 1_000_000 - age);
      return place;
    });

  test("are kept if they were used last", async () => {
    const { worktrees, placeOf, kept, turns } = setUp();
    await worktrees.adopt(createEarlier(placeOf, "b", "c", "a"));
    expect(kept()).toEqual(["b", "c"]);
    await turns("d");
    expect(kept()).toEqual(["b", "d"]);
  });

  test("are removed if they were in use when it was killed", async () => {
    const { worktrees, placeOf, folder } = setUp();
    mkdirSync(placeOf("a").tree, { recursive: true });
    writeFileSync(`${placeOf("a").index}-in-use`, "");
    await worktrees.adopt([placeOf("a")]);
    expect(readdirSync(join(folder, "jobs/a"))).toEqual([]);
  });

  test("are left alone while a turn uses them, and kept afterwards", async () => {
    const { worktrees, placeOf, kept, checkOut } = setUp();
    const places = createEarlier(placeOf, "a");
    await checkOut("a");
    await worktrees.adopt(places);
    expect(kept()).toEqual(["a"]);
  });

  test("are left alone if a turn begins while others are looked at", async () => {
    const { worktrees, placeOf, kept, checkOut } = setUp({ kept: 0 });
    const adopted = worktrees.adopt(createEarlier(placeOf, "a", "b"));
    await checkOut("a");
    await adopted;
    expect(kept()).toEqual(["a"]);
  });

  test("give way to those that were used since", async () => {
    const { worktrees, placeOf, kept, turns } = setUp();
    const places = createEarlier(placeOf, "a", "b");
    await turns("c");
    await worktrees.adopt([...places, placeOf("c")]);
    expect(kept()).toEqual(["a", "c"]);
    await turns("d");
    expect(kept()).toEqual(["c", "d"]);
  });
});

test("a spare worktree has the files of the branch that new jobs start from", async () => {
  const { turns, worktrees, repository } = setUp({ slowCheckoutMs: 0, targetBranch: "next" });
  await turns("a");
  await worktrees.prepareSpares();
  expect(repository.restored).toEqual(["n1"]);
});

describe("a spare worktree", () => {
  const slow = { slowCheckoutMs: 0 };

  test("is prepared after a slow checkout, and taken over by the next new job", async () => {
    const { turns, worktrees, repository, spare, folder } = setUp(slow);
    await turns("a");
    repository.head = "c2";
    await worktrees.prepareSpares();
    expect([repository.fetches, repository.restored]).toEqual([1, ["c2"]]);
    expect([existsSync(spare.tree), existsSync(spare.index)]).toEqual([true, true]);
    expect(readdirSync(join(folder, "spare.new"))).toEqual([]);
    await turns("b");
    expect(repository.found).toEqual([undefined, "c2"]);
    expect(existsSync(spare.tree)).toBe(false);
  });

  test("is not prepared before a checkout was slow", async () => {
    const { turns, worktrees, repository } = setUp();
    await worktrees.prepareSpares();
    await turns("a");
    await worktrees.prepareSpares();
    expect(repository.fetches).toBe(0);
  });

  test("is prepared after a slow checkout, whatever the turns of other jobs took since, until a fast one", async () => {
    let now = 1e9;
    using clock = vi.spyOn(performance, "now").mockImplementation(() => now);
    const { checkOut, turns, worktrees, repository, placeOf, spare } = setUp({ slowCheckoutMs: 3000 });
    const takes = (ms: number): void => {
      repository.onCheckOut = () => {
        now += ms;
      };
    };
    takes(2999);
    await turns("a");
    await worktrees.prepareSpares();
    expect(existsSync(spare.tree)).toBe(false);
    takes(3000);
    await turns("b");
    takes(0);
    await turns("b");
    await worktrees.prepareSpares();
    expect(existsSync(spare.tree)).toBe(true);
    await checkOut("c");
    await worktrees.release(placeOf("c"));
    await worktrees.prepareSpares();
    expect(existsSync(spare.tree)).toBe(true);
    await checkOut("d");
    await turns("e");
    await worktrees.prepareSpares();
    expect(existsSync(spare.tree)).toBe(false);
    expect(clock).toHaveBeenCalled();
  });

  test("is left for new jobs by a job that has a worktree", async () => {
    const { turns, worktrees, repository, spare } = setUp(slow);
    await turns("a");
    await worktrees.prepareSpares();
    await turns("a");
    expect(repository.found).toEqual([undefined, "c1"]);
    expect(existsSync(spare.tree)).toBe(true);
  });

  test("is prepared only if there is none", async () => {
    const { turns, worktrees, repository } = setUp(slow);
    await turns("a");
    await worktrees.prepareSpares();
    await worktrees.prepareSpares();
    expect(repository.fetches).toBe(1);
  });

  test("is neither prepared nor used nor left where no worktrees are kept", async () => {
    const { turns, worktrees, repository, spare } = setUp({ ...slow, kept: 0 });
    create(spare, "earlier");
    await turns("a");
    await worktrees.prepareSpares();
    expect([repository.found, repository.fetches, existsSync(spare.tree)]).toEqual([[undefined], 0, true]);
    await worktrees.adopt([]);
    expect(existsSync(spare.tree)).toBe(false);
  });

  test("of an earlier service is kept and used", async () => {
    const { turns, worktrees, repository, spare } = setUp();
    create(spare, "earlier");
    await worktrees.adopt([]);
    await turns("a");
    expect(repository.found).toEqual(["earlier"]);
  });

  test("is not prepared without a target branch", async () => {
    const { turns, worktrees, repository, spare } = setUp(slow);
    await turns("a");
    repository.head = undefined;
    await worktrees.prepareSpares();
    expect([repository.restored, existsSync(spare.tree)]).toEqual([[], false]);
  });

  test("is there for each job of a burst, if several are prepared", async () => {
    const { turns, checkOut, worktrees, repository, folder } = setUp({ ...slow, kept: 4, spares: 3 });
    await turns("a");
    await worktrees.prepareSpares();
    expect([repository.fetches, repository.restored]).toEqual([1, ["c1", "c1", "c1"]]);
    await Promise.all(["b", "c", "d", "e"].map(checkOut));
    expect(repository.found.slice(1).sort()).toEqual(["c1", "c1", "c1", undefined]);
    expect(["spare", "spare-2", "spare-3"].map((name) => readdirSync(join(folder, name)))).toEqual([[], [], []]);
  });

  test("is not prepared beside a turn, except for the first one, for which one new job waits", async () => {
    const { turns, checkOut, worktrees, repository } = setUp({ ...slow, spares: 2 });
    await turns("a");
    await checkOut("running");
    const gate = Promise.withResolvers<void>();
    repository.gate = () => gate.promise;
    const prepared = worktrees.prepareSpares();
    await waitUntil(() => repository.fetches === 1);
    const checkouts = ["b", "c"].map(checkOut);
    // Either may be the one that waits.
    await Promise.race(checkouts);
    gate.resolve();
    await Promise.all([prepared, ...checkouts]);
    expect(repository.found).toEqual([undefined, undefined, undefined, "c1"]);
    expect(repository.restored).toEqual(["c1"]);
  });

  test("of an earlier service with more agents is removed", async () => {
    const { worktrees, spare, folder } = setUp();
    create(spare, "c1");
    const second = { tree: join(folder, "spare-2/tree"), index: join(folder, "spare-2/index") };
    create(second, "c1");
    await worktrees.adopt([]);
    expect([existsSync(spare.tree), existsSync(second.tree)]).toEqual([true, false]);
  });

  test("that is being prepared is waited for", async () => {
    const { turns, checkOut, worktrees, repository } = setUp(slow);
    await turns("a");
    const gate = Promise.withResolvers<void>();
    repository.gate = () => gate.promise;
    const prepared = worktrees.prepareSpares();
    await waitUntil(() => repository.fetches === 1);
    const checkedOut = checkOut("b");
    gate.resolve();
    await Promise.all([prepared, checkedOut]);
    expect(repository.found).toEqual([undefined, "c1"]);
  });

  test("that cannot be prepared keeps no job waiting, and is tried again", async () => {
    const { turns, worktrees, repository, spare } = setUp(slow);
    await turns("a");
    repository.gate = () => Promise.reject(new Error("no connection"));
    await expect(worktrees.prepareSpares()).rejects.toThrow("no connection");
    await turns("b");
    expect(repository.found).toEqual([undefined, undefined]);
    repository.gate = () => Promise.resolve();
    await worktrees.prepareSpares();
    expect(existsSync(spare.tree)).toBe(true);
  });

  test("replaces what is left of one that was not complete", async () => {
    const { turns, worktrees, spare, folder } = setUp(slow);
    await turns("a");
    mkdirSync(spare.tree, { recursive: true });
    writeFileSync(join(spare.tree, "left.md"), "");
    await worktrees.prepareSpares();
    expect(readdirSync(spare.tree)).toEqual(["page.md"]);
    expect(readdirSync(folder).sort()).toEqual(["jobs", "spare", "spare.new"]);
  });
});
