import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Defer, temporaryFolder } from "../../../test/support/step.ts";
import { isThorough } from "../../../test/support/thorough.ts";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { type SandboxKind, sandboxKinds } from "../../src/agents/sandbox/create-sandbox.ts";
import { docsRepository, readPage, runJob, send, waitForJob } from "../support/agent-service.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { spawnService } from "../support/service-process.ts";

const support = resolve(import.meta.dirname, "../support");
const isRoot = process.getuid?.() === 0;

interface HostileService {
  url: string;
  docs: DocsRepository;
  /** The home directory of the service's user, with a secret in it. */
  home: string;
  folder: string;
  logOf: (jobId: string) => string;
  /** Whether a program of the agent was run outside its turn. */
  hasRun: () => boolean;
}

/** Starts a service whose agent makes the attack that the prompt names. */
async function start(sandbox: SandboxKind, defer: Defer = onTestFinished): Promise<HostileService> {
  const docs = docsRepository(undefined, defer);
  const home = temporaryFolder(defer);
  writeFileSync(join(home, "secret.md"), "secret of the operator");
  const store = join(temporaryFolder(defer), "jobs.sqlite");
  const marker = join(temporaryFolder(defer), "ran");
  const agent = `${process.execPath} ${support}/hostile-agent.ts`;
  const options = {
    repository: docs.path,
    project: "docs",
    store,
    sandbox,
    agent,
    agents: "1",
    "agent-reads": support,
  };
  // With what Node has compiled, the agent and its supervisor start in half the time.
  const { NODE_COMPILE_CACHE = "" } = process.env;
  const variables = { HOSTILE_MARKER: marker, OPERATOR_HOME: home, NODE_COMPILE_CACHE };
  const { url } = await spawnService(
    [
      ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      ...Object.keys(variables).map((name) => `--agent-env-public=${name}`),
    ],
    { HOME: home, GITHUB_TOKEN: "token_of_the_service", ...variables },
    defer,
  );
  const folder = `${store}.files`;
  const logOf = (jobId: string) => readFileSync(join(folder, "logs", `${jobId}.log`), "utf8");
  return { url, docs, home, folder, logOf, hasRun: () => existsSync(marker) };
}

/** Runs a job that is expected to complete. */
async function attack(service: HostileService, prompt: string) {
  const job = await runJob(service, prompt);
  expect(job.status, service.logOf(job.id)).toBe("completed");
  return { id: job.id, branch: `agent/${job.id}`, prLink: job.prLink ?? "", log: service.logOf(job.id) };
}

for (const kind of sandboxKinds) {
  const obstacle = await findObstacle(kind);
  describe.skipIf(obstacle !== undefined)(`with --sandbox ${kind}${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
    const isStopped = kind === "bwrap";
    // One service for all attacks, whose traces stay: none may help another.
    let service: HostileService;
    const resources = new AsyncDisposableStack();
    beforeAll(async () => {
      service = await start(kind, (end) => resources.defer(async () => end()));
    });
    afterAll(() => resources.disposeAsync());

    // Without a sandbox these attacks succeed, which shows that they are ones.
    if (isStopped || isThorough) {
      test("an agent cannot read the secrets of the service, other jobs or the user's files, write outside its job, or push to the target branch", async () => {
        const { docs, home, folder } = service;
        const main = docs.head("main");
        await runJob(service, "told in confidence");
        const attacks = [
          "read the environment of processes",
          "read other jobs",
          "read the home directory of the user",
          "write outside",
          "push to main",
        ];
        const { log } = await attack(service, attacks.join(", "));
        if (isStopped || isRoot) expect(log.includes("found a secret")).toBe(!isStopped);
        expect(log).toContain(isStopped ? "found nothing of others" : "found a prompt of others");
        expect(log).toContain(isStopped ? "the user's files: nothing" : "the user's files: secret of the operator");
        const planted = [home, folder].flatMap((cwd) => globSync("**/planted", { cwd }));
        expect(planted.length > 0, log).toBe(!isStopped);
        expect(docs.head("main") === main).toBe(isStopped);
        if (!isStopped) return;
        expect(log).toContain("| sees no process of the service\n");
        expect(log).not.toContain("can configure the kernel");
        expect(log).toContain("| can write to: /tmp\n");
        expect(log).toContain("| capabilities: 0000000000000000\n");
      });

      test("an agent cannot plant a hook in the repository that the service pushes to", async () => {
        // Without a sandbox, the hook would run for the others, too.
        const target = isStopped ? service : await start(kind);
        await attack(target, "plant a hook in the target repository");
        expect(target.hasRun()).toBe(!isStopped);
      });
    }

    test("a process that an agent leaves behind ends with its turn, and the service's Git runs nothing that it planted in a repository or a home directory", async () => {
      const { docs, folder, home } = service;
      const first = await attack(service, "leave a process behind, plant Git configuration");
      const beats = join(folder, "jobs", first.id, "home/beats");
      const { size } = statSync(beats);
      // The next service of this user would use it.
      expect(existsSync(join(home, ".gitconfig"))).toBe(!isStopped);
      const second = await attack(service, "change a file");
      expect(statSync(beats).size).toBe(size);
      expect(docs.git("diff", "--name-only", `main...${second.branch}`)).not.toContain("intruder.md");
      // With a pull request that changed meanwhile, so that the service merges.
      docs.merge(first.branch);
      await send(service, `docs/job/${second.id}/message`, "plant Git configuration");
      expect((await waitForJob(service, second.id)).status).toBe("completed");
      expect(service.hasRun()).toBe(false);
      expect(await readPage(service, second.prLink)).toContain("+ changed");
      expect(service.hasRun()).toBe(false);
    });

    test("the service's Git runs nothing that an agent planted in a submodule", async () => {
      addSubmodules(service.docs, ["module", "untouched"]);
      const { branch } = await attack(service, "plant a filter in a submodule");
      expect(service.hasRun()).toBe(false);
      expect(service.docs.git("diff", "--name-only", `main...${branch}`)).toBe("README.md");
    });

    test("the service's Git uses no repository or objects that an agent redirects it to", async () => {
      for (const prompt of ["redirect the mirror", "change a file"]) await attack(service, prompt);
      const mirror = join(service.folder, "mirror.git");
      for (const name of ["commondir", ".git", "objects/info/alternates"])
        expect(existsSync(join(mirror, name))).toBe(false);
    });

    test("a link in place of the worktree is not followed", async () => {
      const { id, status } = await runJob(service, "replace the worktree by a link");
      expect(status).toBe("failed");
      expect(service.docs.branches()).not.toContain(`agent/${id}`);
    });
  });
}

/** Adds submodules to the default branch, at the commit that the hostile agent makes in one of them. */
function addSubmodules(docs: DocsRepository, paths: readonly string[]): void {
  const environment = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => [
      [`GIT_${role}_NAME`, "Someone"],
      [`GIT_${role}_EMAIL`, "someone@example.com"],
      [`GIT_${role}_DATE`, "2026-01-01T00:00:00Z"],
    ]),
  );
  const git = (folder: string, ...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", env: { ...process.env, ...environment } }).trim();
  const module = temporaryFolder();
  git(module, "init", "--quiet");
  writeFileSync(join(module, "page.md"), "one\n");
  git(module, "add", "page.md");
  git(module, "commit", "--quiet", "--message=Begin");
  const commit = git(module, "rev-parse", "HEAD");
  const work = temporaryFolder();
  git(work, "clone", "--quiet", docs.path, ".");
  for (const path of paths) git(work, "update-index", "--add", "--cacheinfo", `160000,${commit},${path}`);
  git(work, "commit", "--quiet", "--message=Add submodules");
  git(work, "push", "--quiet", "origin", "HEAD:main");
}
