import type { ChildProcess } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type CacheService, startCacheService } from "../support/cache-service.ts";
import { inputsFor, type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { hasSignals, type Step, step } from "../support/step.ts";
import { rows } from "../support/thorough.ts";
import { waitUntil } from "../support/wait-until.ts";

/** Runs one attempt of a step, and kills it when the service gets its `killAt`-th request in all. */
function attempt(
  runAttempt: number,
  service: ScriptedService,
  cache: CacheService,
  {
    inputs = {},
    onStart,
  }: { inputs?: Record<string, string>; onStart?: (kill: () => void, child: ChildProcess) => void } = {},
): Promise<Step> {
  return step(inputsFor(service, inputs), {
    environment: {
      ...cache.environment,
      GITHUB_RUN_ID: "99",
      GITHUB_RUN_ATTEMPT: String(runAttempt),
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "__owner_action",
    },
    ...(onStart && { onStart: (child) => onStart(() => void child.kill("SIGKILL"), child) }),
  });
}

const posts = (service: ScriptedService) => service.requests.filter((request) => request.startsWith("POST"));

describe.each(rows(["v2", "v1"] as const, 1))("with a cache service of %s", (protocol) => {
  test("a step that does not wait ends when its job is remembered, and a re-run waits for that job", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 3000 }) });
    await using cache = await startCacheService(protocol);
    const first = await attempt(1, service, cache, { inputs: { wait: "false" } });
    expect(first.outputs).toMatchObject({ outcome: "started", "job-origin": "created" });
    expect(first.annotations).toEqual([]);
    const second = await attempt(2, service, cache);
    expect(second.annotations).toEqual([]);
    expect(second.outputs).toMatchObject({
      outcome: "pr-created",
      "job-origin": "resumed",
      "job-id": first.outputs["job-id"],
    });
    expect(posts(service)).toHaveLength(1);
  });
});

test.skipIf(!hasSignals)("a re-run waits for the job of a step that was killed after it saved the job", async () => {
  await using service = await startScriptedService({ script: () => ({ durationMs: 8000 }) });
  let kill = (): void => {};
  await using cache = await startCacheService("v2");
  const first = attempt(1, service, cache, {
    onStart: (killChild) => {
      kill = killChild;
    },
  });
  await waitUntil(() => cache.entries.some(({ key, isCommitted }) => isCommitted && /-1-job-/.test(key)));
  kill();
  expect((await first).exitCode).toBe(null);
  const { outputs } = await attempt(2, service, cache);
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
  expect(posts(service)).toHaveLength(1);
});

test.skipIf(!hasSignals).each(["SIGINT", "SIGTERM"] as const)(
  "%s right after the create does not cut the save of the job short",
  async (signal) => {
    let cancel = (): void => {};
    await using service = await startScriptedService({
      script: () => ({ durationMs: 60_000 }),
      fault: (n) => {
        if (n === 1) cancel();
        return false;
      },
    });
    // The save of an entry takes three answers.
    await using cache = await startCacheService("v2", { delayMs: 400 });
    const { outputs } = await attempt(1, service, cache, {
      onStart: (_kill, child) => {
        cancel = () => void child.kill(signal);
      },
    });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": expect.stringMatching(/^job_/) });
    expect(cache.entries.map(({ key, isCommitted }) => `${key.split("-")[4]} ${isCommitted}`)).toEqual([
      "pending true",
      "job true",
    ]);
  },
);

test("a re-run sends nothing while the cache service fails", async () => {
  await using service = await startScriptedService();
  await using cache = await startCacheService("v1", {
    fault: (_request, _n, response) => Boolean(response.writeHead(401).end("denied ##[error]x")),
  });
  const { outputs, annotations, log } = await attempt(2, service, cache);
  expect(outputs.outcome).toBe("error");
  expect(annotations).toEqual([expect.stringMatching(/^error Cannot read what an earlier attempt started: /)]);
  expect(posts(service)).toEqual([]);
  expect(log).not.toContain("##[error]");
});
