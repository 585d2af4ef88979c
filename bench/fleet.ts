import { join } from "node:path";
import { createApi } from "../src/service/http/api.ts";
import { listen } from "../src/service/http/listen.ts";
import { hourlyLimit } from "../src/service/http/rate-limiter.ts";
import { ScriptedEngine } from "../test/support/scripted-engine.ts";
import { inMemoryRateLimiters } from "../test/support/sliding-window-rate-limiter.ts";
import { runStep } from "../tools/runner.ts";
import { apiKey, scratchFolder } from "./scratch.ts";

export interface FleetResult {
  processes: number;
  /** Steps that ended with a pull request, each with a job of its own. */
  withPullRequest: number;
  /** Steps that the hourly limit turned away: they say that no job was started. */
  turnedAway: number;
  /** Jobs that the service has started, by its own count. */
  jobs: number;
  /** Whatever is not as it should be, in words. */
  faults: string[];
  /** Requests in each second from the first one on. */
  perSecond: number[];
}

/** More steps than a project may create in an hour, and fewer. */
export const crowded = { project: "bench-crowded", processes: hourlyLimit + 10 };
export const calm = { project: "bench-calm", processes: 90 };
/** Longer than it takes two cores to start all processes. */
export const jobSeconds = 45;

/** Real processes of `dist`, all at once and with the intervals that users have, against the service with its limits. */
export async function measureFleet(): Promise<FleetResult> {
  const engine = new ScriptedEngine({ script: () => ({ durationMs: jobSeconds * 1000 }) });
  const api = createApi({
    engine,
    rateLimiters: inMemoryRateLimiters(),
    apiKey,
    projects: [crowded.project, calm.project],
    log: console.error,
  });
  const arrivals: number[] = [];
  await using service = await listen((request, response) => {
    arrivals.push(performance.now());
    api(request, response);
  });
  const projects = [crowded, calm].flatMap(({ project, processes }) =>
    Array.from({ length: processes }, () => project),
  );
  using scratch = scratchFolder();
  const results = await Promise.all(
    projects.map((project, index) =>
      runStep({
        inputs: {
          "base-url": service.url,
          "project-id": project,
          "api-key": apiKey,
          prompt: "Update the quickstart",
          "timeout-minutes": "3",
        },
        folder: join(scratch.path, String(index)),
      }),
    ),
  );

  const faults: string[] = [];
  const ids = new Set<string>();
  let turnedAway = 0;
  for (const { exitCode, outputs, log } of results) {
    const { outcome, "job-id": id = "" } = outputs;
    if (exitCode === 0 && outcome === "pr-created" && id !== "" && !ids.has(id)) ids.add(id);
    else if (exitCode === 1 && outcome === "error" && id === "" && log.includes("No job was started")) turnedAway++;
    else faults.push(`a step ended with ${exitCode}, ${outcome}, ${id || "no job"}`);
  }
  const jobs = engine.prompts.length;
  if (jobs !== ids.size) faults.push(`${jobs} jobs were started, and ${ids.size} handed on`);
  if (turnedAway !== crowded.processes - hourlyLimit) faults.push(`${turnedAway} steps were turned away`);

  const first = arrivals[0] ?? 0;
  const perSecond: number[] = [];
  for (const arrival of arrivals) {
    const second = Math.floor((arrival - first) / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  return {
    processes: projects.length,
    withPullRequest: ids.size,
    turnedAway,
    jobs,
    faults,
    perSecond: Array.from(perSecond, (count) => count ?? 0),
  };
}
