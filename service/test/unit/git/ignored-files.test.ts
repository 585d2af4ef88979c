import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { copyIgnored } from "../../../src/git/ignored-files.ts";
import { isResourceExhausted } from "../../../src/processes/resource-exhausted.ts";

test.each([
  ["No space left on device", true],
  ["Permission denied", false],
])("what is copied into a worktree may lack something that it has later: %s is so %s", async (words, isPassing) => {
  const [programs, files, tree] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  writeFileSync(join(programs, "cp"), `#!/bin/sh\necho "cp: error writing: ${words}" >&2; exit 1\n`, { mode: 0o755 });
  writeFileSync(join(files, "lib"), "");
  vi.stubEnv("PATH", `${programs}:${process.env.PATH}`);
  const error = await copyIgnored(files, tree).catch((thrown: unknown) => thrown);
  vi.unstubAllEnvs();
  expect([isResourceExhausted(error), String(error)]).toEqual([isPassing, expect.stringContaining(words)]);
});
