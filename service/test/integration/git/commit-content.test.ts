import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import type { Agent } from "../../../src/agents/agent.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  runJob,
  startAgentService,
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

async function start(agent: Agent, options: AgentServiceOptions = {}): Promise<AgentService> {
  const service = await startAgentService(docs, { agent, host, ...options });
  services.push(service);
  return service;
}

const logOf = (service: AgentService, jobId: string) =>
  readFileSync(join(service.folder, "logs", `${jobId}.log`), "utf8");

const files = (branch: string) => docs.git("diff", "--name-only", `main...${branch}`).split("\n");

describe("files of agents", () => {
  const leave =
    "mkdir -p .claude docs; for f in .aider.chat.history.md docs/.aider.tags .claude/settings.local.json .claude/a.log CLAUDE.local.md; do echo x >> $f; done";

  test("are not committed", async () => {
    const service = await start(shellAgent(`${leave}; echo x > .claude/settings.json`));
    const { id } = await runJob(service, "Go on");
    expect(files(`agent/${id}`)).toEqual([".claude/settings.json"]);
  });

  test("count as no change", async () => {
    const service = await start(shellAgent(leave));
    expect(await runJob(service, "Go on")).toMatchObject({ status: "completed", prLink: null });
  });

  test("are committed if the repository tracks them or includes them itself", async () => {
    docs = docsRepository({ "CLAUDE.local.md": "x\n", ".gitignore": "!.aider.chat.history.md\n" });
    const service = await start(shellAgent(leave));
    const { id } = await runJob(service, "Go on");
    expect(files(`agent/${id}`)).toEqual([".aider.chat.history.md", "CLAUDE.local.md"]);
  });
});

test("new files that .gitignore names are named, but no folders of tools, and nothing that was there before", async () => {
  docs = docsRepository({ ".gitignore": "drafts/\nnode_modules/\n*.log\n/secret.md\n" });
  const write =
    "mkdir -p drafts node_modules/x; for f in drafts/page.md node_modules/x/i.js a.log secret.md; do echo x > $f; done";
  const service = await start(shellAgent(`${write}; [ "$(cat)" = Nothing ] || echo x > page.md`));
  const job = await runJob(service, "Go on");
  const told = "Not published, because .gitignore names it: drafts/, secret.md.";
  expect(logOf(service, job.id)).toContain(`[service] ${told}`);
  expect(docs.git("log", "-1", "--format=%B", `agent/${job.id}`)).toContain(`    ${told}`);
  const other = await runJob(service, "Nothing");
  expect(other).toMatchObject({ status: "completed", prLink: null });
  expect(logOf(service, other.id)).toContain(
    `[service] No file was changed. The agent's last words:\n[service] ${told}`,
  );
});

test("what an agent adds by force in a folder of tools is named", async () => {
  docs = docsRepository({ ".gitignore": "dist/\nnode_modules/\n" });
  const write = "mkdir -p dist node_modules; echo x > dist/new.js; echo x > node_modules/i.js";
  const service = await start(shellAgent(`${write}; git add -f dist/new.js; git commit -qm "Add the built file"`));
  const job = await runJob(service, "Go on");
  expect(job).toMatchObject({ status: "completed", prLink: null });
  expect(logOf(service, job.id)).toContain("[service] Not published, because .gitignore names it: dist/.");
});

describe("a change that is too large", () => {
  test("fails the turn, and the log says how large it is and why", async () => {
    docs = docsRepository({ "a.bin": "", "b.bin": "" });
    const service = await start(shellAgent("head -c 700000 /dev/zero > a.bin; head -c 400000 /dev/zero > b.bin"), {
      largestChangeBytes: 1_000_000,
    });
    const job = await runJob(service, "Go on");
    expect(job).toMatchObject({ status: "failed", prLink: null });
    expect(logOf(service, job.id)).toContain(
      "The turn failed: the change has 1.1 MB, more than the 1 MB of --largest-change-mb; the largest file is a.bin with 0.7 MB",
    );
    expect(docs.branches()).toEqual([]);
  });

  test("counts changed files, but no unchanged, ignored or deleted ones", async () => {
    docs = docsRepository({
      "large.bin": "x".repeat(900_000),
      "gone.bin": "x".repeat(900_000),
      ".gitignore": "build/\n",
    });
    const work = "rm gone.bin; mkdir build; head -c 900000 /dev/zero > build/x; head -c 900000 /dev/zero > new.bin";
    const service = await start(shellAgent(work), { largestChangeBytes: 1_000_000 });
    const job = await runJob(service, "Go on");
    expect(job.status, logOf(service, job.id)).toBe("completed");
    expect(files(`agent/${job.id}`)).toEqual(["gone.bin", "new.bin"]);
  });
});

test("folders that the agent made unreadable are committed", async () => {
  docs = docsRepository({ "docs/page.md": "x\n" });
  const service = await start(
    shellAgent("echo y >> docs/page.md; mkdir new; echo x > new/x; chmod 0 new; chmod 400 docs"),
  );
  const { id, status } = await runJob(service, "Go on");
  expect(status).toBe("completed");
  expect(files(`agent/${id}`)).toEqual(["docs/page.md", "new/x"]);
});

test("a file that only has other line ends than in the repository is no change", async () => {
  docs = docsRepository({ "README.md": "one\ntwo\n", ".gitattributes": "* text=auto\n" });
  const service = await start(shellAgent("printf 'one\\r\\ntwo\\r\\n' > README.md"));
  const job = await runJob(service, "Go on");
  expect(job, logOf(service, job.id)).toMatchObject({ status: "completed", prLink: null });
});
