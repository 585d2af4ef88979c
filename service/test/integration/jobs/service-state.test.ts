import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { isThorough } from "../../../../test/support/thorough.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { type Agent, shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { thisMachine } from "../../../src/machine.ts";
import type { RunningTurn, StoredJob } from "../../../src/model.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import type { Change, PullRequestState, PullRequests } from "../../../src/pulls/pull-requests.ts";
import { turnTrailers } from "../../../src/pulls/turn-trailers.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { BranchRights } from "../../../src/turns/branch-rights.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import type { Failure, TurnPorts } from "../../../src/turns/turn-ports.ts";
import {
  docsRepository,
  folderWithClone,
  readPage,
  runJob,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

test("runs jobs of three projects at once, each with its own change, and keeps the repository sound", async () => {
  const docs = docsRepository();
  const projects = Array.from({ length: 3 }, (_, index) => `project-${index}`);
  const agent = shellAgent('prompt=$(cat); printf %s "$prompt" > "docs/$prompt.md"');
  const agents = isThorough ? 6 : 3;
  await using service = await startAgentService(docs, { projects, agent, agents });
  const started = await Promise.all(
    Array.from({ length: agents }, async (_, index) => {
      const project = projects[index % 3] ?? "";
      const { status, job } = await send(service, `${project}/job`, `page-${index}`);
      expect(status).toBe(201);
      return { project, id: job.id, page: `page-${index}` };
    }),
  );
  const links = new Set<string>();
  for (const { project, id, page } of started) {
    const job = await waitForJob(service, id, project);
    expect(job.status, readFileSync(join(service.folder, "logs", `${id}.log`), "utf8")).toBe("completed");
    links.add(job.prLink ?? "");
    expect(docs.git("diff", "--name-only", `main...agent/${id}`)).toBe(`docs/${page}.md`);
  }
  expect(links.size).toBe(agents);
  expect(docs.branches()).toHaveLength(agents);
  expect(docs.git("fsck", "--strict", "--no-dangling")).toBe("");
  const mirror = join(service.folder, "mirror.git");
  for (const folder of [docs.path, mirror])
    expect(readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".lock"))).toEqual(
      [],
    );
  expect(
    execFileSync("git", ["-C", mirror, "fsck", "--no-dangling"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  ).toBe("");
  for (const id of readdirSync(join(service.folder, "jobs")))
    expect(readdirSync(join(service.folder, "jobs", id))).toEqual(["home"]);
}, 180_000);

test("rejects the 101st create of an hour, also after a restart", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const earlier = Date.now() - 3_000_000;
  {
    await using store = openSqliteStore(join(folder, "jobs.sqlite"));
    for (let use = 0; use < 98; use++)
      expect(
        await store.jobs.add({ id: `earlier_${use}`, project: "docs", createdAt: earlier + use }, ""),
      ).toBeUndefined();
    for (let use = 0; use < 98; use++) {
      const turn = await store.runningTurns.startNext();
      if (turn) await store.runningTurns.finish(turn, "completed", earlier);
    }
  }
  {
    await using service = await startAgentService(docs, { folder, projects: ["docs", "other"] });
    expect((await send(service, "docs/job", "99")).status).toBe(201);
  }
  await using service = await startAgentService(docs, { folder, projects: ["docs", "other"] });
  expect((await send(service, "docs/job", "100")).status).toBe(201);
  const rejected = await send(service, "docs/job", "101");
  expect(rejected.status).toBe(429);
  const seconds = Number(rejected.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(600);
  expect((await send(service, "other/job", "1")).status).toBe(201);
});

const alwaysOpen: PullRequests = {
  open: async () => "https://example.com/pull/1",
  read: async () => ({ state: "open", target: undefined }),
  findClosed: async () => new Set(),
};

interface Setup
  extends Pick<
    TurnPorts,
    "store" | "worktrees" | "sandbox" | "network" | "limits" | "host" | "folder" | "timeLimitMs" | "largestChangeBytes"
  > {
  docs: DocsRepository;
  repository: GitRepository;
}

async function setUp(): Promise<Setup> {
  const docs = docsRepository();
  const folder = folderWithClone(docs);
  const repository = new GitRepository({ url: docs.path, folder });
  await repository.open();
  return {
    docs,
    store: openSqliteStore(":memory:"),
    repository,
    worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 0 }),
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
    host,
    folder,
    timeLimitMs: 60_000,
    largestChangeBytes: 20_000_000,
  };
}

/** Returns an agent that runs a command of the shell and counts its attempts. */
function countingAgent(command = ""): { agent: Agent; attempts: () => number } {
  const file = join(temporaryFolder(), "attempts");
  writeFileSync(file, "");
  const agent = shellAgent(`printf x >> '${file}'; ${command}`);
  return { agent, attempts: () => readFileSync(file, "utf8").length };
}

/** The job of these tests: in a commit, only a real id names one. */
const jobId = "job_00000000-0000-4000-8000-000000000001";

/** Starts the next turn of the job. */
async function startNext(store: Store): Promise<{ turn: RunningTurn; job: StoredJob }> {
  const turn = await store.runningTurns.startNext();
  const job = turn && (await store.jobs.find(turn.job));
  if (!turn || !job) throw new Error("no turn is waiting");
  return { turn, job };
}

/** Runs the next turn of the job. */
async function runNext(ports: TurnPorts): ReturnType<typeof runTurn> {
  const { turn, job } = await startNext(ports.store);
  return runTurn(turn, job, ports, new AbortController().signal);
}

/** Runs the next turn of the job, and records its end. */
async function runNextAndFinish(ports: TurnPorts): ReturnType<typeof runTurn> {
  const { turn, job } = await startNext(ports.store);
  let failure: Failure | undefined;
  const onFailure = (found: Failure): void => {
    failure = found;
  };
  const result = await runTurn(turn, job, { ...ports, onFailure }, new AbortController().signal);
  if (result === "completed" || result === "failed") await ports.store.runningTurns.finish(turn, result, 0, failure);
  return result;
}

test("does not repeat a turn that was interrupted between push and pull request", async () => {
  const { docs, ...setup } = await setUp();
  const { store } = setup;
  const { agent, attempts } = countingAgent("printf more >> README.md");
  const opened: Change[] = [];
  let isDown = true;
  const pullRequests: PullRequests = {
    ...alwaysOpen,
    open: async (change) => {
      if (isDown) throw new Error("the platform is down");
      opened.push(change);
      return "https://example.com/pull/1";
    },
  };
  await store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "Say more");
  expect(await runNext({ ...setup, agent, pullRequests })).toBe("failed");
  isDown = false;
  await store.runningTurns.requeueInterrupted();
  expect(await runNext({ ...setup, agent, pullRequests })).toBe("completed");
  expect(attempts()).toBe(1);
  expect(opened).toMatchObject([{ prompt: "Say more", branch: `agent/${jobId}`, targetBranch: "main" }]);
  expect(docs.git("rev-list", "--count", `main..agent/${jobId}`)).toBe("1");
  expect((await store.jobs.find(jobId))?.pullRequest).toBe("https://example.com/pull/1");
});

describe("work whose pull request cannot be opened", () => {
  /** Runs turns of one job on a platform that is down or not, and returns how to. */
  async function start() {
    const { docs, ...setup } = await setUp();
    const { store, folder } = setup;
    const agent = shellAgent('prompt=$(cat); [ "$prompt" = nothing ] || printf %s "$prompt" >> README.md');
    const platform = { isDown: false, state: "open" as PullRequestState, opened: [] as Change[] };
    const pullRequests: PullRequests = {
      ...alwaysOpen,
      open: async (change) => {
        if (platform.isDown) throw new Error("the platform is down");
        return `https://example.com/pull/${platform.opened.push(change)}`;
      },
      read: async () => ({ state: platform.state, target: undefined }),
    };
    const turn = async (prompt: string) => {
      if (await store.jobs.find(jobId)) await store.turns.add(jobId, prompt, 0);
      else await store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, prompt);
      const result = await runNextAndFinish({ ...setup, agent, pullRequests });
      return { result, log: readFileSync(join(folder, `logs/${jobId}.log`), "utf8") };
    };
    return { docs, store, platform, turn };
  }

  const reason = `The pull request of agent/${jobId} was refused: the platform is down. The work is on the branch agent/${jobId}. Check the token's permissions: a re-run of a workflow run keeps the ones of its workflow file. Then send the prompt again: the pull request is opened, and no agent runs for that work again.`;

  test("is opened by a message that changes nothing", async () => {
    const { store, platform, turn } = await start();
    platform.isDown = true;
    const { result, log } = await turn("more");
    expect(result).toBe("failed");
    expect(log).toContain(`[service] The turn failed: ${reason}\n`);
    platform.isDown = false;
    expect((await turn("nothing")).result).toBe("completed");
    expect(platform.opened).toMatchObject([{ prompt: "more", branch: `agent/${jobId}` }]);
    expect((await store.jobs.find(jobId))?.pullRequest).toBe("https://example.com/pull/1");
    await turn("nothing");
    expect(platform.opened).toHaveLength(1);
  });

  test("is opened by a message after an earlier pull request was closed", async () => {
    const { docs, store, platform, turn } = await start();
    await turn("one");
    platform.state = "closed";
    platform.isDown = true;
    expect((await turn("two")).result).toBe("failed");
    expect((await store.jobs.find(jobId))?.pullRequest).toBe("https://example.com/pull/1");
    platform.isDown = false;
    await turn("nothing");
    expect(platform.opened).toHaveLength(2);
    expect(platform.opened[1]).toMatchObject({
      prompt: "two",
      head: docs.head(`agent/${jobId}`),
    });
    expect((await store.jobs.find(jobId))?.pullRequest).toBe("https://example.com/pull/2");
  });

  test("is not lost if the earlier pull request was merged", async () => {
    const { docs, store, platform, turn } = await start();
    await turn("one");
    docs.squash(`agent/${jobId}`);
    platform.state = "merged";
    platform.isDown = true;
    expect((await turn("two")).result).toBe("failed");
    const work = docs.head(`agent/${jobId}`);
    expect((await store.jobs.find(jobId))?.pullRequest).toBeNull();
    platform.isDown = false;
    await turn("nothing");
    expect(docs.head(`agent/${jobId}`)).toBe(work);
    expect(platform.opened[1]).toMatchObject({ prompt: "two", head: work, existing: null });
    expect((await store.jobs.find(jobId))?.pullRequest).toBe("https://example.com/pull/2");
  });
});

/** Rejects pushes of new commits, but not the one that creates the branch before the agent runs. */
const refusingHook = `#!/bin/sh
while read -r before after ref; do
  git merge-base --is-ancestor "$after" main || exit 1
done
`;

test("pushes a commit that a killed service had not pushed, without another attempt", async () => {
  const { docs, ...setup } = await setUp();
  const { store } = setup;
  const { agent, attempts } = countingAgent("printf more >> README.md");
  await store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "Say more");
  const hook = join(docs.path, "hooks/pre-receive");
  writeFileSync(hook, refusingHook, { mode: 0o755 });
  expect(await runNext({ ...setup, agent, pullRequests: alwaysOpen })).toBe("failed");
  const commit = (await setup.repository.lastCommitOf(jobId))?.commit ?? "";
  writeFileSync(hook, "#!/bin/sh\nexit 0\n");
  await store.runningTurns.requeueInterrupted();
  expect(await runNext({ ...setup, agent, pullRequests: alwaysOpen })).toBe("completed");
  expect(attempts()).toBe(1);
  // A copy: whoever has seen the other one may still be about to remove it.
  expect(docs.git("rev-list", `main..agent/${jobId}`)).not.toBe(commit);
  expect(docs.read(`agent/${jobId}`, "README.md")).toContain("more");
});

describe("a push that fails", () => {
  /** Counts pushes. Responses can get lost. */
  class LossyRepository extends GitRepository {
    pushes = 0;
    isLossy = false;

    override async push(...args: Parameters<GitRepository["push"]>): Promise<void> {
      this.pushes++;
      await super.push(...args);
      if (this.isLossy) throw new Error("connection lost");
    }
  }

  async function start() {
    const { docs, ...setup } = await setUp();
    const repository = new LossyRepository({ url: docs.path, folder: setup.folder });
    await repository.open();
    const { agent, attempts } = countingAgent("cat >> README.md");
    await setup.store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "one");
    const ports = { ...setup, repository, agent, pullRequests: alwaysOpen };
    const log = () => readFileSync(join(setup.folder, `logs/${jobId}.log`), "utf8");
    /** Lets the server reject pushes, or accept them again. */
    const reject = (isRejected: boolean) =>
      writeFileSync(join(docs.path, "hooks/pre-receive"), isRejected ? refusingHook : "#!/bin/sh\n", { mode: 0o755 });
    /** Completes the first turn, and adds another one. */
    const completeOne = async () => {
      expect(await runNextAndFinish(ports)).toBe("completed");
      await ports.store.turns.add(jobId, "two", 0);
    };
    return { docs, repository, ports, attempts, log, reject, completeOne };
  }

  test("of a branch is tried for one job a day, and again after a turn that failed", async () => {
    const { docs, repository, ports, attempts, reject } = await start();
    const clock = { time: 0 };
    const machine = { ...thisMachine, now: () => clock.time };
    const project = { ...ports, machine, branchRights: new BranchRights() };
    let count = 0;
    /** Runs the turn of a new job, and returns how it ended and how often something was pushed. */
    const runJobOnce = async (): Promise<[string, number]> => {
      repository.pushes = 0;
      if (count > 0)
        await ports.store.jobs.add({ id: `${jobId.slice(0, -1)}${count + 1}`, project: "docs", createdAt: 0 }, "x");
      count++;
      return [await runNextAndFinish(project), repository.pushes];
    };
    expect(await runJobOnce()).toEqual(["completed", 2]);
    expect(await runJobOnce()).toEqual(["completed", 1]);
    clock.time += 24 * 3_600_000;
    expect(await runJobOnce()).toEqual(["completed", 2]);
    reject(true);
    expect(await runJobOnce()).toEqual(["failed", 1]);
    // The branch that was only tried is removed.
    expect(await runJobOnce()).toEqual(["failed", 3]);
    writeFileSync(join(docs.path, "hooks/pre-receive"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const before = attempts();
    expect(await runJobOnce()).toEqual(["failed", 1]);
    expect(attempts()).toBe(before);
  });

  test("although the server has the commit is not repeated, and the turn is completed", async () => {
    const { docs, repository, ports, completeOne } = await start();
    await completeOne();
    repository.isLossy = true;
    expect(await runNext(ports)).toBe("completed");
    expect(repository.pushes).toBe(3);
    expect(docs.git("rev-list", "--count", `main..agent/${jobId}`)).toBe("2");
    expect(docs.head(`agent/${jobId}`)).toBe((await ports.store.jobs.find(jobId))?.head);
  });

  test("while the branch stays as it is fails the turn", async () => {
    const { docs, repository, ports, log, reject } = await start();
    reject(true);
    expect(await runNext(ports)).toBe("failed");
    // The last one would remove the branch that was tried.
    expect(repository.pushes).toBe(3);
    expect(docs.head(`agent/${jobId}`)).toBe(docs.head("main"));
    expect(log()).toContain("pre-receive hook declined");
  });

  test("and whose commit conflicts with the base when it is pushed later leaves the branch alone", async () => {
    const { docs, repository, ports, attempts, log, reject } = await start();
    reject(true);
    expect(await runNext(ports)).toBe("failed");
    const commit = (await repository.lastCommitOf(jobId))?.commit;
    const emptyTree = docs.git("hash-object", "-w", "-t", "tree", "/dev/null");
    docs.setHead("main", docs.git("commit-tree", emptyTree, "-p", "main", "-m", "Remove"));
    reject(false);
    await ports.store.runningTurns.requeueInterrupted();
    expect(await runNext(ports)).toBe("failed");
    expect(attempts()).toBe(1);
    expect(docs.branches()).toEqual([]);
    expect(log()).toContain("in a way that conflicts with its change");
    expect(log()).toContain(`the turn's commit is kept as ${commit}.`);
  });

  test("because the branch was deleted while the agent ran creates it again", async () => {
    const { docs, repository, ports, completeOne } = await start();
    await completeOne();
    const remove = `git -C '${docs.path}' update-ref -d refs/heads/agent/${jobId}; cat >> README.md`;
    expect(await runNext({ ...ports, agent: shellAgent(remove) })).toBe("completed");
    expect(repository.pushes).toBe(4);
    expect(docs.git("log", "--format=%s", `main..agent/${jobId}`).split("\n")).toEqual(["two", "one"]);
  });
});

test("a turn that continues the job's branch keeps no commit as one that someone dropped", async () => {
  const { docs, ...setup } = await setUp();
  const { agent } = countingAgent("cat >> README.md");
  const ports = { ...setup, agent, pullRequests: alwaysOpen };
  await setup.store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "one");
  expect(await runNextAndFinish(ports)).toBe("completed");
  await setup.store.turns.add(jobId, "two", 0);
  expect(await runNext(ports)).toBe("completed");
  expect(docs.git("rev-list", "--count", `main..agent/${jobId}`)).toBe("2");
  const mirror = join(setup.folder, "mirror.git");
  expect(execFileSync("git", ["-C", mirror, "for-each-ref", "refs/earlier"], { encoding: "utf8" })).toBe("");
});

test("opens the pull request of an earlier turn after one that changes nothing, and names the earlier turn", async () => {
  const setup = await setUp();
  const { store } = setup;
  const { agent } = countingAgent('if [ "$(cat)" = "Say more" ]; then printf more >> README.md; fi');
  const titles: string[] = [];
  const open: PullRequests["open"] = async ({ title }) => {
    titles.push(title);
    if (titles.length === 1) throw new Error("the platform is down");
    return "https://example.com/pull/1";
  };
  const ports = { ...setup, agent, pullRequests: { ...alwaysOpen, open } };
  await store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "Say more");
  const { turn, job } = await startNext(store);
  expect(await runTurn(turn, job, ports, new AbortController().signal)).toBe("failed");
  await store.runningTurns.finish(turn, "failed", 0);
  await store.turns.add(jobId, "Do nothing", 0);
  expect(await runNext(ports)).toBe("completed");
  expect(titles).toEqual(Array(2).fill(expect.stringMatching(/^Say more \(\d{4}-\d\d-\d\d\)$/)));
});

describe("a Git command that fails or is killed", () => {
  test("is not taken as an answer", async () => {
    const { docs, repository, folder } = await setUp();
    const head = docs.head("main");
    expect(await repository.branchHead("main")).toBe(head);
    expect(await repository.branchHead("nowhere")).toBeUndefined();
    rmSync(join(folder, "mirror.git"), { recursive: true });
    // Heads are in memory.
    await expect(repository.commitsOfBranch(head, 1)).rejects.toThrow();
    await expect(repository.isMerged(head, "main")).rejects.toThrow();
    const stopped = new GitRepository({ url: docs.path, folder, signal: AbortSignal.abort() });
    await expect(stopped.branchHead("main")).rejects.toThrow();
  });

  test("closes no pull request", async () => {
    const { docs, store, repository, folder } = await setUp();
    const pull = { link: "http://127.0.0.1:1/pull/1", branch: "main", head: docs.head("main") };
    const { pages } = localPullRequests(store, repository);
    rmSync(join(folder, "mirror.git"), { recursive: true });
    await expect(pages.findClosed([pull])).rejects.toThrow();
  });

  test("is logged once per pull request if its state cannot be read, and the others are read", async () => {
    const { docs, store, repository } = await setUp();
    const pull = (number: number, branch: string, head: string) => ({
      link: `http://127.0.0.1:1/pull/${number}`,
      branch,
      head,
    });
    const { pages, log } = localPullRequests(store, repository);
    const unreadable = pull(1, "main", "0".repeat(40));
    const merged = pull(2, "gone", docs.head("main"));
    for (let round = 0; round < 2; round++)
      expect(await pages.findClosed([unreadable, merged])).toEqual(new Set([merged.link]));
    expect(log).toEqual([
      `Cannot read the state of ${unreadable.link}, treated as open: the commit ${unreadable.head} is missing in the clone`,
    ]);
  });
});

function localPullRequests(store: Store, repository: GitRepository): { pages: LocalPullRequests; log: string[] } {
  const log: string[] = [];
  const pages = new LocalPullRequests({
    store: store.pullRequests,
    repository,
    baseUrl: () => "http://127.0.0.1:1",
    signal: new AbortController().signal,
    log: (line) => void log.push(line),
  });
  return { pages, log };
}

test("gives up after two interrupted attempts, not counting graceful shutdowns", async () => {
  const setup = await setUp();
  const { store, folder } = setup;
  const { agent, attempts } = countingAgent();
  await store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "Go on");
  const first = await startNext(store);
  await store.runningTurns.countAttempt(first.turn);
  await store.runningTurns.requeue(first.turn);
  let { turn } = await startNext(store);
  expect(turn.attempts).toBe(0);
  for (let attempt = 1; attempt <= 2; attempt++) {
    await store.runningTurns.countAttempt(turn);
    expect(await store.runningTurns.requeueInterrupted()).toEqual([{ id: turn.id, job: jobId }]);
    ({ turn } = await startNext(store));
    expect(turn.attempts).toBe(attempt);
  }
  await store.runningTurns.requeueInterrupted();
  expect(await runNext({ ...setup, agent, pullRequests: alwaysOpen })).toBe("failed");
  expect(attempts()).toBe(0);
  expect(readFileSync(join(folder, `logs/${jobId}.log`), "utf8")).toContain("was interrupted 2 times");
});

test("archives a job when its branch is merged or deleted, and a message takes it out of the archive", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const agent = shellAgent("cat >> README.md");
  const links: (string | null)[] = [];
  const ids: string[] = [];
  {
    await using service = await startAgentService(docs, { folder, agent, host });
    for (const prompt of ["merged", "deleted", "open"]) {
      const { id, prLink } = await runJob(service, prompt);
      ids.push(id);
      links.push(prLink);
    }
  }
  const [merged = "", deleted = "", open = ""] = ids;
  docs.merge(`agent/${merged}`);
  docs.deleteBranch(`agent/${deleted}`);
  await using service = await startAgentService(docs, { folder, agent, host });
  await waitUntil(async () => (await send(service, `docs/job/${deleted}`)).job.status === "archived");
  const records = await Promise.all(ids.map(async (id) => (await send(service, `docs/job/${id}`)).job));
  expect(records.map(({ status }) => status)).toEqual(["archived", "archived", "completed"]);
  expect(records.map(({ archivedAt }) => archivedAt !== null)).toEqual([true, true, false]);
  expect(records.map(({ prLink }) => prLink)).toEqual(links);
  const path = new URL(links[0] ?? "").pathname;
  expect(await readPage(service, path)).toContain(">Merged<");

  expect((await send(service, `docs/job/${merged}/message`, "more")).job).toMatchObject({
    status: "active",
    archivedAt: null,
  });
  const reopened = await waitForJob(service, merged);
  expect(reopened.status).toBe("completed");
  expect(reopened.prLink).not.toBe(links[0]);
  expect(docs.git("rev-list", "--count", `main..agent/${merged}`)).toBe("1");
  expect((await send(service, `docs/job/${open}`)).job.status).toBe("completed");
});

test("keeps the worktree of a job for its next turn, also over a restart, until the job is archived", async () => {
  const docs = docsRepository({ "README.md": "Docs\n", ".gitignore": "build/\n" });
  const folder = temporaryFolder();
  const agent: Agent = {
    ...shellAgent(
      'if [ -e build ]; then printf "dirty "; else printf "clean "; fi >> README.md; mkdir -p build; touch build/x',
    ),
    isTrusted: true,
  };
  const directory = (id: string) => readdirSync(join(folder, "jobs", id)).sort();
  const kept = ["home", "index", "tree"];
  let id = "";
  let inode: bigint;
  {
    await using service = await startAgentService(docs, { folder, agent, host });
    ({ id } = await runJob(service, "one"));
    expect(directory(id)).toEqual(kept);
    inode = statSync(join(folder, "jobs", id, "tree/.gitignore"), { bigint: true }).ino;
  }
  {
    await using service = await startAgentService(docs, { folder, agent, host });
    await send(service, `docs/job/${id}/message`, "two");
    await waitForJob(service, id);
    expect(docs.read(`agent/${id}`, "README.md")).toBe("Docs\nclean clean");
    expect(statSync(join(folder, "jobs", id, "tree/.gitignore"), { bigint: true }).ino).toBe(inode);
    docs.merge(`agent/${id}`);
  }
  {
    await using service = await startAgentService(docs, { folder, agent, host });
    await waitUntil(async () => (await send(service, `docs/job/${id}`)).job.status === "archived");
  }
  await using service = await startAgentService(docs, { folder, agent, host });
  await waitUntil(() => directory(id).length <= 1);
  expect((await send(service, `docs/job/${id}`)).job.status).toBe("archived");
  const other = await runJob(service, "one");
  expect(directory(other.id)).toEqual(kept);
});

test("keeps no worktree if told so, nor if other agents could change it", async () => {
  const docs = docsRepository();
  const agent = shellAgent("true");
  for (const options of [{ agent: { ...agent, isTrusted: true }, keptWorktrees: 0 }, { agent }]) {
    await using service = await startAgentService(docs, options);
    const { id } = await runJob(service, "one");
    expect(readdirSync(join(service.folder, "jobs", id))).toEqual(["home"]);
  }
});

test("replaces the commit of an earlier attempt of the first turn whose push arrives late, as nobody has recorded it", async () => {
  const { docs, ...setup } = await setUp();
  await setup.store.jobs.add({ id: jobId, project: "docs", createdAt: 0 }, "one");
  const trailers = (await setup.store.turns.ofJob(jobId)).flatMap(turnTrailers);
  const late = `git() { command git -C '${docs.path}' -c user.name=a -c user.email=a@b "$@"; }
    tree=$(printf '100644 blob %s\\tREADME.md\\n' "$(printf late | git hash-object -w --stdin)" | git mktree)
    commit=$(printf 'one\\n\\n${trailers.join("\\n")}' | git commit-tree "$tree" -p main)
    git update-ref refs/heads/agent/${jobId} "$commit"; printf mine > README.md`;
  expect(await runNext({ ...setup, agent: shellAgent(late), pullRequests: alwaysOpen })).toBe("completed");
  expect(docs.read(`agent/${jobId}`, "README.md")).toBe("mine");
});
