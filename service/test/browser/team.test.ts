import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { isThorough } from "../../../test/support/thorough.ts";
import { shellAgent } from "../../src/agents/agent.ts";
import { Problems } from "../../src/api/problems.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { openSchema } from "../../src/store/sqlite/schema.ts";
import { type AgentServiceOptions, docsRepository, runJob, send, startAgentService } from "../support/agent-service.ts";
import { hostile, manyJobs, rareWord } from "../support/many-jobs.ts";
import { patient, postgresOfFile } from "../support/postgres.ts";
import { startBrowser } from "./browser.ts";
import { steeredAgent } from "./steered-agent.ts";

const server = postgresOfFile();

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Where pictures are kept. Default: they are only taken. */
const { PICTURES } = process.env;

type Place = "SQLite" | "Postgres";

/** Starts a service with the jobs of a team. `run` changes its store. */
async function startTeam(place: Place, count: number, options: AgentServiceOptions = {}) {
  const steered = steeredAgent();
  const projects = ["docs", ...Array.from({ length: 40 }, (_, index) => `project-${index}`)];
  const file = join(temporaryFolder(), "jobs.sqlite");
  const url = place === "SQLite" ? "" : await server().createStoreDatabase();
  const run = async (...statements: string[]): Promise<void> => {
    if (place === "Postgres") for (const sql of statements) await server().query(url, sql);
    else {
      using connection = new Connection(file, () => {});
      openSchema(connection, file);
      connection.transaction(() => {
        for (const sql of statements) connection.run(sql);
      });
    }
  };
  const now = Date.now();
  await run(...manyJobs(count, now, place === "Postgres" ? "agent_jobs." : ""));
  if (place === "Postgres") await run("ANALYZE");
  const service = await startAgentService(docsRepository(), {
    ...{ agent: steered.agent, projects },
    ...(place === "SQLite"
      ? { store: file }
      : { openStore: () => openPostgresStore({ url, log: () => {}, times: patient }) }),
    ...options,
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { ...steered, service, now, run };
}

/** Opens a page as someone who signs in by keyboard alone. Everything that a browser complains about is in `complaints`. */
async function open(service: { url: string }, path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => void complaints.push(String(error)));
  await page.goto(service.url + path);
  await page.keyboard.type(serviceKey);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  return { page, complaints };
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, role: "link" | "button" | "searchbox" | "combobox", name: string) {
  const target = page.getByRole(role, { name }).first();
  for (let presses = 0; presses < 200; presses++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${role} ${name}`);
}

/** Takes pictures: light and dark, on a phone and a screen. Nothing may be wider than the window. */
async function takePictures(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [320, 1280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const widest = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect({ name, width, fits: widest <= width }).toEqual({ name, width, fits: true });
      if (PICTURES === undefined) continue;
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
    }
}

const places = (["SQLite", "Postgres"] as const).flatMap((place) =>
  [20_000, 3, 0, 500].map((count) => ({ place, count })),
);

describe.each(isThorough ? places : places.filter(({ place, count }) => place === "SQLite" || count >= 500))(
  "a team with $count jobs in $place",
  ({ place, count }) => {
    test("finds them by words and by who asked, by keyboard alone", async () => {
      const problems = new Problems(() => {});
      const { service, now } = await startTeam(place, count, { problems });
      problems.modelAnswered(401, "ANTHROPIC_API_KEY");
      const { page, complaints } = await open(service, "/", { timezoneId: "Asia/Kolkata" });
      await page.getByRole("heading", { name: "Jobs" }).waitFor();
      await page.getByRole("status").getByText("A model's API refuses the key of an agent.").waitFor();
      await takePictures(page, `jobs-${place}-${count}`);
      const links = () => page.locator(".jobs .title").count();
      expect(await links()).toBe(Math.min(count, 50));
      await tabTo(page, "searchbox", "Search");
      await page.keyboard.type(rareWord.slice(0, 6));
      await page.keyboard.press("Enter");
      await page.waitForURL(/q=zircon/);
      expect(await links()).toBe(Math.min(Math.floor(count / 100), 50));
      await takePictures(page, `found-${place}-${count}`);
      if (count > 0) {
        await page.goto(`${service.url}/?q=handbook+links`);
        expect(await links()).toBe(Math.min(count, 50));
        await page.goto(`${service.url}/`);
        await tabTo(page, "combobox", "Asked by");
        await page.keyboard.type("person-1");
        await tabTo(page, "button", "Show");
        await page.keyboard.press("Enter");
        await page.waitForURL(/asker=person-1(&|$)/);
        expect(await links()).toBe(Math.min(Math.ceil(count / 60), 50));
        // The address is all that a colleague needs.
        const { page: other } = await open(service, new URL(page.url()).search.replace(/^/, "/"));
        expect(await other.locator(".jobs .title").allTextContents()).toEqual(
          await page.locator(".jobs .title").allTextContents(),
        );
        await tabTo(page, "link", "Task");
        await page.keyboard.press("Enter");
        await page.getByText("Asked by person-1").first().waitFor();
        await takePictures(page, `job-${place}-${count}`);
      }
      if (count >= 500) {
        // Its script has told the browser's zone.
        const clock = new Date(now + 3_600_000).toLocaleTimeString("en-GB", {
          ...{ timeZone: "Asia/Kolkata", hour: "2-digit", minute: "2-digit" },
        });
        await page.goto(`${service.url}/job/job_${count - 1}`);
        await page.getByRole("status").getByText(`${clock} GMT+5:30: GitHub limits the rate.`).waitFor();
        await takePictures(page, `waits-${place}-${count}`);
        await page.goto(`${service.url}/job/job_${count - 200}`);
        await page.getByRole("note").getByText("What the agent changed in the last turn is kept").waitFor();
        await page.locator("#facts pre", { hasText: "/patch | git apply -3" }).waitFor();
        await takePictures(page, `kept-${place}-${count}`);
      }
      await tabTo(page, "link", "Costs");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Costs" }).waitFor();
      await takePictures(page, `costs-${place}-${count}`);
      expect(await page.evaluate("window.attacked")).toBeUndefined();
      expect(complaints).toEqual([]);
    }, 300_000);
  },
);

test("who I am and my time zone are kept, by keyboard alone", async () => {
  const { service } = await startTeam("SQLite", 3);
  const { page, complaints } = await open(service, "/");
  await tabTo(page, "link", "My jobs");
  await page.keyboard.press("Enter");
  await tabTo(page, "combobox", "Who you are");
  await page.keyboard.type("person-2");
  await page.keyboard.press("Escape");
  await tabTo(page, "combobox", "Time zone");
  await page.keyboard.type("Africa/Lagos");
  await takePictures(page, "settings");
  await tabTo(page, "button", "Save");
  await page.keyboard.press("Enter");
  await page.getByText("GMT+1").first().waitFor();
  await tabTo(page, "link", "My jobs");
  await page.keyboard.press("Enter");
  await page.waitForURL(/asker=person-2/);
  expect(await page.locator(".jobs .title").allTextContents()).toEqual([expect.stringContaining("Task 2")]);
  expect(complaints).toEqual([]);
});

test("the script of a job's page tells the service the time zone of the browser, unless one was chosen", async () => {
  const { service } = await startTeam("SQLite", 3);
  const { page, complaints } = await open(service, "/job/job_1", { timezoneId: "Asia/Kolkata" });
  await page.getByText("UTC").first().waitFor();
  await page.goto(`${service.url}/`);
  await page.getByText("GMT+5:30").first().waitFor();
  expect(complaints).toEqual([]);
});

test("a turn's log has times and addresses of lines, and a pull request folds what it changes", async () => {
  const { service, print, finish } = await startTeam("SQLite", 0);
  const { job } = await send(service, "docs/job", `Fix ${hostile}`);
  const { page, complaints } = await open(service, `/job/${job.id}`);
  await page.getByRole("log", { name: "Log" }).getByText("started").first().waitFor();
  print(hostile);
  print("the end");
  await page.getByRole("log", { name: "Log" }).getByText("the end").waitFor();
  finish();
  await page.getByRole("status").getByText("Completed").waitFor();
  await tabTo(page, "link", "Log with times");
  await page.keyboard.press("Enter");
  const line = page.locator(".lines li", { hasText: "the end" });
  await line.getByRole("link").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/#b\d+$/);
  expect(await line.evaluate((element) => element.matches(":target"))).toBe(true);
  expect(await page.locator(".lines .note").count()).toBeGreaterThan(1);
  await takePictures(page, "turn-log");
  await page.goto(`${service.url}/pull/1`);
  await page.getByText("1 file changed").waitFor();
  await page.locator(".file summary").focus();
  await page.keyboard.press("Enter");
  expect(await page.locator(".file").getAttribute("open")).toBeNull();
  await takePictures(page, "pull-request");
  expect(await page.evaluate("window.attacked")).toBeUndefined();
  expect(complaints).toEqual([]);
});

/** Lines of the same length, each with a number. */
const maxLines = 1_000_000;
const lineLength = 15;

test.each(["SQLite", "Postgres"] as const)(
  "a turn's log of a million lines is read in parts, in %s",
  async (place) => {
    const { service, run } = await startTeam(place, 101);
    const line = (number: number): string => `| line ${String(number).padStart(7, "0")}\n`;
    if (place === "SQLite") {
      for (const name of ["logs", "log-times"]) mkdirSync(join(service.folder, name), { recursive: true });
      writeFileSync(join(service.folder, "log-times/job_1"), `5 0 ${Date.now()}\n`);
      const lines = Array.from({ length: maxLines }, (_, number) => line(number));
      writeFileSync(join(service.folder, "logs/job_1.log"), lines.join(""));
    } else {
      const text = `SELECT convert_to(string_agg('| line ' || lpad((chunk * 4000 + n)::text, 7, '0') || E'\\n', '' ORDER BY n), 'UTF8') FROM generate_series(0, 3999) AS n`;
      await run(
        `INSERT INTO agent_jobs."logChunk" (job, start, turn, content) SELECT 'job_1', chunk * 4000 * ${lineLength}, 5, (${text}) FROM generate_series(0, ${maxLines / 4000 - 1}) AS chunk`,
      );
    }
    const { page, complaints } = await open(service, "/job/job_1");
    await page.getByRole("log", { name: "Log" }).getByText("line 0999999").waitFor();
    await tabTo(page, "link", "Log with times");
    await page.keyboard.press("Enter");
    await page.getByText("line 0000000").waitFor();
    await page.locator(".lines li").nth(1999).waitFor();
    await tabTo(page, "link", "Later");
    await page.keyboard.press("Enter");
    await page.getByText("line 0002000").waitFor();
    await tabTo(page, "link", "End");
    await page.keyboard.press("Enter");
    await page.getByText("line 0999999").waitFor();
    await takePictures(page, `long-log-${place}`);
    // An address of a line, as somebody has sent it.
    await page.goto(`${service.url}/job/job_1/turn/5/log?from=${500_000 * lineLength}#b${500_000 * lineLength}`);
    expect(await page.locator(".lines li:target").innerText()).toContain("line 0500000");
    expect(complaints).toEqual([]);
  },
  180_000,
);

test("a diff of 300 files has a list, folds, and names what is left out", async () => {
  // Names that Windows lacks, with tags or quotes, are in no change.
  const name = '"\'&lt;img src=x onerror=window.attacked=1&gt;.md"';
  const agent = shellAgent(
    `for i in $(seq 299); do seq 100 > page-$i.md; done; printf '</table><script>window.attacked=1</script>\\n' > ${name}`,
  );
  const { service } = await startTeam("SQLite", 0, { agent, timeLimitMs: 60_000 });
  await runJob(service, "Write 300 pages");
  const { page, complaints } = await open(service, "/pull/1");
  await page.getByText("Write 300 pages").first().waitFor();
  expect(await page.locator("h2").allTextContents()).toContainEqual(expect.stringContaining("300 files changed"));
  expect(await page.getByRole("note").innerText()).toContain("it has more than 20000 lines");
  await page.getByText(/^\d+ files left out$/).focus();
  await page.keyboard.press("Enter");
  await page.getByText("page-99.md", { exact: true }).waitFor();
  await page.getByText("Files", { exact: true }).focus();
  await page.keyboard.press("Enter");
  await takePictures(page, "large-diff");
  expect(await page.locator(".file[open]").count()).toBe(0);
  await tabTo(page, "link", "page-10.md");
  await page.keyboard.press("Enter");
  expect(await page.locator(".file[open] summary").innerText()).toContain("page-10.md");
  await takePictures(page, "large-diff-open");
  expect(await page.evaluate("window.attacked")).toBeUndefined();
  expect(complaints).toEqual([]);
}, 180_000);
