import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/step.ts";
import { runKeyCommand } from "../../src/access/run-key-command.ts";

/** The time of the tests: 2026-03-01T00:00:00Z. */
export const start = Date.UTC(2026, 2, 1);

/** A file of keys that is removed after the test. */
export function keyFile() {
  const file = join(temporaryFolder(), "keys.json");
  return {
    file,
    /** Adds a key and returns it. */
    add: async (
      name: string,
      projects: "all" | string[] = "all",
      expiresDays?: number,
      scope?: "read",
    ): Promise<string> =>
      (await runKeyCommand({ command: "add", file, name, projects, scope, expiresDays }, start)).text.trim(),
    list: async (now = start) => (await runKeyCommand({ command: "list", file }, now)).text,
    revoke: (name: string) => runKeyCommand({ command: "revoke", file, name }, start),
  };
}
