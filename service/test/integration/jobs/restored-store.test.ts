import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { rows } from "../../../../test/support/thorough.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { JobDirectory, jobLogFile } from "../../../src/service-folder.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { docsRepository, folderWithClone, send, startAgentService, waitForJob } from "../../support/agent-service.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";
import { unsupervisedHost } from "../../support/unsupervised-host.ts";

const server = postgresOfFile();

/** A store that can be copied while no service uses it. */
interface Backups {
  options(): Parameters<typeof startAgentService>[1];
  backUp(): Promise<void>;
  restore(): Promise<void>;
}

function sqliteBackups(): Backups {
  const folder = temporaryFolder();
  const [store, backup] = [join(folder, "jobs.sqlite"), join(folder, "backup")];
  return {
    options: () => ({ store }),
    backUp: async () => copyFileSync(store, backup),
    restore: async () => copyFileSync(backup, store),
  };
}

async function postgresBackups(): Promise<Backups> {
  let url = await server().createStoreDatabase();
  let backup = "";
  return {
    options: () => ({ openStore: () => openPostgresStore({ url, log: () => {}, times: patient }) }),
    backUp: async () => {
      backup = await server().copy(url);
    },
    restore: async () => {
      url = backup;
    },
  };
}

// The simulation restores backups of SQLite.
const databases = [["Postgres", postgresBackups] as const, ["SQLite", async () => sqliteBackups()] as const];

test.each(rows(databases, 1))(
  "after a backup of a store in %s was restored, each message runs an agent of its own, and newer jobs keep their files",
  async (_database, setUp) => {
    const docs = docsRepository();
    const folder = folderWithClone(docs);
    const backups = await setUp();
    // Its prompt, in a line of the page.
    const agent = shellAgent("cat >> notes.md; echo >> notes.md");
    const start = () => startAgentService(docs, { ...backups.options(), folder, agent, host: unsupervisedHost });
    const key = (request: string) => ({ "idempotency-key": `"step.${request}"` });
    let jobId = "";
    let newer = "";
    {
      await using service = await start();
      jobId = (await send(service, "docs/job", "One")).job.id;
      await waitForJob(service, jobId);
    }
    await backups.backUp();
    {
      await using service = await start();
      for (const prompt of ["Two", "Three"]) {
        await send(service, `docs/job/${jobId}/message`, prompt, key(prompt));
        await waitForJob(service, jobId);
      }
      newer = (await send(service, "docs/job", "Another")).job.id;
      await waitForJob(service, newer);
    }
    await backups.restore();
    await using service = await start();
    for (const prompt of ["Four", "Five"]) {
      await send(service, `docs/job/${jobId}/message`, prompt, prompt === "Four" ? {} : key("Three"));
      expect(await waitForJob(service, jobId)).toMatchObject({ status: "completed" });
    }
    // What was pushed before the restore is on the branch, and stays.
    expect(docs.read(`agent/${jobId}`, "notes.md").split("\n")).toEqual(["One", "Two", "Three", "Four", "Five"]);
    expect([jobLogFile(folder, newer), new JobDirectory(folder, newer).home].map(existsSync)).toEqual([true, true]);
    expect(service.lines).toContainEqual(expect.stringMatching(/^Jobs that are not in the store: 1\. /));
  },
);
