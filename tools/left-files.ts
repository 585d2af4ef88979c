import { readdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Reporter } from "vitest/node";

/** Returns what tests and the service leave in folders that others use, too, if they do not remove it. */
function list(): string[] {
  // The configuration chooses the first one after it has imported this.
  return [tmpdir(), join(homedir(), ".local/state/agent-job-service")].flatMap((folder) => {
    try {
      const names = readdirSync(folder).filter((name) => /^(?:agent-|docs-repository-|run-|runbook-)/.test(name));
      return names.map((name) => join(folder, name));
    } catch {
      return [];
    }
  });
}

/** Names what is left after all tests. What other runs use at the same time is named, too. */
export class LeftFiles implements Reporter {
  readonly #before = new Set(list());

  onTestRunEnd(): void {
    // What all tests share, such as Postgres, is removed after this.
    process.once("exit", () => {
      const left = list().filter((path) => !this.#before.has(path));
      if (left.length > 0) console.log(`Left behind:\n${left.map((path) => `  ${path}`).join("\n")}`);
    });
  }
}
