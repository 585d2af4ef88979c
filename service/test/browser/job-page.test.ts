import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { docsRepository, send, startAgentService, waitForJob } from "../support/agent-service.ts";
import { startBrowser } from "./browser.ts";
import { steeredAgent } from "./steered-agent.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const attack = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>`;

/** Starts the service with a job whose agent does what the test says. */
async function startJob(prompt = "Fix the guide") {
  const steered = steeredAgent();
  const service = await startAgentService(docsRepository(), { agent: steered.agent });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const { job } = await send(service, "docs/job", prompt);
  return { ...steered, service, job };
}

/** Opens a page as someone who signs in with the form. Everything that a browser complains about is in `complaints`. */
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
  await page.getByLabel("API key").fill(serviceKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  return { page, complaints };
}

/** Returns a function that says later whether the page was loaded again. */
async function mark(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate("window.isMarked = true");
  return () => page.evaluate<boolean>("window.isMarked === true");
}

const log = (page: Page) => page.getByRole("log", { name: "Log" });

test("a job is shown with its log while its agent runs, and how it went, without loading the page again", async () => {
  const { service, print, finish } = await startJob(`Fix ${attack}`);
  const { page, complaints } = await open(service, "/");
  await page.getByRole("link", { name: "Fix <img" }).click();
  const isSame = await mark(page);
  await log(page).getByText("started").waitFor();
  await page.getByRole("status").getByText("Active").waitFor();
  await page.getByText("Running since").waitFor();
  for (const text of ["one ✓", `two ${attack}`, "three"]) {
    print(`\u001b[31m${text}\u001b[0m`);
    await log(page).getByText(`| ${text}`).waitFor();
  }
  finish();
  await page.getByRole("status").getByText("Completed").waitFor();
  await page.getByText(/Completed in \d+ s/).waitFor();
  await page.getByRole("link", { name: "Pull request #1" }).waitFor();
  await log(page).getByText("[service] Pull request").waitFor();
  expect(await log(page).innerText()).not.toContain("[31m");
  expect(await isSame()).toBe(true);
  expect(await page.evaluate("window.attacked")).toBeUndefined();
  await page.getByRole("link", { name: "Pull request #1" }).click();
  await page.getByText("1 file changed").waitFor();
  expect(await page.evaluate("window.attacked")).toBeUndefined();
  expect(complaints).toEqual([]);
});

test("a message is sent once, also by a double click, and its turn is followed", async () => {
  const { service, job, print, finish } = await startJob();
  const { page, complaints } = await open(service, `/job/${job.id}`);
  const text = `Second\nline ${attack}`;
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).dblclick();
  await page.getByText("Waiting").waitFor();
  const isSame = await mark(page);
  finish();
  await page.getByText("Running since").waitFor();
  print("from the second turn");
  await log(page).getByText("from the second turn").waitFor();
  finish();
  await page.getByRole("status").getByText("Completed").waitFor();
  expect(await page.locator("#turns li").count()).toBe(2);
  expect(await page.locator("#turns pre").nth(1).textContent()).toBe(text);
  expect(await isSame()).toBe(true);
  expect(await page.evaluate("window.attacked")).toBeUndefined();
  expect(complaints).toEqual([]);
});

test("a running turn is stopped, and run again", async () => {
  const { service, job, print, finish } = await startJob();
  const { page, complaints } = await open(service, `/job/${job.id}`);
  await log(page).getByText("started").first().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("status").getByText("Stopped").waitFor();
  await page.getByText("Stopped by an operator (API key).").first().waitFor();
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByText("Running since").waitFor();
  expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
  print("once more");
  await log(page).getByText("once more").waitFor();
  finish();
  await page.getByRole("status").getByText("Completed").waitFor();
  expect(await page.locator("#turns li").count()).toBe(2);
  expect(complaints).toEqual([]);
});

test("what is open stays open, and what was typed is kept, while turns end", async () => {
  const { service, job, finish } = await startJob("First");
  await send(service, `docs/job/${job.id}/message`, "Second");
  const { page } = await open(service, `/job/${job.id}`);
  await page.getByLabel("Message").fill("Not sent yet");
  await page.locator("#turns li").first().locator("summary").click();
  finish();
  await page.getByText("Completed in").waitFor();
  expect(await page.locator("#turns details[open]").count()).toBe(2);
  expect(await page.getByLabel("Message").inputValue()).toBe("Not sent yet");
});

test("the log goes on after the connection was lost, with no line missing or twice", async () => {
  const { service, job, print, finish } = await startJob();
  const { page } = await open(service, `/job/${job.id}`);
  print("before");
  await log(page).getByText("before").waitFor();
  await page.getByText("live").waitFor();
  service.server.closeAllConnections();
  print("meanwhile ✓");
  await log(page).getByText("meanwhile").waitFor();
  print("after");
  finish();
  await page.getByRole("status").getByText("Completed").waitFor();
  const lines = (await log(page).innerText()).split("\n").filter((line) => /before|meanwhile|after/.test(line));
  expect(lines).toEqual(["| before", "| meanwhile ✓", "| after"]);
});

test("a reader at the end of the log stays there, another one is left where he is", async () => {
  const { service, job, print } = await startJob();
  const { page } = await open(service, `/job/${job.id}`);
  const many = (name: string) => Array.from({ length: 300 }, (_, line) => `${name} ${line}`).join("\n");
  const isAtEnd = () =>
    log(page).evaluate(({ scrollTop, clientHeight, scrollHeight }) => scrollHeight - scrollTop - clientHeight < 16);
  print(many("first"));
  await log(page).getByText("first 299").waitFor();
  expect(await isAtEnd()).toBe(true);
  await log(page).evaluate((element) => element.scrollTo(0, 100));
  print(many("second"));
  await log(page).getByText("second 299").waitFor();
  expect(await log(page).evaluate(({ scrollTop }) => scrollTop)).toBe(100);
});

test("a long log keeps its last lines", async () => {
  const { service, job, print } = await startJob();
  const { page } = await open(service, `/job/${job.id}`);
  for (let part = 0; part < 6; part++) {
    print(Array.from({ length: 5000 }, (_, line) => `line ${part * 5000 + line}`).join("\n"));
    await log(page)
      .getByText(`line ${part * 5000 + 4999}`)
      .waitFor();
  }
  const text = await log(page).innerText();
  const lines = text.split("\n").length;
  expect(lines).toBeLessThanOrEqual(20_001);
  expect(lines).toBeGreaterThan(5000);
  await page.getByText("Only the end is shown.").waitFor();
});

test("without JavaScript, everything works but for what is live", async () => {
  const { service, job, print, finish } = await startJob();
  const { page } = await open(service, `/job/${job.id}`, { javaScriptEnabled: false });
  await page.getByLabel("Message").fill("More");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Waiting").waitFor();
  print("printed");
  for (let turns = 0; turns < 2; turns++) finish();
  await waitForJob(service, job.id);
  await page.reload();
  await page.getByRole("status").getByText("Completed").waitFor();
  expect(await log(page).innerText()).toContain("| printed");
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page.getByLabel("State").selectOption("Failed");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("There are no such jobs.").waitFor();
});

test("a page that nobody sees has no connection, and goes on when it is seen again", async () => {
  const { service, job, print } = await startJob();
  const { page } = await open(service, `/job/${job.id}`);
  await page.getByText("live").waitFor();
  await setHidden(page, true);
  const connections = countConnections(page);
  print("meanwhile");
  await setHidden(page, false);
  await log(page).getByText("meanwhile").waitFor();
  expect(connections.count).toBe(1);
});

/** Makes the page believe that it is hidden or seen: a headless browser shows all its pages. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"))`,
  );
}

/** Counts the connections for events that a page opens from now on. */
function countConnections(page: Page): { count: number } {
  const connections = { count: 0 };
  page.on("request", (request) => {
    if (request.url().includes("/events")) connections.count++;
  });
  return connections;
}

test.each([
  ["a phone", 375],
  ["a wide screen", 1280],
])("pages fit on %s", async (_name, width) => {
  const long = "a".repeat(300);
  const { service, job, print } = await startJob(`${long} ${long}`);
  print(long);
  const { page } = await open(service, "/", { viewport: { width, height: 700 } });
  for (const path of ["/", `/job/${job.id}`]) {
    await page.goto(service.url + path);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  }
});
