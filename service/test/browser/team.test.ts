import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { openSchema } from "../../src/store/sqlite/schema.ts";
import { docsRepository, send, startAgentService } from "../support/agent-service.ts";
import { hostile, manyJobs, rareWord } from "../support/many-jobs.ts";
import { startBrowser } from "./browser.ts";
import { steeredAgent } from "./steered-agent.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Where pictures are kept. Default: they are only taken. */
const { PICTURES } = process.env;

/** Starts a service with the jobs of a team. */
async function startTeam(count: number) {
  const store = join(temporaryFolder(), "jobs.sqlite");
  const connection = new Connection(store, () => {});
  openSchema(connection, store);
  connection.transaction(() => {
    for (const sql of manyJobs(count, Date.now())) connection.run(sql);
  });
  connection[Symbol.dispose]();
  const steered = steeredAgent();
  const projects = ["docs", ...Array.from({ length: 40 }, (_, index) => `project-${index}`)];
  const service = await startAgentService(docsRepository(), { agent: steered.agent, store, projects });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { ...steered, service };
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

describe.each([0, 3, 500, 20_000])("a team with %d jobs", (count) => {
  test("finds them by words and by who asked, by keyboard alone", async () => {
    const { service } = await startTeam(count);
    const { page, complaints } = await open(service, "/");
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
    await takePictures(page, `jobs-${count}`);
    const links = () => page.locator(".jobs .title").count();
    expect(await links()).toBe(Math.min(count, 50));
    await tabTo(page, "searchbox", "Search");
    await page.keyboard.type(rareWord.slice(0, 6));
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=zircon/);
    expect(await links()).toBe(Math.min(Math.floor(count / 100), 50));
    await takePictures(page, `found-${count}`);
    if (count > 0) {
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
      await takePictures(page, `job-${count}`);
    }
    await tabTo(page, "link", "Costs");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Costs" }).waitFor();
    await takePictures(page, `costs-${count}`);
    expect(await page.evaluate("window.attacked")).toBeUndefined();
    expect(complaints).toEqual([]);
  }, 300_000);
});

test("who I am and my time zone are kept, by keyboard alone", async () => {
  const { service } = await startTeam(3);
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
  const { service } = await startTeam(3);
  const { page, complaints } = await open(service, "/job/job_1", { timezoneId: "Asia/Kolkata" });
  await page.getByText("UTC").first().waitFor();
  await page.goto(`${service.url}/`);
  await page.getByText("GMT+5:30").first().waitFor();
  expect(complaints).toEqual([]);
});

test("a turn's log has times and addresses of lines, and a pull request folds what it changes", async () => {
  const { service, print, finish } = await startTeam(0);
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
