import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";
import { temporaryFolder } from "../support/step.ts";

const toolkit = resolve(root, "src/action/runner/toolkit.ts");

// A limit on the size of files stands in for a full disk: what fits is written, and the rest fails.
test.skipIf(process.platform === "win32")("a full disk leaves no half-written output behind", () => {
  const file = join(temporaryFolder(), "output");
  writeFileSync(file, "");
  const script = `
    import { runnerToolkit } from ${JSON.stringify(toolkit)};
    runnerToolkit.setOutput("job-id", "job_1");
    try {
      runnerToolkit.setOutput("model", "x".repeat(100_000));
    } catch (error) {
      console.log(error.code);
    }`;
  const shell = 'ulimit -f 8 && exec "$0" --input-type=module --eval "$1"';
  const printed = execFileSync("/bin/sh", ["-c", shell, process.execPath, script], {
    encoding: "utf8",
    env: { ...process.env, GITHUB_OUTPUT: file },
  });
  expect(printed.trim()).toBe("EFBIG");
  expect(readFileSync(file, "utf8")).toMatch(/^job-id<<(ghadelimiter_\S+)\njob_1\n\1\n$/);
});
