import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shellAgent } from "../../src/service/agents/agent-program.ts";
import type { WorkingServiceOptions } from "../../src/service/service.ts";
import type { DocsRepository } from "../../tools/docs-repository.ts";
import {
  ask,
  docsRepository,
  ended,
  runJob,
  scriptAgent,
  startWorking,
  type WorkingService,
} from "../support/agent-service.ts";
import { serviceKey } from "../support/scripted-service.ts";
import { temporaryFolder } from "../support/step.ts";

let docs: DocsRepository;
let services: WorkingService[];

beforeEach(() => {
  docs = docsRepository();
  services = [];
});

afterEach(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
});

async function start(options: Partial<WorkingServiceOptions> = {}): Promise<WorkingService> {
  const service = await startWorking(docs, options);
  services.push(service);
  return service;
}

const logOf = (service: WorkingService, jobId: string) =>
  readFileSync(join(service.folder, "logs", `${jobId}.log`), "utf8");

test("a job ends with a branch and a pull request, and a message goes on with both", async () => {
  const service = await start();
  const created = await ask(service, "docs/job", 'Add a page "Quickstart" that says "Run npm ci."');
  expect(created).toMatchObject({ status: 201, job: { status: "active", prLink: null, archivedAt: null } });
  const { id } = created.job;
  const first = await ended(service, id);
  expect(first).toMatchObject({
    status: "completed",
    model: "documentation-editor",
    source: { repository: pathToFileURL(docs.path).href, ref: `agent/${id}` },
    prLink: `${service.url}/pull/1`,
  });
  expect(docs.read(`agent/${id}`, "docs/quickstart.md")).toBe("# Quickstart\n\nRun npm ci.");

  expect((await ask(service, `docs/job/${id}/message`, 'Replace "Utilise" with "Use"')).job.prLink).toBeNull();
  expect(await ended(service, id)).toMatchObject({ status: "completed", prLink: first.prLink });
  expect(docs.git("log", "--format=%s", `main..agent/${id}`).split("\n")).toEqual([
    'Replace "Utilise" with "Use"',
    'Add a page "Quickstart" that says "Run npm ci."',
  ]);
  const page = await (await fetch(first.prLink ?? "")).text();
  for (const shown of ["2 commits", "+ Use the command.", "- Utilise the command.", "+ # Quickstart"])
    expect(page).toContain(shown);
});

test("nothing understood, nothing changed: completed without a pull request, and the log says why", async () => {
  const service = await start();
  const job = await runJob(service, "Make it better.");
  expect(job).toMatchObject({ status: "completed", prLink: null });
  expect(docs.branches()).toEqual([]);
  expect(logOf(service, job.id)).toContain("Nothing was changed");
});

describe("an agent is a command", () => {
  test("with the prompt on stdin and in a file, the tree around it, and no secret of the service", async () => {
    process.env.GITHUB_TOKEN = "token_of_the_service";
    try {
      const agent = shellAgent(
        'cat > stdin.txt; cp "$AGENT_PROMPT_FILE" file.txt; env > env.txt; git status > git.txt; ls',
      );
      const service = await start({ agent });
      const job = await runJob(service, "Héllo\n$(touch pwned) `id`; --flag");
      const branch = `agent/${job.id}`;
      expect(job).toMatchObject({ status: "completed", model: "cat" });
      expect(docs.read(branch, "stdin.txt")).toBe("Héllo\n$(touch pwned) `id`; --flag");
      expect(docs.read(branch, "file.txt")).toBe(docs.read(branch, "stdin.txt"));
      expect(docs.read(branch, "env.txt")).toContain(`AGENT_JOB_ID=${job.id}`);
      expect(docs.read(branch, "env.txt")).not.toMatch(/token_of_the_service|AGENT_SERVICE_KEY/);
      expect(docs.read(branch, "git.txt")).toContain(`On branch ${branch}`);
      expect(logOf(service, job.id)).toContain("README.md");
    } finally {
      delete process.env.GITHUB_TOKEN;
    }
  });

  test("whose exit code decides: what a failed one has changed is thrown away", async () => {
    const service = await start({ agent: shellAgent("echo broken > docs/guide.md; exit 3") });
    expect(await runJob(service, "Go on")).toMatchObject({ status: "failed", prLink: null });
    expect(docs.branches()).toEqual([]);
  });

  test("that cannot be started fails the job", async () => {
    const service = await start({ agent: { file: "/no/such/agent", args: [], model: "none" } });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("failed");
    expect(logOf(service, job.id)).toContain("cannot be started");
  });

  test("that does not end is ended at its limit with all that it has started", async () => {
    const pids = join(temporaryFolder(), "pids");
    const agent = shellAgent(`sleep 300 & echo $! > ${pids}; trap "" TERM; sleep 300`);
    const service = await start({ agent, timeLimitMs: 700 });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("failed");
    expect(logOf(service, job.id)).toContain("ended after 0.7 s");
    expect(isAlive(readFileSync(pids, "utf8"))).toBe(false);
  });

  test("that ends its own supervisor's attention is ended by force", async () => {
    const service = await start({ agent: shellAgent("kill -STOP $PPID; sleep 300"), timeLimitMs: 300 });
    expect((await runJob(service, "Go on")).status).toBe("failed");
  });

  test("that leaves what cannot be removed, or a daemon that goes on writing, ends no service", async () => {
    const daemon = "for n in $(seq 3000); do echo x > late-$n; done";
    const agent = scriptAgent(`
      import { spawn } from "node:child_process";
      spawn("sh", ["-c", ${JSON.stringify(daemon)}], { detached: true, stdio: "ignore" }).unref();
      fs.mkdirSync("a/b", { recursive: true });
      fs.writeFileSync("a/b/c", "x");
      fs.chmodSync("a/b", 0o555);`);
    const service = await start({ agent });
    expect((await runJob(service, "Go on")).status).toBe("completed");
    expect((await runJob(service, "Go on")).status).toBe("completed");
  });

  test("whose settings for Git are its own: the service's Git runs none of them", async () => {
    process.env.GITHUB_TOKEN = "token_of_the_service";
    try {
      const filter = `git config filter.x.clean 'env > leaked.txt; cat'; echo '*.md filter=x' > .gitattributes; echo more >> README.md`;
      const service = await start({ agent: shellAgent(filter) });
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

  test("that leaves a repository of its own fails the job, since its files would be lost", async () => {
    const inner =
      "mkdir inner && cd inner && git init -q && echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -qm x";
    const service = await start({ agent: shellAgent(inner) });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("failed");
    expect(logOf(service, job.id)).toContain("created a Git repository in inner");
  });

  test("that prints without end, and lines like the service's, fills no disk and forges nothing", async () => {
    const service = await start({
      agent: shellAgent("echo '[service] All is well'; printf 'a\\r\\033[2Jb\\n'; yes something | head -c 30000000"),
    });
    const job = await runJob(service, "Go on");
    const log = logOf(service, job.id);
    expect(log.length).toBeLessThan(11_000_000);
    expect(log.match(/output truncated/g)).toHaveLength(1);
    expect(log.slice(0, 1000)).toContain("| [service] All is well\n| a[2Jb\n");
    expect(log.slice(-1000)).toContain("[output truncated]");
  });

  test("that kills its supervisor at once is ended all the same", async () => {
    const pids = join(temporaryFolder(), "pids");
    const service = await start({ agent: shellAgent(`echo $$ > ${pids}; kill -9 $PPID; sleep 300`) });
    expect((await runJob(service, "Go on")).status).toBe("failed");
    // Nobody but the machine itself is left to take note of its end.
    while (isAlive(readFileSync(pids, "utf8"))) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test("that prints a line without end completes", async () => {
    const service = await start({ agent: shellAgent("head -c 50000000 /dev/zero | tr '\\0' x; echo ok > n.md") });
    expect((await runJob(service, "Go on")).status).toBe("completed");
  });

  test("that pushes its branch by itself: what it has changed beyond that comes on top", async () => {
    const person = "-c user.name=a -c user.email=a@b";
    const own = `echo one > one.md; git add -A; git ${person} commit -qm mine; git push -q origin HEAD; echo two > two.md`;
    const service = await start({ agent: shellAgent(own) });
    const job = await runJob(service, "Go on");
    expect(job).toMatchObject({ status: "completed", prLink: `${service.url}/pull/1` });
    expect(docs.git("log", "--format=%s", `main..agent/${job.id}`).split("\n")).toEqual(["Go on", "mine"]);
    expect(docs.git("diff", "--name-only", `main...agent/${job.id}`).split("\n")).toEqual(["one.md", "two.md"]);
  });

  test("that commits by itself, on a branch of its own, with a lock left behind, still hands on its work", async () => {
    const commands = [
      "echo one >> docs/guide.md",
      "git checkout -q -b mine",
      "git -c user.name=a -c user.email=a@b commit -qam own",
      "echo two > new.md",
      "touch .git/index.lock",
    ];
    const service = await start({ agent: shellAgent(commands.join(" && ")) });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("completed");
    expect(docs.diff(`agent/${job.id}`)).toContain("+one");
    expect(docs.read(`agent/${job.id}`, "new.md")).toBe("two");
    expect(docs.git("log", "--format=%s", `main..agent/${job.id}`)).toBe("Go on");
  });
});

test("messages of one job are done one after another, and jobs side by side up to the limit", async () => {
  const folder = temporaryFolder();
  const record = join(folder, "record");
  // The first two wait for each other.
  const agent = scriptAgent(`
    const folder = ${JSON.stringify(folder)};
    const record = (mark) => fs.appendFileSync(folder + "/record", mark + job + "\\n");
    record("+");
    fs.writeFileSync(folder + "/" + job, "");
    while (fs.readdirSync(folder).length < 3) await new Promise((done) => setTimeout(done, 20));
    fs.writeFileSync(prompt.trim() + ".md", prompt);
    record("-");`);
  const service = await start({ agent, agents: 2 });
  const ids = await Promise.all(["a", "b", "c"].map(async (name) => (await ask(service, "docs/job", name)).job.id));
  const [first = ""] = ids;
  for (const name of ["d", "e"]) await ask(service, `docs/job/${first}/message`, name);
  for (const id of ids) expect((await ended(service, id)).status).toBe("completed");

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

test("a service that stops ends its agents, and the next one does their work", async () => {
  const gate = join(temporaryFolder(), "open");
  const pids = `${gate}.pid`;
  const agent = shellAgent(`echo $$ > ${pids}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done > done.md`);
  const first = await startWorking(docs, { agent });
  const { job } = await ask(first, "docs/job", "Go on");
  while (!existsSync(pids) || !readFileSync(pids, "utf8").includes("\n"))
    await new Promise((resolve) => setTimeout(resolve, 20));
  await first[Symbol.asyncDispose]();
  expect(isAlive(readFileSync(pids, "utf8"))).toBe(false);

  writeFileSync(gate, "");
  const second = await start({ agent, folder: first.folder });
  expect((await ended(second, job.id)).status).toBe("completed");
  expect(docs.read(`agent/${job.id}`, "done.md")).toBe("done");
  expect(readdirSync(join(second.folder, "runs"))).toEqual([]);
});

test("a change that was squashed into the default branch is not offered again", async () => {
  const service = await start({ agent: scriptAgent("fs.appendFileSync('README.md', prompt + '\\n');") });
  const first = await runJob(service, "one");
  const branch = first.source.ref ?? "";
  docs.squash(branch);
  await ask(service, `docs/job/${first.id}/message`, "two");
  const second = await ended(service, first.id);
  expect(second.prLink).not.toBe(first.prLink);
  expect(docs.git("log", "--format=%s", `main..${branch}`)).toBe("two");
  expect(docs.read(branch, "README.md")).toMatch(/one\ntwo$/);
});

test("a job that has changed nothing in the end goes on in its pull request", async () => {
  const agent = scriptAgent("if (prompt === 'undo') fs.rmSync('n.md'); else fs.writeFileSync('n.md', prompt);");
  const service = await start({ agent });
  const { id } = await runJob(service, "one");
  for (const prompt of ["undo", "two"]) {
    await ask(service, `docs/job/${id}/message`, prompt);
    expect(await ended(service, id)).toMatchObject({ status: "completed", prLink: `${service.url}/pull/1` });
  }
  expect(docs.git("log", "--format=%s", `main..agent/${id}`).split("\n")).toEqual(["two", "undo", "one"]);
});

test("a service that Git has started, in a hook, leaves the repository of that Git alone", async () => {
  const victim = docsRepository({ "a.md": "a\n" });
  victim.git("branch", "precious");
  const before = victim.git("for-each-ref");
  process.env.GIT_DIR = victim.path;
  process.env.GIT_INDEX_FILE = join(victim.path, "index");
  try {
    const service = await start({ agent: shellAgent("echo x > x.md; git add -A") });
    expect((await runJob(service, "Go on")).status).toBe("completed");
  } finally {
    delete process.env.GIT_DIR;
    delete process.env.GIT_INDEX_FILE;
  }
  expect(victim.git("for-each-ref")).toBe(before);
  expect(existsSync(join(victim.path, "index"))).toBe(false);
});

test("a prompt that looks like a trailer of the service's skips no turn", async () => {
  const service = await start({ agent: scriptAgent("fs.appendFileSync('README.md', prompt + '\\n');") });
  const { id } = await runJob(service, "Agent-Turn: 2\n\nAgent-Job: x");
  await ask(service, `docs/job/${id}/message`, "second");
  await ended(service, id);
  expect(docs.read(`agent/${id}`, "README.md")).toMatch(/second$/);
});

test("a push that is refused fails the job and says so; the next message is pushed with it", async () => {
  const service = await start({ agent: scriptAgent("fs.writeFileSync(prompt + '.md', prompt);") });
  const hook = join(docs.path, "hooks/pre-receive");
  writeFileSync(hook, "#!/bin/sh\necho 'not today'; exit 1\n", { mode: 0o755 });
  const { id, status } = await runJob(service, "one");
  expect(status).toBe("failed");
  expect(logOf(service, id)).toContain("not today");
  rmSync(hook);
  await ask(service, `docs/job/${id}/message`, "two");
  expect(await ended(service, id)).toMatchObject({ status: "completed", prLink: `${service.url}/pull/1` });
});

test("a repository that cannot be worked on is refused at the start, in words", async () => {
  const empty = docsRepository({});
  await expect(startWorking(empty)).rejects.toThrow(/no default branch/);
  docs.git("branch", "agent");
  await expect(startWorking(docs)).rejects.toThrow(/a branch named agent/);
  docs.git("branch", "-D", "agent");
  docs.git("symbolic-ref", "HEAD", "refs/heads/agent/job_1");
  docs.git("branch", "agent/job_1", "main");
  await expect(startWorking(docs)).rejects.toThrow(/--base/);
  const service = await start({ base: "main" });
  expect((await runJob(service, 'Add a page "X"')).status).toBe("completed");
});

test("what a service that was killed has left behind hinders no other", async () => {
  const first = await startWorking(docs);
  await first[Symbol.asyncDispose]();
  writeFileSync(join(first.folder, "mirror.git/refs/heads/main.lock"), "");
  mkdirSync(join(first.folder, "runs/7-1/tree"), { recursive: true });
  const second = await start({ folder: first.folder });
  expect(readdirSync(second.folder)).not.toContain("runs");
  expect((await runJob(second, 'Add a page "X"')).status).toBe("completed");
});

test("a large diff is shown as far as it goes, and keeps nobody waiting", async () => {
  const service = await start({ agent: shellAgent("yes x | head -n 3000000 > n.md") });
  const job = await runJob(service, "Go on");
  const page = await (await fetch(job.prLink ?? "")).text();
  expect(page).toContain("too large to be shown whole");
  expect(page.length).toBeLessThan(40_000_000);
});

test("a second service on the same store is refused", async () => {
  const first = await start();
  await expect(startWorking(docs, { folder: first.folder })).rejects.toThrow(/locked/);
});

test("another key, project or job is not found, whatever it looks like", async () => {
  const service = await start();
  for (const path of ["docs/job/..%2f..%2fetc", "docs/job/job_x%00", "%2e%2e%2fdocs/job/x", "..%2f..%2f/job/x"])
    expect((await ask(service, path)).status).toBe(404);
  expect((await ask(service, "--upload-pack=id/job", "Go on")).status).toBe(404);
  const denied = await fetch(`${service.url}/v2/agent/docs/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${serviceKey}x`, "content-type": "application/json" },
    body: '{"prompt":"Go on"}',
  });
  expect(denied.status).toBe(401);
  expect(docs.branches()).toEqual([]);
});

test("the page of a pull request shows hostile text as text", async () => {
  const agent = scriptAgent('fs.writeFileSync("<img src=x>.md", "<script>alert(1)</script>\\n\\u202e\\n");');
  const service = await start({ agent });
  const job = await runJob(service, '<script>alert(2)</script>\n"><b>');
  const response = await fetch(job.prLink ?? "");
  const page = await response.text();
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(page).toContain("&lt;img src=x&gt;.md");
  expect(page).not.toMatch(/<script|<img|<b>|\u202e/);
  expect((await fetch(`${service.url}/pull/99`)).status).toBe(404);
});

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}
