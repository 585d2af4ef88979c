import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { noContext, type PromptContext } from "../../../src/model.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import type { KeptCommits } from "../../../src/store/kept-commits.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import type { Failure, TurnPorts } from "../../../src/turns/turn-ports.ts";
import { memoryHost } from "../../support/memory-host.ts";
import { memoryPorts } from "../../support/memory-ports.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";
import { memoryWorktrees } from "../../support/memory-worktrees.ts";

const job = "job_1";
const branch = `agent/${job}`;

/** What GitHub prints when a rule rejects a push. */
const ruleRefusal = `remote: error: GH013: Repository rule violations found for refs/heads/${branch}.
remote: Review all repository rules at https://github.com/o/r/rules
remote:
remote: - Commits must have verified signatures.
`;

/** Creates workers with a clone each and a store that they share. Each agent writes its prompt to a file of its own. */
async function setUp() {
  const remote = new MemoryRemote();
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const bundles = new Map<string, Uint8Array>();
  const keptCommits: KeptCommits = {
    save: async ({ job }, bundle) => void bundles.set(job, bundle),
    load: async (job) => bundles.get(job),
    forget: async ({ job }) => void bundles.delete(job),
  };
  const platform = {
    closedAt: undefined as number | undefined,
    /** The last commit of the pull request, once it is merged. */
    merged: undefined as string | undefined,
    opened: 0,
    refuses: false,
  };
  const checks: unknown[] = [];
  const pullRequests: TurnPorts["pullRequests"] = {
    open: async ({ existing, check }) => {
      if (platform.refuses) throw new GitHubError("not permitted to create or approve pull requests", 403);
      platform.opened++;
      checks.push(check && [check.result, check.command]);
      return existing ?? `https://example.com/pull/${platform.merged ? 2 : 1}`;
    },
    read: async ({ link }) => {
      const mergedHead = link.endsWith("/1") ? platform.merged : undefined;
      if (mergedHead !== undefined) return { state: "merged", target: undefined, mergedHead };
      const { closedAt } = platform;
      return { state: closedAt ? "closed" : "open", target: undefined, closedAt };
    },
    findClosed: async () => new Set<string>(),
  };
  const runs: string[] = [];
  const createWorker = async (more: Partial<TurnPorts> = { keptCommits }, check?: string) => {
    const folder = temporaryFolder();
    const repository = new MemoryRepository(remote);
    await repository.open();
    const worktrees = memoryWorktrees(repository);
    const host: TurnHost = {
      ...memoryHost,
      runAgent: async (_agent, { prompt, directories: { tree } }) => {
        if (check !== undefined && tree.includes("/check/")) return runCheck(check, repository.files(tree));
        if (prompt !== "nothing") repository.edit(tree, { [`${prompt.replace(/\s.*/s, "")}.md`]: prompt });
        return { end: "completed", message: undefined, error: undefined };
      },
    };
    const ports: TurnPorts = {
      ...memoryPorts(),
      host,
      store,
      repository,
      worktrees,
      pullRequests,
      folder,
      onAgentEnd: () => void runs.push("agent"),
      ...more,
      ...(check !== undefined && {
        commands: {
          check,
          reads: [],
          setupNetwork: fullNetwork,
          repository: {
            ownStart: (start, chosen) => repository.ownStart(start, chosen),
            checkOut: (start, place) => repository.checkOut(start, place),
            keepIgnored: async () => [],
          },
          worktrees,
        },
      }),
    };
    /** Adds a turn with a prompt and runs it. */
    return async (prompt: string, endedAt = 5, context: PromptContext = noContext) => {
      if (await store.jobs.find(job)) await store.turns.add(job, prompt, 0, undefined, undefined, context);
      else await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, prompt, 0, undefined, undefined, context);
      const [turn, stored] = [await store.runningTurns.startNext(), await store.jobs.find(job)];
      if (turn === undefined || stored === undefined) throw new Error("no turn is waiting");
      let failure: Failure | undefined;
      const onFailure = (found: Failure): void => {
        failure = found;
      };
      const result = await runTurn(turn, stored, { ...ports, onFailure }, new AbortController().signal);
      if (result !== "completed" && result !== "failed") throw new Error(`the turn is ${result}`);
      await store.runningTurns.finish(turn, result, endedAt, failure);
      return [result, failure?.reason, failure?.kept];
    };
  };
  /** Lets the host reject pushes: of new commits, of all, or of none; a branch may be deleted, unless all are rejected. It says why. */
  const refuse = (what: "commits" | "all" | "nothing", refusal = ruleRefusal) => {
    const isNew = (commit: string) => !remote.objects.isAncestor(commit, remote.head("main"));
    remote.refuses = ({ commit }) => {
      const isRefused = what === "all" || (what === "commits" && commit !== undefined && isNew(commit));
      return isRefused ? refusal : undefined;
    };
  };
  /** Lets a person add a file to a branch, on top of the target branch. */
  const commitOn = (name: string, file: string) => {
    remote.setHead(name, remote.head("main"));
    remote.commitTo(name, { [file]: "Others" }, "Other");
  };
  const commitOnMain = (file: string) => commitOn("main", file);
  /** Lets a person merge the pull request by a squash. */
  const squash = () => {
    remote.squash(branch);
    platform.merged = remote.head(branch);
  };
  const subjects = () => {
    const head = remote.heads.get(branch);
    const commits = head === undefined ? [] : remote.objects.log([head], [remote.head("main")]);
    return commits.map(({ message }) => message.split("\n", 1)[0]).reverse();
  };
  return {
    remote,
    store,
    platform,
    checks,
    keptCommits,
    bundles,
    runs,
    createWorker,
    refuse,
    commitOn,
    commitOnMain,
    squash,
    subjects,
  };
}

/** Runs a check that lists files. */
function runCheck(check: string, files: readonly string[]): Awaited<ReturnType<TurnHost["runAgent"]>> {
  const [, not, list = ""] = /^(! )?(?:ls )?([^#]*)/.exec(check) ?? [];
  const isListed = list
    .trim()
    .split(" ")
    .every((file) => files.includes(file));
  const isPassed = not === undefined ? isListed : !isListed;
  return { end: isPassed ? "completed" : "failed", exitCode: isPassed ? 0 : 1, message: "", error: undefined };
}

/** A host whose agents fail. */
const failingHost: TurnHost = {
  ...memoryHost,
  runAgent: async () => ({ end: "failed", exitCode: 1, message: undefined, error: undefined }),
};

const why = "GH013: Repository rule violations found";

test("what somebody has taken away is kept for nobody, so that no later turn publishes it", async () => {
  const { remote, keptCommits, bundles, createWorker } = await setUp();
  const places: KeptCommits = {
    ...keptCommits,
    isOnlyPlace: true,
    forget: async (turn) => void bundles.delete(turn.job),
  };
  const open: TurnPorts["pullRequests"]["open"] = async () => {
    remote.deleteBranch(branch);
    throw new GitHubError("Validation Failed", 422);
  };
  const read: TurnPorts["pullRequests"]["read"] = async () => ({ state: "open", target: undefined });
  const taken = { open, read, findClosed: async () => new Set<string>() };
  const runFirst = await createWorker({ keptCommits: places, pullRequests: taken });
  expect(await runFirst("one")).toEqual([
    "failed",
    expect.stringContaining("somebody has deleted that branch"),
    undefined,
  ]);
  expect([...bundles.keys()]).toEqual([]);
});

test("kept work answers the same prompt, whatever it was told besides, unless that is about later changes", async () => {
  const told = (sections: string, covers: string): PromptContext => ({ sections, asked: null, covers });
  const [old, later] = ["a".repeat(40), "b".repeat(40)];
  for (const [context, agents] of [
    [told("Pull request #1 was closed.", old), 1],
    [told("What changed", later), 2],
  ] as const) {
    const { runs, createWorker, refuse, subjects } = await setUp();
    const run = await createWorker();
    refuse("commits");
    expect(await run("a", 5, told("What changed", old))).toEqual(["failed", expect.stringContaining(why), "push"]);
    refuse("nothing");
    expect(await run("a", 9, context)).toEqual(["completed", undefined, undefined]);
    expect([runs.length, subjects()[0]]).toEqual([agents, "a"]);
  }
});

test("a commit whose push is refused is kept, and any worker publishes it on top of what others have pushed", async () => {
  const { remote, runs, createWorker, refuse, commitOnMain, subjects, store } = await setUp();
  const [one, two] = [await createWorker(), await createWorker()];
  refuse("commits");
  expect(await one("more")).toEqual(["failed", expect.stringContaining(why), "push"]);
  const [result, reason = ""] = await one("more");
  expect(result).toBe("failed");
  // The branch that was tried goes, because nothing is on it.
  expect(remote.branches()).toEqual([]);
  expect(reason).toContain("Commits must have verified signatures. The commit is kept. Use the token of a");
  expect(reason).not.toContain("https://");
  expect(runs.length).toBe(1);
  // One that is stopped before its agent runs changes nothing of that.
  await store.turns.add(job, "other", 0);
  await store.turns.stop(job, (await store.turns.ofJob(job)).at(-1)?.id ?? 0, 1, "Stopped.");
  refuse("nothing");
  commitOnMain("other.md");
  expect(await two("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects()]).toEqual([1, ["more"]]);
  expect(await store.jobs.find(job)).toMatchObject({
    pullRequest: "https://example.com/pull/1",
    head: remote.head(branch),
  });
  expect(await two("another")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects()]).toEqual([2, ["more", "another"]]);
});

test("another prompt is worked on after what is kept has been published, also if others have rewritten what that is based on", async () => {
  const { remote, runs, createWorker, refuse, commitOnMain, subjects, platform } = await setUp();
  const [one, two] = [await createWorker(), await createWorker()];
  commitOnMain("other.md");
  refuse("commits");
  await one("more");
  refuse("nothing");
  remote.amend("main", {}, "Squashed");
  expect(await two("another")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects(), platform.opened]).toEqual([2, ["more", "another"], 2]);
});

test("a branch that is refused costs no agent, and one without a commit is removed", async () => {
  const { remote, runs, createWorker, refuse } = await setUp();
  const one = await createWorker();
  refuse("all");
  const [result, reason = "", kept] = await one("more");
  expect([result, kept, runs]).toEqual(["failed", undefined, []]);
  expect(reason).toContain(`The branch ${branch} was refused: ${why}`);
  expect(reason).toContain("No agent was run.");
  refuse("nothing");
  expect(await one("nothing")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, remote.branches()]).toEqual([1, []]);
});

test("what conflicts with the branch, or is not on the machine, is done again", async () => {
  const { runs, createWorker, refuse, commitOnMain, subjects } = await setUp();
  const [one, two] = [await createWorker({}), await createWorker({})];
  refuse("commits");
  await one("more");
  refuse("nothing");
  commitOnMain("more.md");
  expect(await one("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects()]).toEqual([2, ["more"]]);
  refuse("commits");
  await one("another");
  refuse("nothing");
  expect(await two("another")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects()]).toEqual([4, ["more", "another"]]);
});

test("what conflicts stays kept if the agent that does it again fails before its first edit", async () => {
  const { remote, runs, createWorker, refuse, commitOnMain, subjects, store, keptCommits } = await setUp();
  const one = await createWorker();
  refuse("commits");
  await one("more");
  refuse("nothing");
  commitOnMain("more.md");
  const failing = await createWorker({ keptCommits, host: failingHost });
  expect(await failing("more")).toEqual(["failed", expect.any(String), undefined]);
  expect(await store.jobs.find(job)).toMatchObject({ kept: "push" });
  remote.commitTo("main", { "more.md": null }, "Revert");
  expect(await one("more")).toEqual(["completed", undefined, undefined]);
  // The third turn runs no agent.
  expect([runs.length, subjects()]).toEqual([2, ["more"]]);
});

test("nothing is published after a person has closed the pull request, unless the job is asked once more", async () => {
  const { runs, createWorker, refuse, subjects, platform, store } = await setUp();
  const one = await createWorker();
  await one("first");
  refuse("commits");
  await one("more");
  refuse("nothing");
  platform.closedAt = 6;
  const since = "The work of turn 2 is kept, and not published: https://example.com/pull/1 was closed since.";
  expect(await one("more", 7)).toEqual(["failed", expect.stringContaining(since), "push"]);
  expect([runs.length, subjects(), platform.opened]).toEqual([2, ["first"], 1]);
  expect(await store.jobs.find(job)).toMatchObject({ state: "failed", kept: "push" });
  // On another machine, and with another prompt.
  expect(await (await createWorker())("other", 8)).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects(), platform.opened]).toEqual([3, ["first", "more", "other"], 3]);
});

test("unless it is a lost one that a runner restores, which was asked before", async () => {
  const { store, platform, refuse, createWorker, keptCommits, subjects } = await setUp();
  const one = await createWorker({ keptCommits: { ...keptCommits, isOnlyPlace: true } });
  await one("first");
  refuse("commits");
  await one("more");
  await store.turns.add(job, "lost", 0);
  const copy = await store.jobs.copy(job);
  const turns = copy?.turns.map((turn) => (turn.state === "waiting" ? { ...turn, attempts: 2, reason: "lost" } : turn));
  if (copy && turns) await store.jobs.addCopy({ ...copy, turns }, true);
  platform.closedAt = 6;
  refuse("nothing");
  await one("later");
  expect(subjects()).not.toContain("more");
});

test("a night that could not publish an earlier night's work has told its own range to nobody", async () => {
  const { store, refuse, createWorker, runs, keptCommits } = await setUp();
  const one = await createWorker();
  const of = (covers: string): PromptContext => ({ sections: "", asked: null, covers: covers.repeat(40) });
  refuse("commits");
  await one("night", 5, of("a"));
  await one("night", 6, of("b"));
  expect(runs.length).toBe(1);
  refuse("nothing");
  const failing = await createWorker({ keptCommits, host: failingHost });
  await failing("night", 7, of("c"));
  const turns = (await store.turns.ofJob(job)).map(({ state, covers, kept }) => `${covers?.[0]} ${state} ${kept}`);
  expect(turns).toEqual(["a completed null", "b failed null", "c failed null"]);
});

test("on a runner, which could not remember that it has said so, the next run is that", async () => {
  const { runs, createWorker, refuse, subjects, platform, keptCommits } = await setUp();
  const one = await createWorker({ keptCommits: { ...keptCommits, isOnlyPlace: true } });
  await one("first");
  refuse("commits");
  await one("more");
  refuse("nothing");
  platform.closedAt = 6;
  expect(await one("more", 7)).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects(), platform.opened]).toEqual([2, ["first", "more"], 2]);
});

test.each(["push", "pull request"])(
  "a turn whose work is kept after its %s was refused has completed when a later turn has published that",
  async (refused) => {
    const { runs, createWorker, refuse, platform, store, keptCommits } = await setUp();
    const one = await createWorker();
    if (refused === "push") refuse("commits");
    else platform.refuses = true;
    await one("more");
    await one("more");
    refuse("nothing");
    platform.refuses = false;
    // Whatever becomes of the later turn.
    const failing = await createWorker({ keptCommits, host: failingHost });
    expect(await failing("another")).toEqual(["failed", expect.any(String), undefined]);
    const turns = (await store.turns.ofJob(job)).map(({ state, kept, reason }) => [state, kept, reason === null]);
    const done = ["completed", null, true];
    expect(turns).toEqual([done, done, ["failed", null, false]]);
    expect(runs.length).toBe(2);
  },
);

test("a commit whose push was refused is published in another pull request once that of its job is merged", async () => {
  const { runs, createWorker, refuse, subjects, squash, remote, commitOnMain, store } = await setUp();
  const one = await createWorker();
  await one("first");
  refuse("commits");
  await one("more");
  refuse("nothing");
  squash();
  commitOnMain("other.md");
  expect(await (await createWorker())("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects(), remote.read(branch, "other.md")]).toEqual([2, ["more"], "Others"]);
  expect(await store.jobs.find(job)).toMatchObject({ pullRequest: "https://example.com/pull/2" });
});

test("what was made before the pull request was merged gets another one, without what is merged", async () => {
  const { runs, createWorker, subjects, squash, store, platform } = await setUp();
  const one = await createWorker();
  await one("first");
  const two = await createWorker({
    onAgentEnd: () => {
      runs.push("agent");
      squash();
      platform.refuses = true;
    },
  });
  expect(await two("more")).toEqual(["failed", expect.any(String), "pull-request"]);
  platform.refuses = false;
  expect(await one("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects()]).toEqual([2, ["more"]]);
  expect(await store.jobs.find(job)).toMatchObject({ pullRequest: "https://example.com/pull/2" });
});

test.each([
  ["! ls more.md", "failed"],
  ["false", "failed-before"],
  ["ls more.md", "passed"],
])(
  "what is on a branch without a pull request is checked by %s, if nobody knows what its check showed",
  async (check, result) => {
    const { store, runs, createWorker, platform, checks } = await setUp();
    const one = await createWorker();
    platform.refuses = true;
    expect(await one("more")).toEqual(["failed", expect.any(String), "pull-request"]);
    platform.refuses = false;
    const secrets = [{ name: "API_KEY", value: "secret-of-a-workflow" }];
    const two = await createWorker({ secrets }, `${check} # secret-of-a-workflow`);
    expect(await two("more")).toEqual(["completed", undefined, undefined]);
    const shown = [[result, `${check} # ***`]];
    expect([runs.length, checks, (await store.turns.ofJob(job)).at(-1)?.checkResult]).toEqual([1, shown, result]);
  },
);

test("what is kept passes today's checks before it is published", async () => {
  const { runs, createWorker, refuse, remote, keptCommits, platform } = await setUp();
  const one = await createWorker();
  refuse("commits");
  await one("AGENTS");
  refuse("nothing");
  const two = await createWorker({ keptCommits, protectedFiles: "refuse" });
  const refused = ": AGENTS.md. It was made for an earlier request, whose push was refused. Allow it, and send";
  expect(await two("AGENTS")).toEqual(["failed", expect.stringContaining(refused), undefined]);
  expect([runs.length, remote.branches()]).toEqual([1, []]);
  platform.refuses = true;
  expect(await one("AGENTS")).toEqual(["failed", expect.any(String), "pull-request"]);
  platform.refuses = false;
  // A person has added another one, which is no matter of the service.
  remote.commitTo(branch, { "CLAUDE.md": "Others" });
  const why = `: AGENTS.md. It was made for an earlier request, and is on ${branch}, without a pull request. Allow it`;
  expect(await two("AGENTS")).toEqual(["failed", expect.stringContaining(why), undefined]);
  expect([runs.length, platform.opened]).toEqual([1, 0]);
  expect(await one("AGENTS")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, platform.opened]).toEqual([1, 1]);
});

test("work whose pull request is refused is on its branch, and any worker opens one later", async () => {
  const { remote, runs, createWorker, platform, subjects, store } = await setUp();
  const [one, two] = [await createWorker({}), await createWorker({})];
  platform.refuses = true;
  const refused = ["failed", expect.stringContaining(`The work is on the branch ${branch}.`), "pull-request"];
  expect(await one("more")).toEqual(refused);
  expect(await two("more")).toEqual(refused);
  platform.refuses = false;
  // Somebody tidies up.
  remote.deleteBranch(branch);
  expect(await one("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects(), platform.opened]).toEqual([1, ["more"], 1]);
  expect(await store.jobs.find(job)).toMatchObject({ pullRequest: "https://example.com/pull/1" });
});

test("work whose branch was deleted, and that no machine has, is done again", async () => {
  const { remote, runs, createWorker, platform, subjects } = await setUp();
  platform.refuses = true;
  await (await createWorker())("more");
  platform.refuses = false;
  remote.deleteBranch(branch);
  remote.forgetUnreachable();
  expect(await (await createWorker())("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects(), platform.opened]).toEqual([2, ["more"], 1]);
});

test("work that somebody has merged without a pull request is published", async () => {
  const { remote, runs, createWorker, platform } = await setUp();
  const one = await createWorker();
  platform.refuses = true;
  await one("more");
  platform.refuses = false;
  remote.setHead("main", remote.head(branch));
  expect(await one("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, platform.opened]).toEqual([1, 0]);
});

test("what was worked on after a person had closed the pull request is published", async () => {
  const { runs, createWorker, refuse, subjects, platform } = await setUp();
  const one = await createWorker();
  await one("first");
  platform.closedAt = 4;
  refuse("commits");
  await one("more");
  refuse("nothing");
  expect(await one("more")).toEqual(["completed", undefined, undefined]);
  expect([runs.length, subjects()]).toEqual([2, ["first", "more"]]);
});

test("a commit that may have a secret stays on its machine", async () => {
  const { createWorker, refuse, bundles } = await setUp();
  const one = await createWorker();
  const secret = "remote: error: GH013: Repository rule violations found\nremote: - Push cannot contain secrets\n";
  refuse("commits", secret);
  expect(await one("more")).toEqual(["failed", expect.stringContaining("Look at the secret"), "push"]);
  expect(bundles.size).toBe(0);
  refuse("commits");
  await one("more");
  expect(bundles.size).toBe(1);
});

test("a commit that was kept before its push is kept no longer if that is refused for a secret, or once it is published", async () => {
  const stored = new Map<string, Uint8Array>();
  const keptCommits: KeptCommits = {
    isOnlyPlace: true,
    save: async ({ identity }, packed) => void stored.set(identity, packed),
    load: async (_job, { identity }) => stored.get(identity),
    forget: async ({ identity }) => void stored.delete(identity),
  };
  const { createWorker, refuse, remote } = await setUp();
  const worker = await createWorker({ keptCommits });
  // From here on, its runner may be lost.
  const atPush: number[] = [];
  remote.refuses = () => void atPush.push(stored.size);
  expect(await worker("zero")).toEqual(["completed", undefined, undefined]);
  expect([atPush.at(-1), stored.size]).toEqual([1, 0]);
  refuse("commits", "remote: error: GH013: violations\nremote: - Push cannot contain secrets\n");
  expect(await worker("one")).toMatchObject(["failed", expect.any(String), undefined]);
  expect(stored.size).toBe(0);
  refuse("commits");
  expect(await worker("two")).toMatchObject(["failed", expect.any(String), "push"]);
  expect(stored.size).toBe(1);
  refuse("nothing");
  expect(await worker("two")).toMatchObject(["completed", undefined, undefined]);
  expect(stored.size).toBe(0);
});

test("what is kept of an earlier turn stays that turn's if its push is refused again, and is kept no longer for a secret", async () => {
  const stored = new Map<string, string>();
  const keptCommits: KeptCommits = {
    save: async ({ identity, step }, packed) => void stored.set(`${identity} ${step}`, String(packed)),
    load: async (_job, { identity }) => Buffer.from(stored.get(`${identity} `) ?? ""),
    forget: async ({ identity, step }) => void stored.delete(`${identity} ${step}`),
  };
  const { createWorker, refuse, runs } = await setUp();
  const worker = await createWorker({ keptCommits });
  refuse("commits");
  await worker("one");
  const names = [...stored.keys()];
  expect(await worker("one")).toEqual(["failed", expect.stringContaining(why), "push"]);
  expect([...stored.keys()]).toEqual(names);
  refuse("commits", "remote: error: GH013: violations\nremote: - Push cannot contain secrets\n");
  expect(await worker("one")).toMatchObject(["failed", expect.stringContaining("Look at the secret"), "push"]);
  expect([stored.size, runs.length]).toEqual([0, 1]);
});

const lostWith = [
  ["cannot be saved", ruleRefusal, "the cache is full"],
  [
    "may have a secret",
    "remote: error: GH013: violations\nremote: - Push cannot contain secrets\n",
    "GitHub says that it has a secret",
  ],
] as const;

test.each(lostWith)("a commit that %s is lost with a runner, which says so", async (_name, refusal, why) => {
  const { runs, createWorker, refuse } = await setUp();
  const keptCommits: KeptCommits = {
    isOnlyPlace: true,
    save: () => Promise.reject(new Error("the cache is full")),
    load: async () => undefined,
  };
  const [one, two] = [await createWorker({ keptCommits }), await createWorker({ keptCommits })];
  refuse("commits", refusal);
  const [, reason = "", kept] = await one("more");
  expect([reason, kept]).toEqual([expect.stringContaining(`The commit is lost with this runner: ${why}`), undefined]);
  expect(reason).toMatch(/Then send the prompt again: its work is done again\.$/);
  expect(reason).not.toMatch(/is kept|no agent/);
  refuse("nothing");
  expect(await two("more")).toEqual(["completed", undefined, undefined]);
  expect(runs.length).toBe(2);
});

test("what a turn leaves that fails after it has published what was kept is its own, unfinished", async () => {
  const { createWorker, refuse, subjects, store, keptCommits } = await setUp();
  const one = await createWorker();
  refuse("commits");
  await one("more");
  refuse("nothing");
  for (const [options, prompt, reason, kept] of [
    [{ protectedFiles: "refuse" }, "AGENTS", "AGENTS.md", "unfinished"],
    // It has changed nothing, and had nothing of what the one before left, which stays the job's.
    [{ host: failingHost }, "more", "agent", undefined],
  ] as const) {
    const other = await createWorker({ keptCommits, ...options });
    expect(await other(prompt)).toEqual(["failed", expect.stringContaining(reason), kept]);
    expect(await store.jobs.find(job)).toMatchObject({ kept: "unfinished", pullRequest: "https://example.com/pull/1" });
    expect(subjects()).toEqual(["more"]);
  }
});

test.each([false, true])(
  "a commit that conflicts with what others have pushed while its agent ran is kept, and pushed once it fits (runner: %s)",
  async (isOnlyPlace) => {
    const { remote, runs, createWorker, commitOn, keptCommits, subjects } = await setUp();
    const onAgentEnd = (): void => {
      runs.push("agent");
      commitOn(branch, "more.md");
    };
    const kept = { keptCommits: { ...keptCommits, isOnlyPlace } };
    const why = /its change\. .* commit is kept as \w{40}\. Send the prompt again/;
    expect(await (await createWorker({ ...kept, onAgentEnd }))("more")).toEqual([
      "failed",
      expect.stringMatching(why),
      "push",
    ]);
    remote.deleteBranch(branch);
    expect(await (await createWorker(kept))("more")).toEqual(["completed", undefined, undefined]);
    expect([runs.length, subjects()]).toEqual([1, ["more"]]);
  },
);

test("a commit that conflicts, and that no cache can keep, is lost with a runner, which says so", async () => {
  const { createWorker, commitOn } = await setUp();
  const save = () => Promise.reject(new Error("the cache is closed"));
  const keptCommits = { isOnlyPlace: true, save, load: async () => undefined };
  const one = await createWorker({ keptCommits, onAgentEnd: () => void commitOn(branch, "more.md") });
  const why = /its change\. .* commit is lost with this runner: the cache is closed\. Send/;
  expect(await one("more")).toEqual(["failed", expect.stringMatching(why), undefined]);
});

test.each([
  ["! ls others.md", "failed-before"],
  ["! ls others.md more.md", "failed"],
  ["ls others.md", "passed"],
])(
  "a commit that was moved onto what others have pushed since its check is checked again by %s",
  async (check, result) => {
    const { runs, createWorker, commitOn, checks, store, subjects } = await setUp();
    const onChecked = (): void => {
      if (subjects().length === 0 || subjects()[0] === "") commitOn(branch, "others.md");
    };
    const one = await createWorker({ onChecked }, check);
    expect(await one("more")).toEqual(["completed", undefined, undefined]);
    expect([runs.length, subjects(), checks]).toEqual([1, ["Other", "more"], [[result, check]]]);
    expect((await store.turns.ofJob(job)).at(-1)?.checkResult).toBe(result);
  },
);
