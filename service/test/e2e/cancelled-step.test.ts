import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { docsRepository } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";

/* What the action promises about cancelling, through the action as it is built and a service on the same machine. */
test("a cancelled step stops the agent that it started, and only that one", async () => {
  const docs = docsRepository();
  const runs = temporaryFolder();
  // An agent that works until it is let go. The name of its page, which is its prompt, is an argument of its process.
  const agent = `exec sh -c 'while [ ! -e ${runs}/gate ]; do sleep 0.1; done; echo done > "$0"' "$(cat).md"`;
  const place = ["--repository", docs.path, "--project", "docs"];
  const { url } = await spawnService([...place, "--agent", agent, "--sandbox", "none", "--agents", "4"]);
  const inputs = {
    "base-url": url,
    "project-id": "docs",
    "api-key": serviceKey,
    "poll-interval-seconds": "0.05",
    "max-poll-interval-seconds": "0.1",
  };

  /** Returns whether the agent that has a prompt is running. */
  const isAtWork = (prompt: string): boolean =>
    readdirSync("/proc").some((id) => {
      try {
        const line = readFileSync(`/proc/${id}/cmdline`, "utf8");
        return line.includes(runs) && line.endsWith(`\0${prompt}.md\0`);
      } catch {
        return false;
      }
    });
  const act = (task: Record<string, string>, cancelAt?: (output: string) => boolean) => {
    let child: ChildProcess | undefined;
    const onStart = (started: ChildProcess): void => {
      child = started;
      started.stdout?.on("data", (output: string) => cancelAt?.(output) && started.kill("SIGINT"));
    };
    const result = step({ ...inputs, ...task }, { onStart });
    return { result, cancel: () => child?.kill("SIGINT") };
  };
  const begin = async (prompt: string, task: Record<string, string> = {}) => {
    const begun = act({ prompt, ...task });
    await waitUntil(() => isAtWork(prompt));
    return begun;
  };

  const stopped = await begin("stopped");
  stopped.cancel();
  const { exitCode, outputs, annotations, log } = await stopped.result;
  expect(isAtWork("stopped")).toBe(false);
  expect(exitCode).toBe(1);
  expect(outputs, log).toMatchObject({ outcome: "cancelled" });
  expect(annotations).toEqual([expect.stringMatching(/^error Cancelled: .*stopped/)]);

  const kept = await begin("kept", { "on-cancel": "keep" });
  kept.cancel();
  const left = await kept.result;
  expect(left.outputs, left.log).toMatchObject({ outcome: "cancelled", status: "active" });

  const jobId = left.outputs["job-id"] ?? "";
  const waiting = act({ "job-id": jobId }, (line) => /Waiting up to/.test(line));
  expect((await waiting.result).outputs).toMatchObject({ outcome: "cancelled" });
  const late = await act({ "job-id": jobId, "timeout-minutes": "0.01" }).result;
  expect(late.outputs, late.log).toMatchObject({ outcome: "timed-out", status: "active" });
  expect(isAtWork("kept")).toBe(true);

  writeFileSync(join(runs, "gate"), "");
  const done = await act({ "job-id": jobId }).result;
  expect(done.outputs, done.log).toMatchObject({ outcome: "pr-created", "job-id": jobId });
  expect(docs.read(`agent/${jobId}`, "kept.md")).toBe("done");
  expect(docs.branches()).toEqual([`agent/${jobId}`]);
});
