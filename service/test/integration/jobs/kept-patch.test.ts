import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { isInPath } from "../../../../src/runner-kit/agent-service.ts";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { docsRepository, readPage, runJob, send, startAgentService, waitForJob } from "../../support/agent-service.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";
import { mainFile } from "../../support/service-process.ts";
import { skipFor } from "../../support/skip-for.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const run = promisify(execFile);
const server = postgresOfFile();

const edit = "printf 'One\\r\\nTwo \\t' > crlf.md; head -c 3000 /dev/zero | tr '\\0' '\\377' > image.bin; rm old.md";

/** Starts a service whose agents make a change that is kept, and gives the address of its store. */
async function setUp(place: "a file" | "Postgres", script: string) {
  const docs = docsRepository({ "README.md": "# Docs\n", "old.md": "Old\n" });
  const file = join(temporaryFolder(), "jobs.sqlite");
  const store = place === "a file" ? file : await server().createStoreDatabase();
  const agent = shellAgent(`cat > /dev/null; ${script}`);
  const service = await startAgentService(docs, {
    ...{ agent, host, projects: ["docs", "other"] },
    ...(place === "a file"
      ? { store, folder: `${file}.files` }
      : { openStore: () => openPostgresStore({ url: store, log: () => {}, times: patient }) }),
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const command = async (...args: string[]) =>
    (await run(process.execPath, [mainFile, "jobs", ...args, "--store", store], { encoding: "buffer" })).stdout;
  const clone = join(temporaryFolder(), "clone");
  execFileSync("git", ["clone", "--quiet", docs.path, clone]);
  return { docs, service, command, clone };
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), "latin1");

const obstacle = skipFor(isInPath("curl", process.env.PATH ?? "") ? undefined : "curl is missing");

test.skipIf(obstacle !== undefined).each([
  ["a file", "unfinished"],
  ["a file", "push"],
  ["Postgres", "unfinished"],
  ["Postgres", "push"],
] as const)("with %s as its store, the page's command brings what is kept into a clone: %s", async (place, kept) => {
  const { docs, service, command, clone } = await setUp(place, kept === "push" ? edit : `${edit}; exit 3`);
  if (kept === "push") {
    // The branch may be created, which is tried before the agent runs.
    const rule =
      'while read -r old new _; do git diff --quiet main "$new" || { echo "GH013: declined" >&2; exit 1; }; done';
    writeFileSync(join(docs.path, "hooks/pre-receive"), `#!/bin/sh\n${rule}\n`, { mode: 0o755 });
  }
  const job = await runJob(service, "@@ -1,3 +1,4 @@ <b>It</b>");
  expect(job, service.lines.join("\n")).toMatchObject({ status: "failed", kept });
  const page = await readPage(service, `/job/${job.id}`);
  const [, shown = ""] = /<pre tabindex="0">(echo [^<]*)<\/pre>/.exec(page) ?? [];
  const pasted = shown.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  await run("sh", ["-c", pasted], { cwd: clone, env: { ...process.env, AGENT_SERVICE_KEY: serviceKey } });
  expect([read(clone, "crlf.md"), read(clone, "image.bin")]).toEqual(["One\r\nTwo \t", "\xff".repeat(3000)]);
  expect(existsSync(join(clone, "old.md"))).toBe(false);
  const patch = await fetch(`${service.url}/job/${job.id}/patch`, {
    headers: { authorization: `Bearer ${serviceKey}` },
  });
  expect(patch.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  // Also where there is no clone.
  expect(await command("patch", job.id)).toEqual(Buffer.from(await patch.arrayBuffer()));
  expect(String(await command("show", job.id))).toContain(`jobs patch ${job.id} prints it, for git apply -3`);
});

test("what is published, and what is of an earlier turn only, is not taken for what is kept", async () => {
  const flag = join(temporaryFolder(), "flag");
  const { service, command } = await setUp("Postgres", `${edit}; test -e ${flag}`);
  const { id } = await runJob(service, "Write it");
  expect(String(await command("patch", id))).toContain("\ndiff --git ");
  writeFileSync(flag, "");
  await send(service, `docs/job/${id}/message`, "Go on");
  expect(await waitForJob(service, id)).toMatchObject({ status: "completed" });
  await expect(command("patch", id).then(String)).rejects.toThrow(`nothing is kept of ${id}`);
  const answer = await fetch(`${service.url}/job/${id}/patch`, { headers: { authorization: `Bearer ${serviceKey}` } });
  expect([answer.status, await answer.text()]).toEqual([404, "Nothing is kept of this job that this machine has\n"]);
  expect((await fetch(`${service.url}/job/${id}/patch`, { redirect: "manual" })).status).toBe(303);
});
