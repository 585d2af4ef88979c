import { join } from "node:path";
import { createApi } from "../service/src/api/jobs-endpoints.ts";
import { singleKey } from "../service/src/http/authentication.ts";
import { dispatch } from "../service/src/http/dispatch.ts";
import { listen } from "../service/src/http/listen.ts";
import { hourlyLimit } from "../service/src/store/hourly-limit.ts";
import { ScriptedEngine } from "../service/test/support/scripted-engine.ts";
import { runStep } from "../tools/runner.ts";
import { apiKey, scratchFolder } from "./scratch.ts";

export interface FleetResult {
  processes: number;
  /** Steps with the outcome pr-created, each with its own job. */
  withPullRequest: number;
  /** Steps that the rate limit rejected, and that reported that no job was started. */
  rejected: number;
  /** Jobs that the service created. */
  jobs: number;
  /** Unexpected results, as text. */
  errors: string[];
  /** Requests per second, from the first request on. */
  perSecond: number[];
}

/** One project with more steps than the rate limit allows, and one with fewer. */
export const crowded = { project: "bench-crowded", processes: hourlyLimit + 10 };
export const calm = { project: "bench-calm", processes: 90 };
/** Longer than two cores take to start all processes. */
export const jobSeconds = 45;

/** Runs many processes of `dist` at once, with the default intervals, against the service with its rate limits. */
export async function measureFleet(): Promise<FleetResult> {
  const engine = new ScriptedEngine({ script: () => ({ durationMs: jobSeconds * 1000 }) });
  const api = createApi({ engine, authenticator: singleKey(apiKey, [crowded.project, calm.project]) });
  const serve = dispatch({ ...api, log: console.error });
  const arrivals: number[] = [];
  await using service = await listen((request, response) => {
    arrivals.push(performance.now());
    serve(request, response);
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

  const errors: string[] = [];
  const ids = new Set<string>();
  let rejected = 0;
  for (const { exitCode, outputs, log } of results) {
    const { outcome, "job-id": id = "" } = outputs;
    if (exitCode === 0 && outcome === "pr-created" && id !== "" && !ids.has(id)) ids.add(id);
    else if (exitCode === 1 && outcome === "error" && id === "" && log.includes("No job was started")) rejected++;
    else errors.push(`a step exited with ${exitCode}, outcome ${outcome}, ${id || "no job"}`);
  }
  const jobs = engine.prompts.length;
  if (jobs !== ids.size) errors.push(`the service created ${jobs} jobs, but the steps returned ${ids.size}`);
  if (rejected !== crowded.processes - hourlyLimit) errors.push(`${rejected} steps were rejected`);

  const first = arrivals[0] ?? 0;
  const perSecond: number[] = [];
  for (const arrival of arrivals) {
    const second = Math.floor((arrival - first) / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  return {
    processes: projects.length,
    withPullRequest: ids.size,
    rejected,
    jobs,
    errors,
    perSecond: Array.from(perSecond, (count) => count ?? 0),
  };
}
