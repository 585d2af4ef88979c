import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shellAgent } from "../../src/service/work/agent.ts";
import type { WorkingServiceOptions } from "../../src/service/working-service.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { serviceKey } from "../support/service.ts";
import { ask, ended, runJob, scriptAgent, startWorking, type WorkingService } from "../support/working-service.ts";

let docs: DocsRepository;
let services: WorkingService[];

beforeEach(() => {
  docs = new DocsRepository();
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
    const pids = join(mkdtempSync(join(tmpdir(), "pids-")), "pids");
    const agent = shellAgent(`sleep 300 & echo $! > ${pids}; trap "" TERM; sleep 300`);
    const service = await start({ agent, timeLimitMs: 700 });
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("failed");
    expect(logOf(service, job.id)).toContain("ended after 1 s");
    expect(isAlive(readFileSync(pids, "utf8"))).toBe(false);
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
  const record = join(mkdtempSync(join(tmpdir(), "record-")), "record");
  writeFileSync(record, "");
  const agent = scriptAgent(`
    fs.appendFileSync(${JSON.stringify(record)}, "+" + job + "\\n");
    await new Promise((done) => setTimeout(done, 300));
    fs.writeFileSync(prompt.trim() + ".md", prompt);
    fs.appendFileSync(${JSON.stringify(record)}, "-" + job + "\\n");`);
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
  const gate = join(mkdtempSync(join(tmpdir(), "gate-")), "open");
  const pids = `${gate}.pid`;
  const agent = shellAgent(`echo $$ > ${pids}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done > done.md`);
  const first = await startWorking(docs, { agent });
  const { job } = await ask(first, "docs/job", "Go on");
  while (!existsSync(pids)) await new Promise((resolve) => setTimeout(resolve, 20));
  await first[Symbol.asyncDispose]();
  expect(isAlive(readFileSync(pids, "utf8"))).toBe(false);

  writeFileSync(gate, "");
  const second = await start({ agent, folder: first.folder });
  expect((await ended(second, job.id)).status).toBe("completed");
  expect(docs.read(`agent/${job.id}`, "done.md")).toBe("done");
  expect(readdirSync(join(second.folder, "runs"))).toEqual([]);
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
