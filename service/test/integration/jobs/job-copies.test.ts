import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import type { TurnCopy } from "../../../src/model.ts";
import { docsRepository, runJob, send, startAgentService, waitForJob } from "../../support/agent-service.ts";
import { MemoryCopies } from "../../support/memory-copies.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

/** Appends the prompt to a page, and to the notes in its home directory. */
const agent = shellAgent('{ cat; printf ,; } >> "$HOME/notes"; cp "$HOME/notes" notes.md');

test("a service with an empty folder continues a job of another service", async () => {
  const docs = docsRepository();
  const copies = new MemoryCopies(temporaryFolder());
  let first: Awaited<ReturnType<typeof runJob>>;
  {
    await using service = await startAgentService(docs, { agent, host, copies });
    first = await runJob(service, "one");
  }
  await using service = await startAgentService(docs, { agent, host, copies });
  const restored = await send(service, `docs/job/${first.id}`);
  expect(restored.job).toEqual(first);
  await send(service, `docs/job/${first.id}/message`, "two");
  const second = await waitForJob(service, first.id);
  expect(second.status).toBe("completed");
  expect(docs.read(`agent/${first.id}`, "notes.md")).toBe("one,two,");
  expect(docs.git("rev-list", "--count", `main..agent/${first.id}`)).toBe("2");
});

test("jobs are saved when they are created, and with their home directory after a turn", async () => {
  const folder = temporaryFolder();
  const copies = new MemoryCopies(folder);
  const service = await startAgentService(docsRepository(), { agent, host, copies });
  let open = (): void => {};
  copies.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { id } = await runJob(service, "one");
  const stopped = service[Symbol.asyncDispose]().then(() => existsSync(join(folder, id)));
  setTimeout(open, 200);
  expect(await stopped, "the service waits for the copy").toBe(true);
  expect(copies.saves.at(0)).toMatchObject({ hasHome: false });
  expect(copies.saves.at(-1)).toEqual({ states: ["completed"], hasHome: true });
});

test("the next service runs a turn that was stopped, with the session before it", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const wait = `echo > '${folder}/begun'; while [ ! -e '${folder}/gate' ]; do sleep 0.02; done`;
  const waiting = shellAgent(
    `prompt=$(cat); printf %s, "$prompt" >> "$HOME/notes"; [ "$prompt" != two ] || { ${wait}; }; cp "$HOME/notes" notes.md`,
  );
  const copies = new MemoryCopies(temporaryFolder());
  const first = await startAgentService(docs, { agent: waiting, host, copies });
  const { id } = await runJob(first, "one");
  await send(first, `docs/job/${id}/message`, "two");
  await waitUntil(() => existsSync(join(folder, "begun")));
  // Also if the service were killed now.
  await waitUntil(() => copies.saves.some(({ states }) => states.length === 2));
  await first[Symbol.asyncDispose]();
  expect(copies.saves.at(-1)).toEqual({ states: ["completed", "waiting"], hasHome: false });

  writeFileSync(join(folder, "gate"), "");
  await using second = await startAgentService(docs, { agent: waiting, host, copies });
  expect((await waitForJob(second, id)).status).toBe("completed");
  expect(docs.read(`agent/${id}`, "notes.md")).toBe("one,two,");
});

test("a turn waits while the home directory that it needs is being saved", async () => {
  const copies = new MemoryCopies(temporaryFolder());
  let open = (): void => {};
  copies.gate = new Promise((resolve) => {
    open = resolve;
  });
  await using service = await startAgentService(docsRepository(), { agent, host, copies });
  const { id } = await runJob(service, "one");
  await send(service, `docs/job/${id}/message`, "two");
  // Another job is not held up, and has the time that the turn would have.
  const other = await send(service, "docs/job", "other");
  expect((await waitForJob(service, other.job.id)).status).toBe("completed");
  expect(readFileSync(join(service.folder, "jobs", id, "home/notes"), "utf8")).toBe("one,");
  open();
  expect((await waitForJob(service, id)).status).toBe("completed");
  expect(readFileSync(join(service.folder, "jobs", id, "home/notes"), "utf8")).toBe("one,two,");
});

test("two services at the same time give their turns different ids, so that neither takes the other's commit for its own", async () => {
  const docs = docsRepository();
  const copies = new MemoryCopies(temporaryFolder());
  let id: string;
  {
    await using service = await startAgentService(docs, { agent, host, copies });
    ({ id } = await runJob(service, "one"));
  }
  const copy = structuredClone(copies.jobs.get(id));
  const turnsOf = async (prompt: string): Promise<TurnCopy[]> => {
    if (copy) copies.jobs.set(id, structuredClone(copy));
    await using service = await startAgentService(docs, { agent, host, copies });
    await send(service, `docs/job/${id}/message`, prompt);
    expect((await waitForJob(service, id)).status).toBe("completed");
    return copies.jobs.get(id)?.turns ?? [];
  };
  await turnsOf("two");
  await turnsOf("three");
  expect(docs.git("rev-list", "--count", `main..agent/${id}`)).toBe("3");
});

test("answers 503 while it is unknown whether a job exists, and changes nothing", async () => {
  const docs = docsRepository();
  const copies = new MemoryCopies(temporaryFolder());
  await using service = await startAgentService(docs, { agent, host, copies });
  copies.failure = new Error("the cache does not respond");
  const id = "job_00000000-0000-4000-8000-000000000000";
  const { status, headers } = await send(service, `docs/job/${id}/message`, "more");
  expect(status).toBe(503);
  expect(headers.get("retry-after")).toBe("10");
  expect(service.lines.join("\n")).toContain(`${id}: cannot be restored: the cache does not respond`);
  expect((await send(service, "docs/job/not-an-id")).status).toBe(404);
  copies.failure = undefined;
  expect((await send(service, `docs/job/${id}`)).status).toBe(404);
});

test("a job that cannot be saved is run all the same", async () => {
  const copies = new MemoryCopies(temporaryFolder());
  copies.failure = new Error("the cache is full");
  const service = await startAgentService(docsRepository(), { agent, host, copies });
  const { id, status } = await runJob(service, "one");
  await service[Symbol.asyncDispose]();
  expect(status).toBe("completed");
  expect(service.lines.join("\n")).toContain(`${id}: cannot be saved for later services: the cache is full`);
  expect(existsSync(join(service.folder, "jobs", id, "home"))).toBe(true);
});
