import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { hourMs } from "../../../src/time.ts";
import { docsRepository, readPage, runJob, send, startAgentService, waitForJob } from "../../support/agent-service.ts";

test("a store belongs to its repository, unless that has moved", async () => {
  const [docs, other] = [docsRepository(), docsRepository()];
  const folder = temporaryFolder();
  let id = "";
  {
    await using service = await startAgentService(docs, { folder });
    id = (await runJob(service, 'Add a page "Quickstart"')).id;
  }
  const rejected = startAgentService(other, { folder });
  await expect(rejected).rejects.toThrow(`belong to the repository file://${docs.path}, not to file://${other.path}`);
  await expect(rejected).rejects.toThrow("--repository-moved");
  {
    await using service = await startAgentService(docs, { folder });
    expect((await send(service, `docs/job/${id}`)).job.status).toBe("completed");
  }
  other.git("fetch", "-q", docs.path, "refs/heads/*:refs/heads/agent-copy/*");
  // Made in another second, the same files are an unrelated history.
  other.git("update-ref", "refs/heads/main", "agent-copy/main");
  other.git("branch", `agent/${id}`, `agent-copy/agent/${id}`);
  {
    await using service = await startAgentService(other, { folder, isRepositoryMoved: true });
    await send(service, `docs/job/${id}/message`, 'Add a page "Reference"');
    expect((await waitForJob(service, id)).status).toBe("completed");
  }
  await expect(startAgentService(docs, { folder })).rejects.toThrow("--repository-moved");
});

test("a repository that cannot be opened is not remembered", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  await expect(startAgentService(docs, { folder, repository: join(folder, "nowhere") })).rejects.toThrow();
  await using service = await startAgentService(docs, { folder });
  expect((await runJob(service, "Go on")).status).toBe("completed");
});

test("deletes a job with its page, its files and its commits, and the next job gets another page", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  let id = "";
  let link = "";
  {
    await using service = await startAgentService(docs, { folder });
    const job = await runJob(service, 'Add a page "Quickstart"');
    [id, link] = [job.id, new URL(job.prLink ?? "").pathname];
    expect(await readPage(service, link)).toContain("Quickstart");
  }
  const ref = join(folder, "mirror.git/refs/jobs", id);
  const files = [ref, join(folder, "jobs", id), join(folder, "logs", `${id}.log`)];
  for (const file of files) expect(existsSync(file), file).toBe(true);
  const store = new DatabaseSync(join(folder, "jobs.sqlite"));
  store.exec(`UPDATE job SET "idleSince" = "idleSince" - ${hourMs}`);
  store.close();
  await using service = await startAgentService(docs, { folder, deleteAfterDays: 1e-9 });
  await waitUntil(() => !files.some((file) => existsSync(file)));
  expect((await send(service, `docs/job/${id}`)).status).toBe(404);
  expect((await send(service, `docs/job/${id}/message`, "More")).status).toBe(404);
  await expect(readPage(service, link)).rejects.toThrow("the page was answered with 404");
  expect(service.lines).toContain(`Deleted, idle for 1e-9 days: ${id}`);
  expect(new URL((await runJob(service, 'Add a page "Reference"')).prLink ?? "").pathname).not.toBe(link);
});

test("a job that has been idle for half of the time after which it is deleted is archived, and goes on with a message", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  let id = "";
  {
    await using service = await startAgentService(docs, { folder });
    ({ id } = await runJob(service, 'Add a page "Quickstart"'));
  }
  const makeOlder = (hours: number) => {
    using store = new DatabaseSync(join(folder, "jobs.sqlite"));
    store.exec(`UPDATE job SET "idleSince" = "idleSince" - ${hours * hourMs}`);
  };
  makeOlder(5);
  {
    await using service = await startAgentService(docs, { folder, deleteAfterDays: 0.5 });
    await runJob(service, 'Add a page "Reference"');
    expect((await send(service, `docs/job/${id}`)).job.status).toBe("completed");
  }
  makeOlder(2);
  await using service = await startAgentService(docs, { folder, deleteAfterDays: 0.5 });
  await waitUntil(async () => (await send(service, `docs/job/${id}`)).job.status === "archived");
  expect(service.lines).toContain(`Archived, idle for 0.25 days: ${id}`);
  await send(service, `docs/job/${id}/message`, 'Add a page "More"');
  expect((await waitForJob(service, id)).status).toBe("completed");
});

test("creates are rejected while the store cannot be written, and not counted", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  await using service = await startAgentService(docs, { folder });
  const { id } = await runJob(service, "Go on");
  const other = new DatabaseSync(join(folder, "jobs.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  for (let request = 0; request < 3; request++) {
    const { status, headers } = await send(service, "docs/job", "Go on");
    expect([status, headers.get("retry-after")]).toEqual([503, "30"]);
    expect((await send(service, `docs/job/${id}/message`, "More")).status).toBe(503);
    expect((await send(service, `docs/job/${id}`)).job.status).toBe("completed");
  }
  other.exec("COMMIT");
  other.close();
  // Noticed without a request.
  await waitUntil(() => service.lines.includes("The store can be written again."));
  for (let request = 1; request < 100; request++) expect((await send(service, "docs/job", "Go on")).status).toBe(201);
  expect((await send(service, "docs/job", "Go on")).status).toBe(429);
  expect(service.lines.filter((line) => line.startsWith("The store "))).toEqual([
    expect.stringContaining("cannot be written: database is locked"),
    "The store can be written again.",
  ]);
});

test("logs why a turn failed", async () => {
  const docs = docsRepository();
  await using service = await startAgentService(docs, {
    agent: shellAgent("echo one; echo; echo 'no key' >&2; exit 3"),
  });
  const { id } = await runJob(service, "Go on");
  await waitUntil(() => service.lines.some((line) => line.includes("turn 1 failed")));
  expect(service.lines).toContain(
    `${id}: turn 1 failed: The agent ended with exit code 3. Its last output:\\none\\nno key`,
  );
});

test("stores no credentials of the repository", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const url = `file://user:secret_of_the_user@localhost${docs.path}`;
  const started = startAgentService(docs, { folder, repository: url });
  await (await started.catch(() => undefined))?.[Symbol.asyncDispose]();
  await using store = openSqliteStore(join(folder, "jobs.sqlite"));
  expect((await store.counts.total()).jobs).toBe(0);
  expect(readFileSync(join(folder, "jobs.sqlite"), "latin1")).not.toContain("secret_of_the_user");
});
