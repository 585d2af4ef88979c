import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { SmallDisk } from "../chaos/small-disk.ts";
import { startGitHubWithGit } from "../support/github-with-git.ts";
import { PostgresProcess, postgresPassword } from "../support/postgres-process.ts";
import { findWrong } from "./accounts.ts";
import { Jobs, project } from "./jobs.ts";
import { Page, sh, state, unit, untested, url } from "./machine.ts";
import { claude, Model } from "./model.ts";

/**
 * An hour of an operator, in a few minutes: runs the commands of the docs on a machine with a real systemd, and looks at every job at the
 * end. Substituted is what needs the internet: `apt-get`; the repository of the action, whose packages come from npm's cache; GitHub and
 * the model, which are on loopback; Claude Code, by a script; and Caddy, by an empty unit.
 */
const operating = new Page("operating.md", ["On a server", "Updates"]);
const files = new Page("operating.md", [], "");
const runbook = new Page("runbook.md", []);
const scale = new Page("scale.md", ["With systemd"], "");

const jobs = new Jobs();
await using model = await Model.start();
using docs = new DocsRepository();
await using github = await startGitHubWithGit(docs);
await using postgres = await PostgresProcess.start();
const password = "secret_of_agents";
const database = `postgres://agents@127.0.0.1:${postgres.port}/agents`;

/** What the store is. */
let store = `${state}/jobs.sqlite`;

/** Runs commands after the first block of the runbook. */
function withRunbook(commands: string, input?: string): Promise<string> {
  const own = { [`STORE=${state}/jobs.sqlite`]: `STORE=${store}`, "KEY=…": `KEY=${jobs.key}` };
  const first = runbook.block("When something is wrong", 0, own);
  return sh(`export PGPASSWORD=${password}\n${first}${commands}`, { input });
}

function runbookBlock(section: string, index = 0, replaced: Readonly<Record<string, string>> = {}, input?: string) {
  return withRunbook(runbook.block(section, index, replaced), input);
}

const log = () => sh(`journalctl --unit ${unit} --output cat`);
const health = async (): Promise<{ checks: Record<string, string>; problems: Record<string, unknown> }> =>
  JSON.parse(await sh(`curl --silent ${url}/healthz`));
const isServing = () =>
  fetch(`${url}/healthz/live`).then(
    ({ ok }) => ok,
    () => false,
  );
const statusWith = async (key: string): Promise<number> => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/v2/agent/${project}/job/${jobs.all[0]?.id}`, { headers })).status;
};
const waitForAgent = (...prompts: string[]) => waitUntil(() => prompts.every((prompt) => model.waiting.has(prompt)));

/** Processes of the service's user: the service, and agents. */
const processes = () => sh("pgrep --uid agent-job-service --list-full || true", { cwd: "/" });
async function assertNothingRuns(): Promise<void> {
  assert.equal(await processes(), "");
}

async function install(): Promise<void> {
  const address = `${github.url}/${github.owner}/${github.repo}`;
  const printed = await sh(operating.block("On a server"), { cwd: "/" });
  jobs.key = /^mint_\S+$/m.exec(printed)?.[0] ?? "";
  const options = files.block("On a server", 0, {
    "https://github.com/OWNER/NAME": address,
    "OWNER/NAME": `${github.owner}/${github.repo}`,
  });
  const substituted = `GITHUB_SERVER_URL=${github.url}\nGITHUB_API_URL=${github.url}\nANTHROPIC_BASE_URL=${model.url}\n`;
  const inputs = [github.token, model.key, options.replace(/^OPTIONS=.*/, "$& --agents 2") + substituted];
  const commands = operating.block("On a server", 1).trim().split("\n");
  assert.equal(commands.length, inputs.length);
  for (const [index, command] of commands.entries()) await sh(command, { input: `${inputs[index]?.trimEnd()}\n` });
  await sh(operating.block("On a server", 2), { until: /\n/ });
  await waitUntil(isServing);
  assert.deepEqual((await health()).checks, { store: "ok", disk: "ok", worker: "ok" });
  const modes = "stat --format '%a %U:%G' /etc/agent-job-service/* /etc/agent-job-service.env";
  assert.equal(await sh(modes), "640 root:agent-job-service\n640 root:agent-job-service\n600 root:root\n");
}

async function runJob(): Promise<void> {
  const job = await jobs.create("First");
  await jobs.settle(job);
  await jobs.message(job, "First again");
  await jobs.settle(job);
}

/** Two jobs run and three wait, and one is created while the service is away. */
async function update(): Promise<void> {
  const prompts = Array.from({ length: 5 }, (_, index) => `Update ${index}`);
  model.hold("Update 0", "Update 1");
  const created = [];
  for (const prompt of prompts) created.push(await jobs.create(prompt));
  await waitForAgent("Update 0", "Update 1");
  const commit = commitUpstream();
  const updating = withRunbook(operating.block("Updates"));
  await waitUntil(async () => (await log()).includes("Waiting up to 10 minutes for the running agents"));
  const late = jobs.create("Update 5");
  await setTimeout(1000);
  model.release("Update 0", "Update 1");
  await updating;
  const afterBackup = await late;
  await jobs.settle(...created, afterBackup);
  assert.equal((await sh("git rev-parse HEAD")).trim(), commit);
  afterBackup.fate = "lost";
}

async function restore(): Promise<void> {
  const job = await jobs.create("After the backup");
  await jobs.settle(job);
  job.fate = "lost";
  await runbookBlock("The wrong store was restored");
  await waitUntil(isServing);
  await jobs.settle(...jobs.all.filter(({ fate }) => fate !== "lost"));
  await waitUntil(async () => (await log()).includes("Jobs that are not in the store: 2."));
}

async function rotateKeys(): Promise<void> {
  const old = jobs.key;
  const printed = await runbookBlock("A key leaked", 0, { NEW_NAME: "other", NAME: "me" });
  jobs.key = /^mint_\S+$/m.exec(printed)?.[0] ?? "";
  await waitUntil(async () => (await statusWith(old)) === 401 && (await statusWith(jobs.key)) === 200);
  // The model's key: it is revoked before anyone has replaced it.
  model.key = "model_key_after_rotation";
  const job = await jobs.create("Rotated");
  job.fate = "failed";
  await jobs.settle(job);
  assert.match(await runbookBlock("Everything fails"), new RegExp(`${job.id}: turn \\d+ failed: .*invalid x-api-key`));
  assert.deepEqual(Object.keys((await health()).problems), ["model"]);
  await runbookBlock("A key leaked", 1, { GITHUB_TOKEN: "ANTHROPIC_API_KEY" }, `${model.key}\n`);
  await waitUntil(async () => /ANTHROPIC_API_KEY .*was replaced/.test(await log()));
  await runbookBlock("Everything fails", 1);
  job.fate = "completed";
  await waitUntil(async () => (await jobs.client.get(project, job.id))?.status !== "failed");
  await jobs.settle(job);
  assert.deepEqual((await health()).problems, {});
}

async function fillDisk(): Promise<void> {
  model.hold("Disk 0");
  const running = await jobs.create("Disk 0");
  await waitForAgent("Disk 0");
  disk.fill();
  assert.equal(statfsSync(state).bavail, 0);
  const answer =
    await sh(`curl --silent --include --header 'Authorization: Bearer ${jobs.key}' --header 'Content-Type: application/json' \
    --data '{"prompt":"Disk full"}' ${url}/v2/agent/${project}/job`);
  assert.match(answer, /^HTTP\/1.1 503 [\s\S]*^retry-after: \d+/im);
  const late = jobs.create("Disk 1");
  assert.match(await runbookBlock("The disk fills"), /100%[\s\S]*^agent_service_clone_bytes/m);
  await waitUntil(async () => /free/.test((await health()).checks.disk ?? ""));
  model.release("Disk 0");
  await setTimeout(3000);
  disk.free();
  running.mayRun = 2;
  await jobs.settle(running, await late);
  await waitUntil(async () => (await health()).checks.disk === "ok");
}

async function restartDatabase(): Promise<void> {
  await createDatabase();
  const own = { "postgres://agents@db.example.com/agents": database };
  await runbookBlock("Leave SQLite", 0, own);
  const lines = scale.block("With systemd", 0, { ...own, "…": password });
  await sh("cat >> /etc/agent-job-service.env", { input: lines });
  await sh(`systemctl start ${unit}`);
  store = database;
  await waitUntil(isServing);
  await jobs.settle(...jobs.all.filter(({ fate }) => fate !== "lost"));
  const prompts = ["Database 0", "Database 1", "Database 2"];
  model.hold("Database 0", "Database 1");
  const created = [];
  for (const prompt of prompts) created.push(await jobs.create(prompt));
  await waitForAgent("Database 0", "Database 1");
  await postgres.stop();
  const late = jobs.create("Database 3");
  model.release("Database 0");
  await waitUntil(async () => (await health()).checks.store !== "ok");
  await postgres.start();
  model.release("Database 1");
  await jobs.settle(...created, await late);
}

async function createDatabase(): Promise<void> {
  const { Client } = await import("pg");
  const client = new Client({
    host: "127.0.0.1",
    port: postgres.port,
    user: "postgres",
    password: postgresPassword,
    database: "postgres",
  });
  await client.connect();
  await client.query(`CREATE ROLE agents LOGIN PASSWORD '${password}'`);
  await client.query("CREATE DATABASE agents OWNER agents");
  await client.end();
}

async function stopInTurn(): Promise<void> {
  // It lets the agent finish.
  model.hold("Stop 0");
  const first = await jobs.create("Stop 0");
  await waitForAgent("Stop 0");
  const stopped = sh(`systemctl stop ${unit}`);
  await setTimeout(500);
  model.release("Stop 0");
  await stopped;
  await assertNothingRuns();
  // As the unit says: a key in a file that only root can read.
  await sh("install -m 600 /dev/stdin /etc/agent-job-service/AGENT_SERVICE_KEY", { input: "mint_credential\n" });
  await sh(`sed -i 's/^#LoadCredential/LoadCredential/' /etc/systemd/system/${unit}.service; systemctl daemon-reload`);
  await sh(`systemctl start ${unit}`);
  await jobs.settle(first);
  assert.equal(await statusWith("mint_credential"), 200);
  // A second signal stops the agent.
  model.hold("Stop 1");
  const second = await jobs.create("Stop 1");
  second.mayRun = 2;
  await waitForAgent("Stop 1");
  const stoppedAtOnce = sh(`systemctl stop ${unit}`);
  await setTimeout(500);
  await sh(`systemctl kill --kill-who=main ${unit}`);
  await stoppedAtOnce;
  await assertNothingRuns();
  model.release("Stop 1");
  await sh(`systemctl start ${unit}`);
  await jobs.settle(second);
  // It is killed, and systemd starts it again.
  model.hold("Stop 2");
  const third = await jobs.create("Stop 2");
  third.mayRun = 2;
  await waitForAgent("Stop 2");
  await sh(`systemctl kill --kill-who=main --signal=KILL ${unit}`);
  await waitUntil(() => !model.waiting.has("Stop 2"));
  model.release("Stop 2");
  await jobs.settle(third);
  // Only this turn.
  model.hold("Stop 3");
  const fourth = await jobs.create("Stop 3");
  fourth.fate = "failed";
  await waitForAgent("Stop 3");
  assert.match(await runbookBlock("One job never ends", 0, { JOB_ID: fourth.id }), /told to stop/);
  await jobs.settle(fourth);
}

async function account(): Promise<void> {
  const wrong = await findWrong({ jobs, model, docs, github });
  await sh(`systemctl stop ${unit}`);
  const left = await processes();
  if (left !== "") wrong.push(`running after the service: ${left}`);
  wrong.push(...untested().map((block) => `not run: ${block}`));
  assert.deepEqual(wrong, []);
}

/** Commits a new version of the action. Returns the commit. */
function commitUpstream(): string {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", upstream, "-c", "user.name=a", "-c", "user.email=a@example.invalid", ...args], {
      encoding: "utf8",
    });
  writeFileSync(join(upstream, "CHANGELOG.md"), "A new version\n");
  git("add", "CHANGELOG.md");
  git("commit", "--quiet", "--message", "Release");
  return git("rev-parse", "HEAD").trim();
}

const upstream = "/run/operator/action";

/** Puts in place what the docs take from the internet. */
async function prepare(): Promise<void> {
  const repository = resolve(import.meta.dirname, "../../..");
  const program = (path: string, script: string) => {
    writeFileSync(path, script);
    chmodSync(path, 0o755);
  };
  mkdirSync("/run/operator/bin", { recursive: true });
  program("/run/operator/bin/apt-get", '#!/bin/bash\n[ "$*" = "install bubblewrap caddy git" ]\n');
  const npm = execFileSync("bash", ["-c", "type -P npm"], { encoding: "utf8" }).trim();
  program(
    "/run/operator/bin/npm",
    `#!/bin/bash\n[ "$*" != ci ] || set -- ci --offline --no-audit --cache "${process.env.NPM_CACHE}"\nexec ${npm} "$@"\n`,
  );
  program("/usr/local/sbin/claude", claude);
  const caddy =
    "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\nExecReload=/bin/true\n";
  writeFileSync("/run/systemd/system/caddy.service", caddy);
  // What is checked out here, with what is not committed.
  const copy = `git --git-dir ${upstream}/.git --work-tree ${repository} add --all`;
  const commit = "git -c user.name=a -c user.email=a@example.invalid commit --quiet --message All";
  await sh(
    `git init --quiet --initial-branch main ${upstream}; ${copy}; cd ${upstream}; ${commit}; git reset --quiet --hard`,
    { cwd: "/" },
  );
  await sh(`git config --system url.${upstream}.insteadOf https://github.com/OWNER/agent-job-action`, { cwd: "/" });
  await sh("systemctl daemon-reload; systemctl start systemd-journald caddy", { cwd: "/" });
}

const disk = SmallDisk.at("/var/lib");
const phases = { install, runJob, update, restore, rotateKeys, fillDisk, restartDatabase, stopInTurn, account };
await prepare();
let [passed, failed] = [0, 0];
for (const [name, run] of Object.entries(phases)) {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  try {
    await run();
    passed++;
    console.log(`${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: ${seconds()}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${seconds()}\n${(error as Error).message}`);
    if (name === "install") break;
  }
}
if (failed > 0) console.log(await log().catch(() => ""));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
