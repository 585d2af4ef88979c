import { expect, onTestFinished, test } from "vitest";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { Committers } from "../../../src/pulls/committers.ts";
import { GitHubCommits } from "../../../src/pulls/github/github-commits.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { runTurn } from "../../../src/turns/turn.ts";
import { folderWithClone } from "../../support/agent-service.ts";
import { createGitDataApi, hasSignature } from "../../support/git-data-api.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const job = "job_00000000-0000-0000-0000-000000000001";
const branch = `agent/${job}`;

/** A worker's clone, which tells of each push, except the one that creates the branch before the agent runs. */
class ToldRepository extends GitRepository {
  afterPush = async (): Promise<void> => {};

  override async push(...args: Parameters<GitRepository["push"]>): Promise<void> {
    const [commit, , expectedHead] = args;
    await super.push(...args);
    if (expectedHead !== undefined || commit !== (await this.branchHead("main"))) await this.afterPush();
  }
}

/** Returns committers whose commits GitHub signs. */
function signing(docs: DocsRepository, repository: GitRepository): Committers {
  const data = createGitDataApi(docs);
  data.ruled = () => true;
  const gitHub = new GitHubCommits(
    {
      repository: { apiUrl: "https://127.0.0.1/api/v3" },
      request: async (route, parameters) => {
        const path = route.replace("{owner}/{repo}", "acme/docs").replace("{branch}", String(parameters.branch));
        const { status = 404, body } = data.answer(path, JSON.stringify(parameters)) ?? {};
        if (status >= 300) throw new GitHubError(`GitHub answered ${status}`, status);
        return { data: body };
      },
    },
    async () => ({ login: "docs-bot[bot]", id: 7 }),
  );
  return new Committers({ repository, gitHub });
}

test("a worker that takes a turn over continues with its signed commit, which the one that lost it cannot take back", async () => {
  const docs = new DocsRepository();
  const store = openSqliteStore(":memory:");
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]();
    docs[Symbol.dispose]();
  });
  const runs: string[] = [];
  const createWorker = async (name: string) => {
    const folder = folderWithClone(docs);
    const repository = new ToldRepository({ url: docs.path, folder });
    await repository.open();
    const ports = {
      agent: shellAgent('cat "$AGENT_PROMPT_FILE" > work.md'),
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      host,
      timeLimitMs: 60_000,
      store,
      repository,
      committers: signing(docs, repository),
      worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 3000 }),
      pullRequests: new LocalPullRequests({
        store: store.pullRequests,
        repository,
        baseUrl: () => "https://example.com",
        signal: new AbortController().signal,
        log: () => {},
      }),
      folder,
      largestChangeBytes: 1_000_000,
      onAgentEnd: () => void runs.push(name),
    };
    const run = async () => {
      const [turn, stored] = [await store.runningTurns.startNext(), await store.jobs.find(job)];
      if (turn === undefined || stored === undefined) throw new Error("no turn is waiting");
      return runTurn(turn, stored, ports, new AbortController().signal);
    };
    return { repository, run };
  };
  await store.jobs.add({ id: job, project: "docs", createdAt: 0 }, "first");
  const [one, two] = [await createWorker("one"), await createWorker("two")];
  let pushed = "";
  one.repository.afterPush = async () => {
    one.repository.afterPush = async () => {};
    pushed = docs.head(branch);
    // The lease expires.
    await store.runningTurns.requeueInterrupted();
    expect(await two.run()).toBe("completed");
  };
  expect(await one.run()).toBe("taken-over");
  const head = docs.head(branch);
  expect([pushed, head]).not.toContain("");
  expect(head).not.toBe(pushed);
  const [copied, copy] = docs.git("log", "--no-walk=unsorted", "-z", "--format=%B", pushed, head).split("\0");
  expect(copy).toBe(copied);
  expect((await store.jobs.find(job))?.head).toBe(head);
  expect(docs.read(branch, "work.md")).toBe("first");
  for (const commit of [pushed, head]) expect(hasSignature(docs, commit)).toBe(true);
  expect(runs).toEqual(["one"]);
});
