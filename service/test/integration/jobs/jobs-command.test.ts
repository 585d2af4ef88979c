import { execFile } from "node:child_process";
import { existsSync, lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { docsRepository, send, waitForJob } from "../../support/agent-service.ts";
import { mainFile, spawnService } from "../../support/service-process.ts";

const run = promisify(execFile);

test("jobs are listed, shown, stopped and run again while a service runs on the store, and when none does", async () => {
  const folder = temporaryFolder();
  const store = join(folder, "jobs.sqlite");
  const gate = join(folder, "gate");
  const agent = `echo working; while [ ! -e ${gate} ]; do sleep 0.05; done; cat >> notes.md`;
  const options = ["--repository", docsRepository().path, "--project", "docs", "--store", store];
  const start = () => spawnService([...options, "--agent", agent, "--sandbox", "none"]);
  const jobs = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, [mainFile, "jobs", ...args, "--store", store]);
    return stdout.trim();
  };
  const service = await start();
  const { job } = await send(service, "docs/job", "Please");
  const shown = await waitUntil(async () => {
    const found = JSON.parse(await jobs("show", job.id, "--format", "json"));
    return found.log.includes("working") && found;
  });
  expect(shown).toMatchObject({ id: job.id, status: "active", turns: [{ id: 1, state: "running" }] });
  expect(lstatSync(`${store}.socket`).mode & 0o777).toBe(0o600);
  expect(await jobs("stop", job.id)).toBe(`${job.id}: turn 1 was told to stop`);
  expect(await waitForJob(service, job.id)).toMatchObject({ status: "failed" });
  await expect(jobs("stop", job.id)).rejects.toThrow("has no such turn that waits or runs");
  writeFileSync(gate, "");
  expect(await jobs("retry", job.id)).toBe(`${job.id}: the prompt of turn 1 is run again`);
  expect(await waitForJob(service, job.id)).toMatchObject({ status: "completed" });
  service.child.kill("SIGKILL");
  await waitUntil(() => service.child.signalCode !== null);
  // The socket is left, and nobody listens.
  expect(existsSync(`${store}.socket`)).toBe(true);
  await expect(jobs("retry", job.id)).rejects.toThrow("has not failed");
  const list = await jobs("list");
  expect(list.split("\n").slice(1)).toEqual([
    expect.stringMatching(new RegExp(`^${job.id}  docs +completed +1 +failed +0m +- +http`)),
    expect.stringMatching(/ completed +2 +completed /),
  ]);
  const next = await start();
  expect(await jobs("list", "completed")).toContain(job.id);
  await expect(jobs("retry", job.id)).rejects.toThrow("has not failed");
  next.child.kill();
  await waitUntil(() => next.child.exitCode !== null);
  expect(existsSync(`${store}.socket`)).toBe(false);
});
