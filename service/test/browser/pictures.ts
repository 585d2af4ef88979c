import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { shellAgent } from "../../src/agents/agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { PerProject } from "../../src/per-project.ts";
import { startService } from "../../src/start/service.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { startBrowser } from "./browser.ts";

// Takes the pictures of service/docs/jobs-and-pages.md, in service/docs/images: `npm run pictures` in `service`. Requires pngquant, too.

const apiKey = "mint_pictures";
const images = resolve(import.meta.dirname, "../../docs/images");
const publicUrl = "https://agents.example.com";
const minute = 60_000;

interface PastJob {
  prompt: string;
  project: string;
  minutesAgo: number;
  /** Default: it completed. */
  reason?: string;
  pullRequest?: number;
  isArchived?: boolean;
}

/** Oldest first. */
const pastJobs: readonly PastJob[] = [
  {
    prompt: "Translate the quick start into German",
    project: "docs",
    minutesAgo: 3210,
    pullRequest: 201,
    isArchived: true,
  },
  {
    prompt: "Remove the pages of version 1",
    project: "handbook",
    minutesAgo: 1480,
    pullRequest: 207,
    isArchived: true,
  },
  { prompt: "Explain how to rotate API keys", project: "docs", minutesAgo: 190, pullRequest: 211 },
  {
    prompt: "Update the screenshots of the dashboard",
    project: "handbook",
    minutesAgo: 95,
    reason: "The agent ended with exit code 1.",
  },
  { prompt: "Add a changelog entry for 2.4", project: "docs", minutesAgo: 41, pullRequest: 214 },
];

async function addJob(store: Store, job: PastJob, id: string): Promise<void> {
  const { prompt, project, minutesAgo, reason, pullRequest, isArchived } = job;
  const at = Date.now() - minutesAgo * minute;
  await store.jobs.add({ id, project, createdAt: at, model: "claude-code" }, prompt, at);
  const turn = await store.runningTurns.startNext(undefined, at);
  if (turn === undefined) throw new Error("no turn is ready");
  if (pullRequest !== undefined)
    await store.runningTurns.setPullRequest(turn, `https://github.com/acme/docs/pull/${pullRequest}`, "abc");
  await store.runningTurns.finish(turn, reason === undefined ? "completed" : "failed", at + 200_000, { reason });
  if (isArchived) await store.idleJobs.archiveOldest(at + minute * 10, at + minute * 60, 1);
}

/** What the agent of the running job does: a first turn that ends, and a second one that does not. */
const lines = [
  "Reading docs/guide.md",
  "Reading docs/install.md",
  "$ grep -rn 'quick-start.md' docs",
  "docs/guide.md:3:Begin with the [quickstart](quick-start.md).",
  "The link leads nowhere: the page is docs/quickstart.md.",
  "Editing docs/guide.md",
  "$ npx markdown-link-check docs/guide.md",
  "✓ 14 links checked, none is dead",
];
const more = ["Reading docs/install.md", "Editing docs/install.md", "$ npm run build", "✓ 48 pages built"];
const said = "I fixed the link in docs/guide.md. The other 13 links of the page work.";
const report = JSON.stringify({ message: said, costUsd: 0.184 });
const print = (texts: readonly string[]) => texts.map((text) => `echo "${text.replaceAll("$", "\\$")}"`).join("; ");
const agent = {
  ...shellAgent(
    `if [ -s "$AGENT_HISTORY_FILE" ]; then ${print(more)}; sleep 600
    else ${print(lines)}; echo >> docs/guide.md; sleep 1; echo '${report}' > "$AGENT_RESULT_FILE"; fi`,
  ),
  model: "claude-code",
};

async function takePictures(browser: Browser, url: string, link: () => Promise<string>, job: string): Promise<void> {
  for (const [name, width, colorScheme] of [
    ["light", 880, "light"],
    ["dark", 880, "dark"],
    ["phone", 375, "light"],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 500 }, deviceScaleFactor: 2 });
    const page = await context.newPage();
    await page.goto((await link()).replace(publicUrl, url));
    for (const [picture, path] of [
      ["jobs", "/"],
      ["job", job],
    ] as const) {
      await page.goto(url + path);
      if (path !== "/") {
        await page.getByText("48 pages built").waitFor();
        await page.locator("#turns summary").first().click();
      }
      // The name of a temporary repository is of no interest.
      await page.evaluate("document.querySelector('header .quiet').textContent = 'https://git.example.com/docs'");
      const file = join(images, `${picture}-${name}.png`);
      await page.screenshot({ path: file, fullPage: true });
      execFileSync("pngquant", ["--force", "--skip-if-larger", "--ext", ".png", "--speed", "1", "32", file]);
    }
    await context.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), "pictures-"));
using repository = new DocsRepository();
try {
  const file = join(folder, "jobs.sqlite");
  const store = openSqliteStore(file);
  for (const [index, job] of pastJobs.entries()) {
    await addJob(store, job, `job_${index}`);
    // The service archives jobs without their branch.
    repository.git("branch", `agent/job_${index}`, "main");
  }
  await store[Symbol.asyncDispose]();
  await using service = await startService({
    settings: PerProject.same({
      repository: repository.path,
      agent,
      sandbox: unconfined,
      timeLimitMs: 600_000,
      largestChangeBytes: 1_000_000,
    }),
    apiKey,
    publicUrl,
    projects: ["docs", "handbook"],
    folder: join(folder, "files"),
    store: file,
    agents: 2,
  });
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const send = async (path: string, prompt: string): Promise<{ id: string; status: string }> => {
    const body = JSON.stringify({ prompt });
    const response = await fetch(`${service.url}/v2/agent/docs/${path}`, { method: "POST", headers, body });
    return (await response.json()) as { id: string; status: string };
  };
  const { id } = await send("job", "Fix the broken links of the guide");
  await send(`job/${id}/message`, "Do the same for the installation page");
  const browser = await startBrowser();
  await takePictures(browser, service.url, () => service.createSignInLink("/"), `/job/${id}`);
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
