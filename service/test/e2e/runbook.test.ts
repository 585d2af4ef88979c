import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, test as anyTest, beforeAll, expect } from "vitest";
import { isInPath } from "../../../src/runner-kit/agent-service.ts";
import { root } from "../../../test/support/metadata.ts";
import { quoted } from "../../../test/support/quoted.ts";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { runKeyCommand } from "../../src/access/run-key-command.ts";
import { send, waitForJob } from "../support/agent-service.ts";
import { freePort } from "../support/free-port.ts";
import { pageBlocks } from "../support/page-blocks.ts";
import { postgresOfFile } from "../support/postgres.ts";
import { mainFile } from "../support/service-process.ts";
import { skipFor } from "../support/skip-for.ts";

// The page asks the service with curl, which not every machine has.
const obstacle = skipFor(isInPath("curl", process.env.PATH ?? "") ? undefined : "curl is missing");
const test = anyTest.skipIf(obstacle !== undefined);

const page = readFileSync(resolve(root, "service/docs/runbook.md"), "utf8");
const server = postgresOfFile();

/** The commands of each section of the page, those before the first section under the title. */
const sections = pageBlocks(page, "sh");

const folder = mkdtempSync(join(tmpdir(), "runbook-"));
const docs = new DocsRepository();
const at = (path: string): string => join(folder, path);
const state = at("state");
let url = "";
/** A key of the service. */
let leaked = "";
const untested = new Set([...sections].flatMap(([title, blocks]) => blocks.map((_, index) => `${title} ${index}`)));

/** Programs of a server, as far as the page uses them: the user, the unit, its log, and npm in the folder of the service. */
function programs(port: number): Record<string, string> {
  const agent = `p=$(cat); case $p in Fail*) [ -e ${at("fixed")} ] || exit 1;; Wait*) sleep 60;; esac; echo "$p" > page.md`;
  const options = `--repository ${docs.path} --project docs --sandbox none --port ${port} --store ${state}/jobs.sqlite --keys ${state}/keys.json`;
  return {
    runuser: '[ "$1 $2 $3" = "-u agent-job-service --" ] && shift 3 && exec "$@"',
    journalctl: `[ "$*" = "--unit agent-job-service --since -1h --output cat" ] && exec cat ${at("log")}`,
    npm: `[ "$*" = ci ] && exit; [ "$1 $2 $3 $4" = "run --silent service --" ] && shift 4 && exec ${quoted(process.execPath, mainFile)} "$@"`,
    chown: '[ "$1 $2" = "--recursive agent-job-service:" ] && [ -d "$3" ]',
    // The user is not on this machine.
    install: `[[ "$3 $4" =~ ^-[go]" agent-job-service"$ ]] && exec /usr/bin/install "$1" "$2" "$5" "$6"`,
    systemctl: `
      case $* in
        "stop agent-job-service" | "disable --now agent-job-service") wanted=stop ;;
        "start agent-job-service" | "enable --now agent-job-service") wanted=start ;;
        "restart agent-job-service") wanted="stop start" ;;
        *) exit 1 ;;
      esac
      for one in $wanted; do
        if [ $one = stop ]; then
          kill "$(cat ${at("pid")})"; while kill -0 "$(cat ${at("pid")})" 2> /dev/null; do sleep 0.05; done
        else
          AGENT_SERVICE_KEY=${serviceKey} setsid ${quoted(process.execPath, mainFile)} ${options} --agent '${agent}' >> ${at("log")} 2>&1 < /dev/null &
          echo $! > ${at("pid")}
          until curl --silent --fail ${url}/healthz > /dev/null; do sleep 0.05; kill -0 $! || exit 1; done
        fi
      done`,
  };
}

/** Runs the commands of a block of the page on this machine. Returns what they print. */
async function run(
  title: string,
  index = 0,
  replaced: Readonly<Record<string, string>> = {},
  input = "",
): Promise<string> {
  const block = sections.get(title)?.[index];
  if (block === undefined) throw new Error(`the page has no block ${index} in "${title}"`);
  untested.delete(`${title} ${index}`);
  const here = {
    "/var/lib/agent-job-service": state,
    "/etc/agent-job-service": at("etc"),
    "/root/": `${folder}/`,
    "http://127.0.0.1:4100": url,
    "KEY=…": `KEY=${serviceKey}`,
    ...replaced,
  };
  writeFileSync(at("input"), input);
  let script = `set -euo pipefail\nexec < ${at("input")}\n${sections.get(introduction)?.[0]}${block}`;
  for (const [from, to] of Object.entries(here)) script = script.replaceAll(from, to);
  const { stdout } = await promisify(execFile)("bash", ["-c", script], {
    cwd: at("opt"),
    env: { ...process.env, PATH: `${at("bin")}:${process.env.PATH}` },
  });
  return stdout;
}

const introduction = "When something is wrong";
const create = async (prompt: string): Promise<string> => (await send({ url }, "docs/job", prompt)).job.id;
const ended = (id: string) => waitForJob({ url }, id);
const statusOf = async (id: string): Promise<number> => (await send({ url }, `docs/job/${id}`)).status;

beforeAll(async () => {
  if (obstacle !== undefined) return;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  for (const name of ["bin", "etc", "opt", "state"]) mkdirSync(at(name));
  for (const [name, script] of Object.entries(programs(port))) {
    writeFileSync(at(`bin/${name}`), `#!/bin/bash\n${script}\n`);
    chmodSync(at(`bin/${name}`), 0o755);
  }
  const git = "git -c user.name=a -c user.email=a@example.invalid";
  const versions = `${git} init -q && ${git} commit -q --allow-empty -m 1 && ${git} commit -q --allow-empty -m 2`;
  await promisify(execFile)("sh", ["-c", versions], { cwd: at("opt") });
  writeFileSync(at("log"), "");
  const key = await runKeyCommand(
    { command: "add", file: `${state}/keys.json`, name: "leaked", projects: "all", expiresDays: undefined },
    1,
  );
  leaked = key.text.trim();
  await promisify(execFile)(at("bin/systemctl"), ["start", "agent-job-service"]);
});

const remove = (): void => {
  rmSync(folder, { recursive: true, force: true });
  docs[Symbol.dispose]();
};

// Without tests to run, nothing is called after them.
if (obstacle !== undefined) remove();

afterAll(() => {
  const ofService = existsSync(at("pid")) ? Number(readFileSync(at("pid"), "utf8")) : undefined;
  try {
    if (ofService !== undefined) process.kill(ofService, "SIGKILL");
  } catch {
    // The last section has stopped it.
  }
  remove();
});

/** The first job. */
let first = "";

test("Jobs wait", async () => {
  expect(await run("Jobs wait")).toMatch(/"status":"ok"[\s\S]*^agent_service_worker_places \d/m);
  await run("Jobs wait", 1);
  first = await create("First");
  expect(await ended(first)).toMatchObject({ status: "completed" });
});

test("Everything fails", async () => {
  const ids = [await create("Fail 1"), await create("Fail 2")];
  for (const id of ids) expect(await ended(id)).toMatchObject({ status: "failed" });
  const failed = await run("Everything fails");
  for (const id of ids) expect(failed).toContain(`${id}: turn `);
  writeFileSync(at("fixed"), "");
  await run("Everything fails", 1);
  for (const id of ids) expect(await ended(id)).toMatchObject({ status: "completed" });
});

test("One job never ends", async () => {
  const id = await create("Wait");
  const started = new RegExp(`${id}: turn (\\d+) started`);
  await waitUntil(() => started.test(readFileSync(at("log"), "utf8")));
  expect(await run("One job never ends", 0, { JOB_ID: id })).toMatch(/was told to stop/);
  expect(await ended(id)).toMatchObject({ status: "failed" });
});

test("The disk fills", async () => {
  expect(await run("The disk fills")).toMatch(/^agent_service_clone_bytes\{repository=".*"\} [1-9]/m);
  const jobs = join(state, "jobs.sqlite.files/jobs");
  const [old = "", ...others] = readdirSync(jobs);
  utimesSync(join(jobs, old), 1, 1);
  await run("The disk fills", 1);
  expect(readdirSync(jobs).sort()).toEqual(others.sort());
  expect(await statusOf(old)).toBe(200);
});

test("A key leaked", async () => {
  const answer = async () =>
    (await fetch(`${url}/v2/agent/docs/job/x`, { headers: { authorization: `Bearer ${leaked}` } })).status;
  expect(await answer()).toBe(404);
  const printed = await run("A key leaked", 0, { NEW_NAME: "new", NAME: "leaked" });
  expect(printed).toMatch(/leaked[\s\S]*mint_/);
  await waitUntil(async () => (await answer()) === 401);
  const token = at("etc/GITHUB_TOKEN");
  await run("A key leaked", 1, {}, "token_new\n");
  expect([readFileSync(token, "utf8"), (statSync(token).mode & 0o777).toString(8)]).toEqual(["token_new\n", "640"]);
});

test("GitHub is away", async () => {
  await run("GitHub is away");
});

test("Back to the version before", async () => {
  const previous = execFileSync("git", ["-C", at("opt"), "rev-parse", "HEAD~"], { encoding: "utf8" }).trim();
  expect(await run("Back to the version before", 0, { COMMIT: previous })).toContain(previous.slice(0, 7));
  expect(execFileSync("git", ["-C", at("opt"), "rev-parse", "HEAD"], { encoding: "utf8" }).trim()).toBe(previous);
});

test("The wrong store was restored", async () => {
  // As "Backups" in operating.md says.
  const [copied, store] = [join(state, "jobs-backup.sqlite"), join(state, "jobs.sqlite")];
  await promisify(execFile)(process.execPath, [mainFile, "backup", copied, "--store", store]);
  const later = await create("Later");
  await ended(later);
  await run("The wrong store was restored");
  expect(await statusOf(later)).toBe(404);
  expect(await statusOf(first)).toBe(200);
});

test("Move to another machine", async () => {
  await run("Move to another machine");
  renameSync(state, at("old"));
  mkdirSync(state);
  await run("Move to another machine", 1);
  expect(await ended(await create("Moved"))).toMatchObject({ status: "completed" });
});

test("Leave SQLite", async () => {
  const database = await server().createDatabase();
  expect(await run("Leave SQLite", 0, { "postgres://agents@db.example.com/agents": database })).toMatch(
    /^Copied \d+ jobs/,
  );
});

test("every command of the page was run", () => {
  expect([...untested]).toEqual([`${introduction} 0`]);
});
