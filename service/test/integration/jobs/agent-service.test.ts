import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  readPage,
  runJob,
  send,
  startAgentService,
  waitForJob,
  writingAgent,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

let docs: DocsRepository;
let services: AgentService[];

beforeEach(() => {
  docs = docsRepository();
  services = [];
});

afterEach(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
});

async function start(options: AgentServiceOptions = {}): Promise<AgentService> {
  const service = await startAgentService(docs, options);
  services.push(service);
  return service;
}

const logOf = (service: AgentService, jobId: string) =>
  readFileSync(join(service.folder, "logs", `${jobId}.log`), "utf8");

test("opens a pull request for a job, and adds to it for a message", async () => {
  const service = await start();
  const created = await send(service, "docs/job", 'Add a page "Quickstart" that says "Run npm ci."');
  expect(created).toMatchObject({ status: 201, job: { status: "active", prLink: null, archivedAt: null } });
  const { id } = created.job;
  const first = await waitForJob(service, id);
  expect(first).toMatchObject({
    status: "completed",
    model: "documentation-editor",
    source: { repository: pathToFileURL(docs.path).href, ref: `agent/${id}` },
    prLink: `${service.url}/pull/1`,
  });
  expect(docs.read(`agent/${id}`, "docs/quickstart.md")).toBe("# Quickstart\n\nRun npm ci.");
  expect(await readPage(service, first.prLink)).toContain(">Open<");

  expect((await send(service, `docs/job/${id}/message`, 'Replace "Utilise" with "Use"')).job.prLink).toBeNull();
  expect(await waitForJob(service, id)).toMatchObject({ status: "completed", prLink: first.prLink });
  expect(docs.git("log", "--format=%s", `main..agent/${id}`).split("\n")).toEqual([
    'Replace "Utilise" with "Use"',
    'Add a page "Quickstart" that says "Run npm ci."',
  ]);
  const page = await readPage(service, first.prLink);
  for (const shown of ["2 commits", "+ Use the command.", "- Utilise the command.", "+ # Quickstart"])
    expect(page).toContain(shown);
});

describe("agent", () => {
  test("gets the prompt on stdin and in a file, a worktree, and no secrets of the service", async () => {
    process.env.GITHUB_TOKEN = "token_of_the_service";
    process.env.OTHER_SECRET = "other_secret_of_the_user";
    process.env.PASSED = "passed_to_the_agent";
    try {
      const command = 'cat > stdin.txt; cp "$AGENT_PROMPT_FILE" file.txt; env > env.txt; git status > git.txt; ls';
      const agent = { ...shellAgent(command), passes: ["PASSED", "NOT_SET"] };
      const service = await start({ agent });
      const job = await runJob(service, "Héllo\n$(touch pwned) `id`; --flag");
      const branch = `agent/${job.id}`;
      expect(job).toMatchObject({ status: "completed", model: "cat" });
      expect(docs.read(branch, "stdin.txt")).toBe("Héllo\n$(touch pwned) `id`; --flag");
      expect(docs.read(branch, "file.txt")).toBe(docs.read(branch, "stdin.txt"));
      expect(docs.read(branch, "env.txt")).toContain(`AGENT_JOB_ID=${job.id}`);
      expect(docs.read(branch, "env.txt")).not.toMatch(/token_of_the_service|AGENT_SERVICE_KEY|other_secret/);
      expect(docs.read(branch, "env.txt")).toContain("PASSED=passed_to_the_agent");
      expect(docs.read(branch, "git.txt")).toContain(`On branch ${branch}`);
      expect(logOf(service, job.id)).toContain("README.md");
    } finally {
      for (const name of ["GITHUB_TOKEN", "OTHER_SECRET", "PASSED"]) delete process.env[name];
    }
  });

  test("has a directory of its own for all turns, with its home and the history", async () => {
    const script = `
      prompt=$(cat); printf %s, "$prompt" >> "$HOME/session"; echo > "$TMPDIR/$prompt"
      for seen in "$PWD" "$HOME" "$(cat "$HOME/session")" "$(ls "$TMPDIR")" "$GREETING $1" "$(git var GIT_AUTHOR_IDENT)"; do echo "$seen"; done > seen.txt
      cat "$AGENT_HISTORY_FILE" >> seen.txt`;
    const command = ({ isFollowUp }: { isFollowUp: boolean }) => ({
      file: "/bin/sh",
      args: ["-c", script, "sh", isFollowUp ? "again" : "first"],
    });
    const agent = { ...shellAgent(""), environment: { GREETING: "Hello" }, command };
    const service = await start({ agent, host });
    const { id } = await runJob(service, "one");
    const seen = (job = id) => docs.read(`agent/${job}`, "seen.txt").split("\n");
    const author = expect.stringMatching(/^Agent <agent@localhost>/);
    const [tree = "", home = "", ...first] = seen();
    expect(first).toEqual(["one,", "one", "Hello first", author]);
    await send(service, `docs/job/${id}/message`, "two");
    await waitForJob(service, id);
    const history = JSON.stringify({ prompt: "one", answer: null, state: "completed" });
    expect(seen()).toEqual([tree, home, "one,two,", "two", "Hello again", author, history]);
    expect(tree.startsWith(service.folder)).toBe(true);
    expect(readdirSync(join(service.folder, "jobs", id))).toEqual(["home"]);

    const other = await runJob(service, "three");
    expect(seen(other.id).slice(2)).toEqual(["three,", "three", "Hello first", author]);
  });

  test("is killed at the time limit even if it stops its supervisor", async () => {
    const service = await start({ agent: shellAgent("kill -STOP $PPID; sleep 300"), timeLimitMs: 300 });
    expect((await runJob(service, "Go on")).status).toBe("failed");
  });

  test("may leave read-only folders or a daemon that keeps writing", async () => {
    // No more files than a change may have, however fast it is.
    const daemon = "for n in $(seq 3000); do echo x >> late-$((n % 900)); done";
    const agent = shellAgent(
      // macOS has no setsid.
      `$(command -v setsid) sh -c '${daemon}' < /dev/null > /dev/null 2>&1 & mkdir -p a/b; echo x > a/b/c; chmod 555 a/b`,
    );
    const service = await start({ agent });
    for (const prompt of ["Go on", "And on"])
      expect((await runJob(service, prompt)).status, service.lines.join("\n")).toBe("completed");
  });

  test("cannot make the service's Git run a filter", async () => {
    process.env.GITHUB_TOKEN = "token_of_the_service";
    try {
      const filter = `git config filter.x.clean 'env > leaked.txt; cat'; echo '*.md filter=x' > .gitattributes; echo more >> README.md`;
      const service = await start({ agent: shellAgent(filter), host });
      const job = await runJob(service, "Go on");
      expect(job.status).toBe("completed");
      expect(docs.git("ls-tree", "--name-only", `agent/${job.id}`).split("\n")).toEqual([
        ".gitattributes",
        "README.md",
        "docs",
      ]);
    } finally {
      delete process.env.GITHUB_TOKEN;
    }
  });

  test("cannot block the service with a pipe", async () => {
    const files = [".gitignore", "docs/.gitattributes", ".gitmodules"];
    const service = await start({ agent: shellAgent(`mkfifo ${files.join(" ")}; echo more >> README.md`), host });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("completed");
    for (const file of files) expect(logOf(service, job.id)).toMatch(`${file}, because it is no file`);
  });

  test("has files in a repository of its own published without that", async () => {
    const inner =
      "mkdir inner && cd inner && git init -q && echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -qm x";
    const service = await start({ agent: shellAgent(inner), host });
    const job = await runJob(service, "Go on");
    expect(job.status, logOf(service, job.id)).toBe("completed");
    expect(docs.git("diff", "--name-only", `main...agent/${job.id}`)).toBe("inner/x");
  });

  test("cannot fill the disk with its output, nor forge log lines of the service", async () => {
    const service = await start({
      agent: shellAgent(
        "echo '[service] All is well'; printf 'a\\r\\033[2Jb\\n'; yes $(printf %01000d 0) | head -c 12000000",
      ),
    });
    const job = await runJob(service, "Go on");
    const log = logOf(service, job.id);
    expect(log.length).toBeLessThan(11_000_000);
    expect(log.match(/output truncated/g)).toHaveLength(1);
    expect(log.slice(0, 1000)).toContain("| [service] All is well\n| ab\n");
    expect(log.slice(-1000)).toContain("[output truncated]");
  });

  test("may push its branch itself: further changes are committed on top", async () => {
    const person = "-c user.name=a -c user.email=a@b";
    const own = `echo one > one.md; git add -A; git ${person} commit -qm mine; git push -q origin HEAD; echo two > two.md`;
    const service = await start({ agent: shellAgent(own), host });
    const job = await runJob(service, "Go on");
    expect(job).toMatchObject({ status: "completed", prLink: `${service.url}/pull/1` });
    expect(docs.git("log", "--format=%s", `main..agent/${job.id}`).split("\n")).toEqual(["Go on", "mine"]);
    expect(docs.git("diff", "--name-only", `main...agent/${job.id}`).split("\n")).toEqual(["one.md", "two.md"]);
  });

  test("may commit to another branch and leave a lock behind", async () => {
    const commands = [
      "echo one >> docs/guide.md",
      "git checkout -q -b mine",
      "git -c user.name=a -c user.email=a@b commit -qam own",
      "echo two > new.md",
      "touch .git/index.lock",
    ];
    const service = await start({ agent: shellAgent(commands.join(" && ")), host });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("completed");
    expect(docs.diff(`agent/${job.id}`)).toContain("+one");
    expect(docs.read(`agent/${job.id}`, "new.md")).toBe("two");
    expect(docs.git("log", "--format=%s", `main..agent/${job.id}`)).toBe("Go on");
    expect(docs.git("log", "--format=%b", `main..agent/${job.id}`)).toContain("    own\n");
  });
});

test("runs the turns of a job one after another, and jobs in parallel up to the limit", async () => {
  const folder = temporaryFolder();
  const record = join(folder, "record");
  // The first two wait for each other.
  const agent = shellAgent(`
    echo "+$AGENT_JOB_ID" >> '${record}'; echo > "${folder}/$AGENT_JOB_ID"
    until set -- '${folder}'/*; [ $# -ge 3 ]; do sleep 0.02; done
    prompt=$(cat); printf %s "$prompt" > "$prompt.md"; echo "-$AGENT_JOB_ID" >> '${record}'`);
  const service = await start({ agent, agents: 2, host });
  const ids = await Promise.all(["a", "b", "c"].map(async (name) => (await send(service, "docs/job", name)).job.id));
  const [first = ""] = ids;
  for (const name of ["d", "e"]) await send(service, `docs/job/${first}/message`, name);
  for (const id of ids) expect((await waitForJob(service, id)).status).toBe("completed");

  const running = new Set<string>();
  let most = 0;
  for (const line of readFileSync(record, "utf8").trim().split("\n")) {
    const id = line.slice(1);
    if (line.startsWith("+")) {
      expect(running.has(id)).toBe(false);
      running.add(id);
    } else running.delete(id);
    most = Math.max(most, running.size);
  }
  expect(most).toBe(2);
  for (const name of ["a", "d", "e"]) expect(docs.read(`agent/${first}`, `${name}.md`)).toBe(name);
});

test("stops the agents with the service, and the next service resumes their jobs", async () => {
  const gate = join(temporaryFolder(), "open");
  const pids = `${gate}.pid`;
  const agent = shellAgent(`echo $$ > ${pids}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done > done.md`);
  const first = await startAgentService(docs, { agent });
  const { job } = await send(first, "docs/job", "Go on");
  await waitUntil(() => existsSync(pids) && readFileSync(pids, "utf8").includes("\n"));
  await first[Symbol.asyncDispose]();
  expect(isAlive(readFileSync(pids, "utf8"))).toBe(false);

  writeFileSync(gate, "");
  const second = await start({ agent, folder: first.folder });
  expect((await waitForJob(second, job.id)).status).toBe("completed");
  expect(docs.read(`agent/${job.id}`, "done.md")).toBe("done");
  expect(readdirSync(join(second.folder, "jobs", job.id))).toEqual(["home"]);
});

test("leaves the repository alone whose Git hook started the service", async () => {
  const victim = docsRepository({ "a.md": "a\n" });
  victim.git("branch", "precious");
  const before = victim.git("for-each-ref");
  process.env.GIT_DIR = victim.path;
  process.env.GIT_INDEX_FILE = join(victim.path, "index");
  try {
    const service = await start({ agent: shellAgent("echo x > x.md; git add -A"), host });
    expect((await runJob(service, "Go on")).status).toBe("completed");
  } finally {
    delete process.env.GIT_DIR;
    delete process.env.GIT_INDEX_FILE;
  }
  expect(victim.git("for-each-ref")).toBe(before);
  expect(existsSync(join(victim.path, "index"))).toBe(false);
});

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)("works on another user's repository if the operator's Git allows it", async () => {
  const home = temporaryFolder();
  vi.stubEnv("HOME", home);
  try {
    execFileSync("chown", ["-R", "65534", docs.path]);
    await expect(startAgentService(docs)).rejects.toThrow(/dubious ownership/);
    writeFileSync(join(home, ".gitconfig"), `[safe]\n\tdirectory = /it's\n\tdirectory = ${docs.path}\n`);
    const service = await start({ agent: writingAgent, host });
    expect((await runJob(service, "x")).status).toBe("completed");
  } finally {
    vi.unstubAllEnvs();
    execFileSync("chown", ["-R", "0", docs.path]);
  }
});

test("does not start with a repository it cannot work on, or an agent that may read its files, and says why", async () => {
  const folder = temporaryFolder();
  const reading = { ...shellAgent("true"), reads: [folder] };
  await expect(startAgentService(docs, { agent: reading, folder })).rejects.toThrow(/has files of the service/);
  const empty = docsRepository({});
  await expect(startAgentService(empty)).rejects.toThrow(/is empty/);
  docs.git("branch", "agent");
  await expect(startAgentService(docs)).rejects.toThrow(/a branch named agent/);
  docs.deleteBranch("agent");
  docs.git("symbolic-ref", "HEAD", "refs/heads/agent/job_1");
  docs.setHead("agent/job_1", docs.head("main"));
  await expect(startAgentService(docs)).rejects.toThrow(/--base/);
  const service = await start({ targetBranch: "main", agent: writingAgent, host });
  expect((await runJob(service, "x")).status).toBe("completed");
});

test("keeps the directories of jobs if their store was replaced by a new one", async () => {
  const folder = temporaryFolder();
  const home = join(folder, "jobs/job_unknown/home");
  mkdirSync(home, { recursive: true });
  const service = await startAgentService(docs, { folder, agent: shellAgent("true"), host });
  await runJob(service, "Make it better.");
  await service[Symbol.asyncDispose]();
  expect(existsSync(home)).toBe(true);
});

test("cleans up what a killed service left behind", async () => {
  const agent = { ...shellAgent('[ "$(cat)" = nothing ] || echo x > x.md'), isTrusted: true };
  const first = await startAgentService(docs, { agent, host });
  const { id } = await runJob(first, "nothing");
  await first[Symbol.asyncDispose]();
  writeFileSync(join(first.folder, "mirror.git/refs/heads/main.lock"), "");
  // As if it was killed while it checked out.
  rmSync(join(first.folder, "jobs", id, "index"));
  mkdirSync(join(first.folder, "jobs", id, "tmp"));
  const second = await start({ folder: first.folder, agent, host });
  await send(second, `docs/job/${id}/message`, "something");
  expect((await waitForJob(second, id)).status).toBe("completed");
  expect(readdirSync(join(second.folder, "jobs"))).toEqual([id]);
  expect(readdirSync(join(second.folder, "jobs", id)).sort()).toEqual(["home", "index", "tree"]);
});

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}
