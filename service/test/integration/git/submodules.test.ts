import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  docsRepository,
  runJob,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

let docs: DocsRepository;
let module: string;
let service: AgentService | undefined;

const person = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, ...person, ...args], { encoding: "utf8" }).trim();

/** Creates a repository with a submodule `module`, which has the file `page.md`. */
beforeEach(() => {
  service = undefined;
  docs = docsRepository();
  module = temporaryFolder();
  git(module, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(module, "page.md"), "one\n");
  git(module, "add", "page.md");
  git(module, "commit", "--quiet", "--message=Begin");
  const work = join(temporaryFolder(), "work");
  mkdirSync(work);
  git(work, "clone", "--quiet", docs.path, ".");
  git(work, "submodule", "--quiet", "add", module, "module");
  git(work, "commit", "--quiet", "--message=Add a submodule");
  git(work, "push", "--quiet", "origin", "HEAD:main");
});

afterEach(() => service?.[Symbol.asyncDispose]());

const populate = "git -c protocol.file.allow=always submodule --quiet update --init";
const commit = "git -c user.name=a -c user.email=a@b commit --quiet --all --message=Two";

/** Runs a job with an agent that is a shell script. Returns its log, and what its branch changes. */
async function run(script: string) {
  service = await startAgentService(docs, { agent: shellAgent(script), host });
  const job = await runJob(service, "Go on");
  const log = readFileSync(join(service.folder, "logs", `${job.id}.log`), "utf8");
  const changes = job.prLink ? docs.git("diff", "--name-status", `main...agent/${job.id}`).split("\n") : [];
  return { service, job, log, changes };
}

const leftOut = "Left out: module, because only what the submodule's own repository has can be used here";

test("a commit that an agent makes in a submodule is left out, and follow-ups work", async () => {
  const { service, job, log, changes } = await run(
    `echo more >> README.md; ${populate}; cd module; echo two >> page.md; ${commit}`,
  );
  expect(job.status, log).toBe("completed");
  expect(changes).toEqual(["M\tREADME.md"]);
  expect(log).toContain(leftOut);
  await send(service, `docs/job/${job.id}/message`, "More");
  expect((await waitForJob(service, job.id)).status).toBe("completed");
  expect(docs.git("diff", "--name-only", `main...agent/${job.id}`)).toBe("README.md");
  // Whoever clones the branch gets the submodule.
  const clone = temporaryFolder();
  git(clone, "clone", "--quiet", "--recurse-submodules", "--branch", `agent/${job.id}`, docs.path, ".");
  expect(readFileSync(join(clone, "module/page.md"), "utf8")).toBe("one\n");
});

test("a commit of a submodule that the agent also commits in the repository is left out", async () => {
  const { log, changes, job } = await run(`${populate}; cd module; echo two >> page.md; ${commit}; cd ..; ${commit}`);
  expect(changes).toEqual([]);
  expect(job.status).toBe("completed");
  expect(log).toContain(leftOut);
});

test("edits in a submodule are left out, and the log says so", async () => {
  const { changes, log } = await run(`${populate}; echo two >> module/page.md; echo new > module/new.md`);
  expect(changes).toEqual([]);
  expect(log).toContain(leftOut);
});

test("a submodule without files of the agent is no news", async () => {
  const { changes, log } = await run("echo more >> README.md");
  expect(changes).toEqual(["M\tREADME.md"]);
  expect(log).not.toContain("submodule");
});

test("a submodule can be removed", async () => {
  const { changes, log } = await run("rm -r module .gitmodules");
  expect(changes).toEqual(["D\t.gitmodules", "D\tmodule"]);
  expect(log).not.toContain("left out");
});

test.each([
  ["moves", ""],
  ["has populated and moves", `${populate};`],
])("a submodule that the agent %s stays where it is, with its settings", async (_, before) => {
  const { changes, log } = await run(`${before} mkdir lib; git mv module lib/module; echo y > new.md`);
  expect(changes, log).toEqual(["A\tnew.md"]);
  expect(log).toContain("Left out: .gitmodules, because submodules stay where they are");
});

test("files in place of a submodule are left out, and its pointer stays", async () => {
  const { changes, log } = await run("rm -r module; mkdir -p module/sub; echo x > module/sub/page.md; echo y > new.md");
  expect(changes).toEqual(["A\tnew.md"]);
  expect(log).toContain(leftOut);
});
