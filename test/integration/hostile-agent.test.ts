import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Agent, shellAgent } from "../../src/service/agents/agent.ts";
import { Git } from "../../src/service/git/git.ts";
import type { ServiceOptions } from "../../src/service/service.ts";
import {
  type AgentService,
  docsRepository,
  runJob,
  send,
  startAgentService,
  waitForJob,
} from "../support/agent-service.ts";
import { temporaryFolder } from "../support/step.ts";

const program = readFileSync(resolve(import.meta.dirname, "../support/hostile-agent.ts"), "utf8");

/** The home directory of the service's user, with a secret in it. */
let home: string;
/** Exists if a program of the agent was run outside its turn. */
let marker: string;
let service: AgentService | undefined;

beforeEach(() => {
  home = temporaryFolder();
  marker = join(temporaryFolder(), "ran");
  writeFileSync(join(home, "secret.md"), "secret of the operator");
  vi.stubEnv("HOME", home);
});

afterEach(async () => {
  await service?.[Symbol.asyncDispose]();
  service = undefined;
  vi.unstubAllEnvs();
});

/** The agent makes the attack that the prompt names. */
function hostileAgent(): Agent {
  return {
    ...shellAgent(""),
    command: () => ({ file: process.execPath, args: ["--input-type=module-typescript", "--eval", program] }),
    environment: { HOSTILE_MARKER: marker, OPERATOR_HOME: home },
  };
}

async function start(docs = docsRepository(), options: Partial<ServiceOptions> = {}): Promise<AgentService> {
  service = await startAgentService(docs, { agent: hostileAgent(), ...options });
  return service;
}

const logOf = ({ folder }: AgentService, jobId: string) => readFileSync(join(folder, "logs", `${jobId}.log`), "utf8");

test("the service's Git runs nothing that an agent planted in a repository or a home directory", async () => {
  const docs = docsRepository();
  const service = await start(docs);
  const first = await runJob(service, "plant Git configuration");
  expect(first.status, logOf(service, first.id)).toBe("completed");
  const second = await runJob(service, "change a file");
  expect(second.status, logOf(service, second.id)).toBe("completed");
  // With a pull request that changed meanwhile, so that the service merges.
  docs.merge(`agent/${first.id}`);
  await send(service, `docs/job/${second.id}/message`, "plant Git configuration");
  expect((await waitForJob(service, second.id)).status).toBe("completed");
  expect(await (await fetch(second.prLink ?? "")).text()).toContain("+ changed");
  expect(existsSync(marker)).toBe(false);
  expect(docs.git("diff", "--name-only", `main...agent/${second.id}`)).toContain("README.md");
});

test("the service's Git uses no repository or objects that an agent redirects it to", async () => {
  const service = await start();
  for (const prompt of ["redirect the mirror", "change a file"]) {
    const job = await runJob(service, prompt);
    expect(job.status, logOf(service, job.id)).toBe("completed");
  }
  const unwanted = ["commondir", ".git", "objects/info/alternates"];
  expect(unwanted.filter((name) => existsSync(join(service.folder, "mirror.git", name)))).toEqual([]);
});

test("the service's Git only has settings of the service and those of the operator for transfers", async () => {
  writeFileSync(join(home, ".gitconfig"), '[credential]\n\thelper = mine\n[filter "x"]\n\tclean = false\n');
  const service = await start();
  await runJob(service, "plant Git configuration");
  const run = vi.spyOn(Git.prototype, "run");
  await runJob(service, "change a file");
  expect(run).toHaveBeenCalled();
  const [git] = run.mock.contexts as Git[];
  run.mockRestore();
  const list = (await git?.run(["config", "--list", "--show-origin"])) ?? "";
  expect(list).toContain("command line:\tcredential.helper=mine");
  expect(list).not.toMatch(/filter|include|worktreeconfig/);
  for (const line of list.trim().split("\n"))
    expect(line).toMatch(/^command line:|^file:\S+\/mirror\.git\/config\tcore\./);
});

test("the service's Git runs nothing that an agent planted in a submodule", async () => {
  const docs = docsRepository();
  const module = temporaryFolder();
  const environment = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => [
      [`GIT_${role}_NAME`, "Someone"],
      [`GIT_${role}_EMAIL`, "someone@example.com"],
      [`GIT_${role}_DATE`, "2026-01-01T00:00:00Z"],
    ]),
  );
  const git = (folder: string, ...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", env: { ...process.env, ...environment } }).trim();
  git(module, "init", "--quiet");
  writeFileSync(join(module, "page.md"), "one\n");
  git(module, "add", "page.md");
  git(module, "commit", "--quiet", "--message=Begin");
  const work = temporaryFolder();
  git(work, "clone", "--quiet", docs.path, ".");
  for (const path of ["module", "untouched"])
    git(work, "update-index", "--add", "--cacheinfo", `160000,${git(module, "rev-parse", "HEAD")},${path}`);
  git(work, "commit", "--quiet", "--message=Add submodules");
  git(work, "push", "--quiet", "origin", "HEAD:main");

  const service = await start(docs);
  const job = await runJob(service, "plant a filter in a submodule");
  expect(job.status, logOf(service, job.id)).toBe("completed");
  expect(existsSync(marker)).toBe(false);
  expect(docs.git("diff", "--name-only", `main...agent/${job.id}`)).toBe("README.md");
});

test("a link in place of the worktree is not followed", async () => {
  const docs = docsRepository();
  const service = await start(docs);
  const job = await runJob(service, "replace the worktree by a link");
  expect(job.status).toBe("failed");
  expect(docs.branches()).toEqual([]);
});
