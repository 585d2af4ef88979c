import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * Starts the browser that is installed.
 *
 * @throws if there is none, with what to install
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.BROWSER_PATH ?? findBrowser();
  if (executablePath === undefined)
    throw new Error(
      "There is no Chromium or Chrome. Install one, such as with: apt-get install chromium. Or set BROWSER_PATH to its path.",
    );
  // As root, it has no sandbox. It only loads pages of the service.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
