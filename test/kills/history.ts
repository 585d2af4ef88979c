import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../service/test/chaos/random.ts";
import { readLog } from "../../tools/commands.ts";
import { runStep, type StepResult } from "../../tools/runner.ts";
import { type CacheService, startCacheService } from "../support/cache-service.ts";
import { startGitHub } from "../support/github-server.ts";
import { commentEnvironment, commentInputs } from "../support/payload.ts";
import { inputsFor } from "../support/scripted-service.ts";
import { GitHubRecord, runnerName } from "./github-record.ts";
import { killTree, MomentWatch } from "./moment.ts";
import { type Pass, startProxy } from "./proxy.ts";
import type { Scenario } from "./scenario.ts";
import type { Started, TestedService } from "./services.ts";

/** An attempt that was run, and what the service had started when it ended. */
export interface Attempt extends StepResult {
  number: number;
  started: Started;
  /** The annotations, as `level title: text`. */
  annotations: string[];
  /** Milliseconds from its cancellation to its end; `undefined` if it was not cancelled. */
  cancelledForMs: number | undefined;
}

export interface HistoryRun {
  /** What an earlier run has started. */
  before: Started;
  attempts: Attempt[];
}

/** Runs a history: the real bundle as the runner runs it, with the services of GitHub and the agents on loopback. */
export async function runHistory(scenario: Scenario, service: TestedService, random: Random): Promise<HistoryRun> {
  const { mode, cache, attempts: ends, ending, delays, hasEarlierRun } = scenario;
  const folder = mkdtempSync(join(tmpdir(), "kills-"));
  const watch = new MomentWatch();
  let isSlow = false;
  const passWith =
    (latestMs: number): Pass =>
    async () => {
      watch.pass();
      if (isSlow && random.next() < 0.5) await sleep(random.between(0, latestMs));
    };
  const record = new GitHubRecord(random, { ...scenario, isReadable: scenario.isRecordReadable });
  await using github = await startGitHub(record.fault);
  const access = cache.access === "absent" ? "none" : cache.access;
  await using written = await startCacheService(cache.protocol);
  await using cacheService = await startCacheService(cache.protocol, { access });
  await using serviceProxy = await startProxy(service.url, passWith(delays.serviceMs));
  await using githubProxy = await startProxy(github.url, passWith(0));
  await using cacheProxy = await startProxy(cacheService.url, passWith(delays.cacheMs));

  const run = async (number: number, runId: string, comment: number, offered: Record<string, string>) => {
    const own = join(folder, `${runId}-${number}`);
    mkdirSync(join(own, "temp"), { recursive: true });
    const end = runId === "99" ? ends[number - 1] : undefined;
    const isComment = mode === "comment";
    const event = { id: comment, text: "/agent fix it", author: { login: "writer" } };
    const inputs = {
      "project-id": service.project,
      "github-token": commentInputs["github-token"],
      ...(mode === "session" && { session: "nightly" }),
      ...(isComment && commentInputs),
    };
    isSlow = runId === "99" && number === 1;
    let cancelledForMs: number | undefined;
    const result = await runStep({
      folder: own,
      inputs: inputsFor(serviceProxy, inputs),
      environment: {
        ...runnerEnvironment(join(own, "temp")),
        ...(isComment && commentEnvironment(own, githubProxy.url, event)),
        GITHUB_SERVER_URL: "https://github.com",
        GITHUB_API_URL: githubProxy.url,
        GITHUB_RUN_ID: runId,
        GITHUB_RUN_ATTEMPT: String(number),
        ...offered,
      },
      onStart: (child) => {
        const endIt = (): void => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          if (ending === "kill tree") killTree(child.pid ?? 0);
          else if (ending === "kill") child.kill("SIGKILL");
          else {
            const cancelledAt = performance.now();
            child.once("exit", () => {
              cancelledForMs = performance.now() - cancelledAt;
            });
            cancel(child);
          }
        };
        watch.begin(end === "never started" ? undefined : end, endIt);
      },
    });
    return { ...result, number, annotations: annotationsOf(result.log), started: service.started(), cancelledForMs };
  };

  try {
    if (hasEarlierRun) {
      const earlier = await run(1, "98", 76, written.environment);
      if (earlier.outputs.outcome !== "pr-created") throw new Error(`the earlier run failed: ${earlier.log}`);
      cacheService.entries.push(...written.entries);
    }
    const offered = cache.access === "absent" ? {} : environmentThrough(cacheService, cacheProxy.url);
    const before = service.started();
    const attempts: Attempt[] = [];
    for (const [index, end] of ends.entries()) {
      record.add(end === "never started" ? "not started" : "running");
      if (end !== "never started") attempts.push(await run(index + 1, "99", 77, offered));
    }
    return { before, attempts };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Sends the signals of a runner that cancels a step. */
function cancel(child: ChildProcess): void {
  child.kill("SIGINT");
  const later = [setTimeout(() => child.kill("SIGTERM"), 7500), setTimeout(() => child.kill("SIGKILL"), 10_000)];
  child.once("exit", () => later.forEach(clearTimeout));
}

function runnerEnvironment(temp: string): Record<string, string> {
  return {
    GITHUB_EVENT_NAME: "workflow_dispatch",
    GITHUB_JOB: "docs",
    GITHUB_ACTION: "__owner_action",
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_REPOSITORY_ID: "1",
    GITHUB_WORKFLOW_REF: "acme/docs/.github/workflows/docs.yml@refs/heads/main",
    GITHUB_SHA: "1".repeat(40),
    RUNNER_NAME: runnerName,
    RUNNER_TEMP: temp,
  };
}

function environmentThrough({ environment, url }: CacheService, proxy: string): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value.replaceAll(url, proxy)]));
}

function annotationsOf(log: string): string[] {
  return readLog(log).flatMap((line) =>
    line.kind === "command" && ["notice", "warning", "error"].includes(line.name)
      ? [`${line.name} ${line.properties.title}: ${line.data}`]
      : [],
  );
}
