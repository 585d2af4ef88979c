import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { noNetwork } from "../../../src/agents/network/agent-network.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const server = postgresOfFile();
let service: AgentService | undefined;
afterEach(() => service?.[Symbol.asyncDispose]());

/** Commits a file to a branch, as a person does. */
function commitOn(docs: DocsRepository, branch: string, file: string, text: string): void {
  const person = "Person <person@example.com> now";
  docs.importHistory(
    `commit refs/heads/${branch}\ncommitter ${person}\ndata 4\nEdit\nfrom refs/heads/${branch}^0\nM 100644 inline ${file}\ndata ${text.length}\n${text}\n`,
  );
}

/** A job whose agents each run a script, in which `$1` is the number of the run. */
async function setUp(script: string, options: AgentServiceOptions = {}) {
  const docs = docsRepository({ "README.md": "# Docs\n", "guide.md": "One\nTwo\nThree\n", "old.md": "Old\n" });
  const folder = temporaryFolder();
  const agent = shellAgent(`
    cat > ${folder}/prompt
    n=$(($(cat ${folder}/runs 2>/dev/null || echo 0) + 1)); echo $n > ${folder}/runs
    work() { ${script}
    }
    work $n`);
  const start = () => startAgentService(docs, { agent, host, ...options });
  let own = await start();
  service = own;
  /** Lets another machine go on, which has nothing but the store. */
  const replaceMachine = async (): Promise<void> => {
    await own[Symbol.asyncDispose]();
    own = await start();
    service = own;
  };
  let id: string | undefined;
  /** Sends the job a prompt, and waits. */
  const turn = async (prompt = "Write the guide") => {
    const path = id === undefined ? "docs/job" : `docs/job/${id}/message`;
    id = (await send(own, path, prompt)).job.id;
    return waitForJob(own, id);
  };
  const prompt = (): string => readFileSync(join(folder, "prompt"), "utf8");
  const log = (): string => readFileSync(join(own.folder, "logs", `${id}.log`), "utf8");
  const files = (): string => docs.git("diff", "--name-status", `main...agent/${id}`);
  const wait = () => waitForJob(own, id ?? "");
  return { docs, turn, prompt, log, files, folder, replaceMachine, wait };
}

const step = 'wc -l < part.md 2>/dev/null >> "$LEDGER" || echo 0 >> "$LEDGER"; echo line >> part.md;';

test("work that takes three times the limit is published by the third turn, and each agent begins where the last one ended", async () => {
  const ledger = join(temporaryFolder(), "ledger");
  const script = `LEDGER=${ledger}; ${step} [ "$1" -ge 3 ] || exit 3`;
  const metrics = new PrometheusMetrics();
  const { turn, prompt, log, docs } = await setUp(script, { metrics });
  const first = await turn();
  expect(first).toMatchObject({ status: "failed", kept: "unfinished", prLink: null });
  expect(docs.branches(), "nothing unfinished is on a branch").toEqual([]);
  expect(log()).toContain("What the agent changed is kept, and not published: part.md");
  expect(await turn()).toMatchObject({ status: "failed", kept: "unfinished", prLink: null });
  expect(prompt()).toMatch(/^The last request of this job did not complete\. .*exit code 3/);
  expect(prompt()).toContain("not committed, and become part of your change: part.md. Go on from there.");
  const third = await turn();
  expect(third, log()).toMatchObject({ status: "completed", prLink: expect.stringContaining("http") });
  expect(third).not.toHaveProperty("kept");
  expect(readFileSync(ledger, "utf8")).toBe("0\n1\n2\n");
  expect(docs.git("show", `agent/${third.id}:part.md`)).toBe("line\nline\nline");
  const counted = await metrics.render(undefined);
  for (const what of ["unfinished", "laid-out"])
    expect(counted).toContain(`agent_service_kept_work_total{what="${what}"} 2`);
});

test("of turns that never end, the fourth starts clean, and says so", async () => {
  const ledger = join(temporaryFolder(), "ledger");
  const { turn, prompt, log, docs } = await setUp(`LEDGER=${ledger}; ${step} exit 3`);
  for (let count = 0; count < 5; count++) expect((await turn()).status).toBe("failed");
  expect(readFileSync(ledger, "utf8")).toBe("0\n1\n2\n0\n1\n");
  expect(log()).toContain("The last 3 turns did not complete, so this one starts without what they left.");
  expect(prompt()).toContain("Go on from there.");
  expect(docs.branches()).toEqual([]);
});

test("files that the branch has changed since stay, and those that instruct agents or run code are not laid out", async () => {
  const folder = temporaryFolder();
  const { turn, prompt, files, docs } = await setUp(`
    ls -a > ${folder}/seen; cat guide.md >> ${folder}/seen
    [ "$1" -ge 2 ] && { echo more >> new.md; exit 0; }
    echo Mine > guide.md; echo new > new.md; rm old.md; echo Obey > AGENTS.md; mkdir -p .github/workflows
    echo 'on: push' > .github/workflows/x.yml; echo '{"scripts":{"postinstall":"id"}}' > package.json; exit 3`);
  await turn();
  commitOn(docs, "main", "guide.md", "Theirs\n");
  const second = await turn("Something else");
  expect(second.status).toBe("completed");
  const seen = readFileSync(join(folder, "seen"), "utf8");
  expect(seen).toContain("Theirs");
  expect(seen).toContain("new.md");
  expect(seen).not.toMatch(/Mine|old\.md|AGENTS|package\.json|workflows/);
  expect(prompt()).toMatch(/These of its files are not, .*: .*AGENTS\.md/);
  expect(files()).toBe("A\tnew.md\nD\told.md");
  const message = docs.git("log", "-1", "--format=%B", `agent/${second.id}`);
  expect(message).toContain("    Begun for an earlier request that did not complete (turn 1): new.md, old.md");
});

test("a secret is kept nowhere", async () => {
  const secrets = [{ name: "KEY", value: "sk-secret-12345" }];
  const { turn, prompt, log, docs } = await setUp("echo sk-secret-12345 > page.md; exit 3", { secrets });
  const first = await turn();
  expect(first).toMatchObject({ status: "failed" });
  expect(first).not.toHaveProperty("kept");
  expect(log()).toContain("What the agent changed is not kept: the change has secrets of the service");
  await turn();
  expect(prompt()).toContain("The files are as the branch has them: edits that you remember of it are gone.");
  expect(docs.branches()).toEqual([]);
});

test("a change that the service refuses is kept without being published, and what is allowed of it goes on", async () => {
  const { turn, files } = await setUp(
    'if [ "$1" = 1 ]; then echo page > page.md; echo Obey > AGENTS.md; else test -f page.md; fi',
    { protectedFiles: "refuse" },
  );
  expect(await turn()).toMatchObject({ status: "failed", kept: "unfinished", prLink: null });
  expect((await turn()).status).toBe("completed");
  expect(files()).toBe("A\tpage.md");
});

const blob = "head -c 9000 /dev/zero | tr '\\0' x";
test.each<[what: string, first: string, second: string, reason: string, files: string, more?: AgentServiceOptions]>([
  [
    "is too large",
    `${blob} > guide.md`,
    'test "$(wc -c < guide.md)" = 9000; echo less > guide.md',
    "the change has 0 MB, more than the 0 MB of --largest-change-mb",
    "M\tguide.md",
  ],
  [
    "is a folder that is too large, and what was deleted for it",
    `mkdir new; mv old.md new; ${blob} >> new/old.md`,
    "test ! -e old.md; echo Old > new/old.md",
    "most of the change cannot be published: new/, because it has 0 MB",
    "R100\told.md\tnew/old.md",
  ],
  [
    "has a name that is not published",
    "mv old.md 'What is X?.md'",
    "mv 'What is X?.md' what-is-x.md",
    "most of the change cannot be published: What is X?.md",
    "R100\told.md\twhat-is-x.md",
  ],
  [
    "is only in files that --only does not allow",
    "echo x > other.md",
    "test ! -e other.md; echo x > guide.md",
    "the agent changed only files that --only does not allow: other.md",
    "M\tguide.md",
    { only: readPathPatterns(["guide.md"]) },
  ],
])("a change that %s is kept", async (_, first, second, reason, changed, more) => {
  const { turn, prompt, log, files } = await setUp(`set -e; if [ "$1" = 1 ]; then ${first}; else ${second}; fi`, {
    largestChangeBytes: 5000,
    ...more,
  });
  expect(await turn(), log()).toMatchObject({ status: "failed", kept: "unfinished", prLink: null });
  expect(log()).toContain("What the agent changed is kept, and not published: ");
  expect((await turn()).status, log()).toBe("completed");
  expect(prompt()).toContain(reason);
  expect(files()).toBe(changed);
});

test("a commit that a person's push conflicts with is laid out for the next agent", async () => {
  const hold = join(temporaryFolder(), "hold");
  const { turn, prompt, docs, log, folder } = await setUp(`
    if [ "$1" = 2 ]; then while [ -e ${hold} ]; do sleep 0.05; done; fi
    echo "Agent $1" > guide.md; echo $1 >> log.md`);
  const first = await turn();
  writeFileSync(hold, "");
  const second = turn("Again");
  while (readFileSync(join(folder, "runs"), "utf8") !== "2\n") await new Promise((resolve) => setTimeout(resolve, 20));
  commitOn(docs, `agent/${first.id}`, "guide.md", "A person\n");
  rmSync(hold);
  expect(await second).toMatchObject({ status: "failed", kept: "push" });
  const third = await turn("Again");
  expect(third.status, log()).toBe("completed");
  expect(prompt()).toMatch(/^The work of the last request of this job conflicts with what others have pushed since/);
  expect(prompt()).toContain("become part of your change: log.md");
  expect(docs.git("show", `agent/${first.id}:log.md`)).toBe("1\n2\n3");
});

test("another machine with the same database goes on from what one has left", async () => {
  const url = await server().createStoreDatabase();
  const openStore = () => openPostgresStore({ url, log: () => {}, times: patient });
  const script = "ls > found.md; echo text > part.md; [ $1 -ge 2 ] || exit 3";
  const { docs, turn, prompt, replaceMachine } = await setUp(script, { openStore });
  expect(await turn()).toMatchObject({ status: "failed", kept: "unfinished" });
  await replaceMachine();
  const { id, status } = await turn();
  expect(status).toBe("completed");
  expect(prompt()).toContain("These files are in the working tree as its agent left them");
  expect(docs.read(`agent/${id}`, "found.md").split("\n")).toContain("part.md");
});

test("another machine with the same database publishes what an agent has finished on one that stops in its check", async () => {
  const url = await server().createStoreDatabase();
  const openStore = () => openPostgresStore({ url, log: () => {}, times: patient });
  const [ledger, begun] = [join(temporaryFolder(), "ledger"), join(temporaryFolder(), "begun")];
  const check = `[ -e ${begun} ] && exit 0; touch ${begun}; sleep 1000`;
  const commands = { setup: undefined, check, reads: [], setupNetwork: noNetwork };
  const script = `echo run >> ${ledger}; echo text > part.md`;
  const { docs, turn, replaceMachine, wait } = await setUp(script, { openStore, commands, host: turnHost });
  const asked = turn().catch(() => undefined);
  await waitUntil(() => existsSync(begun));
  await replaceMachine();
  await asked;
  const { id, status } = await wait();
  expect([status, readFileSync(ledger, "utf8")]).toEqual(["completed", "run\n"]);
  expect(docs.read(`agent/${id}`, "part.md")).toBe("text");
  expect(await server().query(url, 'SELECT job FROM agent_jobs."keptCommit"')).toEqual([]);
});
