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
  { inputs = {}, onStart }: { inputs?: Record<string, string>; onStart?: (kill: () => void) => void } = {},
): Promise<Step> {
  return step(inputsFor(service, inputs), {
    environment: {
      ...cache.environment,
      GITHUB_RUN_ID: "99",
      GITHUB_RUN_ATTEMPT: String(runAttempt),
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "__owner_action",
    },
    ...(onStart && { onStart: (child) => onStart(() => void child.kill("SIGKILL")) }),
  });
}

const posts = (service: ScriptedService) => service.requests.filter((request) => request.startsWith("POST"));

describe.each(rows(["v2", "v1"] as const, 1))("with a cache service of %s", (protocol) => {
  test("a re-run after a timeout waits for the same job", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 6000 }) });
    await using cache = await startCacheService(protocol);
    const first = await attempt(1, service, cache, { inputs: { "timeout-minutes": "0.03" } });
    expect(first.outputs).toMatchObject({ outcome: "timed-out", "job-origin": "created" });
    expect(first.annotations.at(-1)).toContain(
      "To wait for it, re-run this workflow run: nothing is sent again, unless the job fails.",
    );
    const second = await attempt(2, service, cache);
    expect(second.annotations).toEqual([]);
    expect(second.outputs).toMatchObject({
      outcome: "pr-created",
      "job-origin": "resumed",
      "job-id": first.outputs["job-id"],
    });
    expect(posts(service)).toHaveLength(1);
  }, 60_000);

  test("a re-run of a step that passed gives the same pull request", async () => {
    await using service = await startScriptedService();
    await using cache = await startCacheService(protocol);
    const first = await attempt(1, service, cache);
    const second = await attempt(2, service, cache);
    expect(second.outputs["pr-link"]).toBe(first.outputs["pr-link"]);
    expect(posts(service)).toHaveLength(1);
  }, 60_000);

  test("wait: false ends when the job is remembered", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 60_000 }) });
    await using cache = await startCacheService(protocol);
    const first = await attempt(1, service, cache, { inputs: { wait: "false" } });
    expect(first.outputs.outcome).toBe("started");
    expect(first.annotations).toEqual([]);
    const second = await attempt(2, service, cache, { inputs: { wait: "false" } });
    expect(second.outputs).toMatchObject({ outcome: "started", "job-id": first.outputs["job-id"] });
    expect(posts(service)).toHaveLength(1);
  }, 60_000);
});

test.skipIf(!hasSignals)(
  "a re-run waits for the job of a step that was killed after it saved the job",
  async () => {
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
  },
  60_000,
);

test("a cache service that fails does not hold up the job, and a re-run sends nothing while it fails", async () => {
  await using service = await startScriptedService();
  await using cache = await startCacheService("v1", {
    fault: (_request, _n, response) => Boolean(response.writeHead(401).end("denied ##[error]x")),
  });
  const first = await attempt(1, service, cache);
  expect(first.outputs.outcome).toBe("pr-created");
  expect(first.annotations).toEqual([expect.stringMatching(/^warning Cannot remember the job: /)]);
  const second = await attempt(2, service, cache);
  expect(second.outputs.outcome).toBe("error");
  expect(second.annotations).toEqual([expect.stringMatching(/^error Cannot read what an earlier attempt started: /)]);
  expect(posts(service)).toHaveLength(1);
  expect(first.log + second.log).not.toContain("##[error]");
}, 60_000);

test("two nights of a session: a job, and a follow-up to it", async () => {
  await using service = await startScriptedService();
  await using cache = await startCacheService("v2");
  const inputs = { session: "nightly-docs", "github-token": "" };
  const first = await attempt(1, service, cache, { inputs: { ...inputs, "on-rerun": "new" } });
  const second = await attempt(1, service, cache, { inputs: { ...inputs, "on-rerun": "new" } });
  expect(first.outputs["job-origin"]).toBe("created");
  expect(second.outputs).toMatchObject({ "job-origin": "continued", "job-id": first.outputs["job-id"] });
  expect(posts(service).map((request) => request.split("/").at(-1))).toEqual(["job", "message"]);
}, 60_000);
