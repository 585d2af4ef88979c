import { type ChildProcess, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCacheService } from "../../../test/support/cache-service.ts";
import { step } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { jobEnvironment, setUpGitHub } from "../support/workflow-job.ts";

/** Kills a process with all that it has started, as a lost runner does. */
function killTree(root = 0): void {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const found = [root];
  for (const one of found) for (const [id = 0, parent] of pairs) if (parent === one) found.push(id);
  for (const id of found)
    try {
      process.kill(id, "SIGKILL");
    } catch {
      // It has just ended.
    }
}

test.skipIf((await findObstacle("bwrap")) !== undefined).each([
  ["commit", "failed", "Work is kept, and not published"],
  ["job", "error", "Cannot ask the service what was sent"],
])(
  "what a lost run has made in the sandbox, where refs are refused, is not paid for again while the cache's %s cannot be read",
  async (kind, outcome, title) => {
    const { docs, github } = await setUpGitHub();
    // So that the cache keeps the commit.
    const rule = 'while read -r _ _ ref; do case "$ref" in refs/heads/*) ;; *) exit 1;; esac; done';
    writeFileSync(join(docs.path, "hooks/pre-receive"), `#!/bin/sh\n${rule}\n`, { mode: 0o755 });
    let isOut = false;
    const cache = await startCacheService("v1", {
      fault: (_what, _count, response) => {
        if (!isOut || !decodeURIComponent(response.req.url ?? "").includes(`/${kind}/`)) return false;
        response.writeHead(503).end();
        return true;
      },
    });
    onTestFinished(() => cache[Symbol.asyncDispose]());
    // The first check takes so long that the runner is lost in it.
    const slowUntil = Math.floor(Date.now() / 1000) + 8;
    const run = (attempt: number, onStart: (child: ChildProcess) => void = () => {}) => {
      for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
      const inputs = {
        agent: "echo changed >> notes.md; date +%s%N > made-at.txt",
        "agent-options": "--agent-network none",
        check: `sleep $(( $(date +%s) < ${slowUntil} ? 30 : 0 ))`,
        prompt: "Go",
        "github-token": github.token,
        "poll-interval-seconds": "0.05",
        "max-poll-interval-seconds": "0.1",
      };
      const own = {
        GITHUB_RUN_ID: "1",
        GITHUB_RUN_ATTEMPT: String(attempt),
        GITHUB_JOB: "docs",
        GITHUB_ACTION: "agent",
      };
      const environment = { ...jobEnvironment(github), ...cache.environment, ...own, GITHUB_REPOSITORY_ID: "1" };
      return step(inputs, { environment, onStart });
    };
    await run(1, async (child) => {
      await waitUntil(() => cache.entries.some(({ key, isCommitted }) => isCommitted && key.includes("/commit/")));
      killTree(child.pid);
    });
    const lostAt = Date.now();
    await waitUntil(() => Date.now() / 1000 > slowUntil);
    isOut = true;
    const second = await run(2);
    expect(second.outputs.outcome, second.log).toBe(outcome);
    expect(second.annotations.join("\n")).toContain(title);
    isOut = false;
    const third = await run(3);
    expect(third.outputs.outcome, third.log).toBe("pr-created");
    expect(Number(docs.git("show", `${third.outputs.ref}:made-at.txt`)) / 1e6).toBeLessThan(lostAt);
  },
  120_000,
);
