import { execFileSync, spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/step.ts";
import { docsRepository, runJob, send } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";

/** It changes the limits of a running process, on Linux. */
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

test.runIf(hasPrlimit)("outlives a store that cannot grow, and goes on when it can", async () => {
  const folder = temporaryFolder();
  const [store, wait] = [join(folder, "jobs.sqlite"), join(folder, "wait")];
  const agent = ["--agent", `cat > docs/page.md; if [ -e '${wait}' ]; then sleep 600; fi`, "--sandbox", "none"];
  const args = ["--repository", docsRepository().path, "--project", "docs", "--store", store, ...agent];
  const service = await spawnService(args);
  const { id } = await runJob(service, "Go on");
  const limit = (bytes: number | "unlimited") =>
    execFileSync("prlimit", ["--pid", String(service.child.pid), `--fsize=${bytes}:`]);
  limit(statSync(`${store}-wal`).size);
  for (let request = 0; request < 3; request++) expect((await send(service, "docs/job", "Go on")).status).toBe(503);
  expect((await send(service, `docs/job/${id}`)).job.status).toBe("completed");
  limit("unlimited");
  expect((await runJob(service, "Go on")).status).toBe("completed");
  // What follows does not have to run.
  writeFileSync(wait, "");
  for (let request = 2; request < 100; request++) expect((await send(service, "docs/job", "Go on")).status).toBe(201);
  expect((await send(service, "docs/job", "Go on")).status).toBe(429);
});
