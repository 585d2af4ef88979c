import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { startBrowser } from "../../service/test/browser/browser.ts";
import { FakeCache } from "../support/fake-cache.ts";
import { FakeGitHub } from "../support/fake-github.ts";
import { KeyedService } from "../support/keyed-service.ts";
import { commentEnvironment, commentInputs } from "../support/payload.ts";
import { runMain } from "../support/run-main.ts";

// Takes the pictures of docs/images: `npm run pictures`. Requires Chromium, pngquant and a font with emoji.

const images = resolve(import.meta.dirname, "../../docs/images");
const styles = readFileSync(createRequire(import.meta.url).resolve("github-markdown-css/github-markdown.css"), "utf8");
const workMs = 216_000;
const message =
  "I brought the quickstart up to date with version 2.4: the install command and two screenshots have changed.";
const baseUrl = "https://agents.example.com";

/** Runs the action with a service whose agent works for some minutes, and says what it did. */
async function run(inputs: Record<string, string>, environment: Record<string, string>, github: FakeGitHub) {
  const service = new KeyedService();
  service.features = ["base", "stop"];
  service.next = "running";
  service.message = message;
  service.costUsd = 0.184;
  const end = (): void => {
    for (const turn of service.turns) turn.status = "completed";
  };
  return runMain({
    inputs: { "base-url": baseUrl, ...inputs },
    respond: service.respond,
    environment: {
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "acme/docs",
      GITHUB_RUN_ID: "99",
      ...environment,
    },
    github,
    cache: new FakeCache(),
    onClock: (clock) => clock.at(workMs, end),
  });
}

async function takePicture(browser: Browser, name: string, title: string, text: string): Promise<void> {
  // All of the rest is HTML.
  const html = text.replace(/^> (.*)$/gm, "<blockquote><p>$1</p></blockquote>");
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width: 440, height: 300 },
      deviceScaleFactor: 2,
    });
    const page = await context.newPage();
    await page.setContent(`<!doctype html><style>${styles}
      body { margin: 0; background: transparent }
      section { border: 1px solid var(--borderColor-default); border-radius: 6px; overflow: hidden }
      header { padding: 8px 16px; font-weight: 600; font-size: 14px; background: var(--bgColor-muted); border-bottom: 1px solid var(--borderColor-default) }
      main { padding: 16px }
    </style><section class="markdown-body"><header>${title}</header><main class="markdown-body">${html}</main></section>`);
    const file = join(images, `${name}-${colorScheme}.png`);
    await page.locator("section").screenshot({ path: file, omitBackground: true });
    execFileSync("pngquant", ["--force", "--skip-if-larger", "--ext", ".png", "--speed", "1", "32", file]);
    await context.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), "pictures-"));
try {
  const prompt = "Bring the quickstart up to date with the latest release.";
  const { toolkit } = await run(
    { prompt, session: "nightly-docs" },
    { GITHUB_EVENT_NAME: "schedule" },
    new FakeGitHub(),
  );
  const github = new FakeGitHub();
  const comment = { id: 77, text: "/agent bring the quickstart up to date", author: { login: "octocat" } };
  const event = commentEnvironment(folder, "https://api.github.com", comment);
  await run(commentInputs, { ...event, GITHUB_SERVER_URL: "https://github.com" }, github);
  const browser = await startBrowser();
  await takePicture(browser, "summary", "refresh summary", toolkit.summary);
  await takePicture(browser, "reply", "docs-bot commented", github.reply);
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
