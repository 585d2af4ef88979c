import { createApi } from "../service/src/api/jobs-endpoints.ts";
import { singleKey } from "../service/src/http/authentication.ts";
import { dispatch } from "../service/src/http/dispatch.ts";
import { listen } from "../service/src/http/listen.ts";
import type { Engine } from "../service/src/jobs/engine.ts";
import type { JobRecord } from "../service/src/model.ts";
import { type CacheService, startCacheService } from "../test/support/cache-service.ts";
import { startGitHub } from "../test/support/github-server.ts";
import { commentEnvironment, commentInputs } from "../test/support/payload.ts";
import { mainFile, stepEnvironment } from "../tools/runner.ts";
import { type Program, peakMemoryKib, runProgram } from "./process.ts";
import type { Reference } from "./reference.ts";
import { apiKey, scratchFolder } from "./scratch.ts";
import { median, quantile } from "./statistics.ts";

export interface Peer {
  name: string;
  file: string;
}

/** The cost of one scenario, relative to bare Node.js in the same round. */
export interface StartUpRow {
  name: string;
  medianMs: number;
  ratio: number;
  /** First and last decile of the ratio over all rounds. */
  spread: [number, number];
  /** Milliseconds from the start to the first request to the service, and from there to the last; `undefined` without any. */
  requests: { firstMs: number; restMs: number } | undefined;
  memoryKib: number;
  memoryRatio: number;
}

/** Completes a job at its second poll, whenever that is. */
class TwoPollEngine implements Engine {
  /** Monotonic times of the requests since the last reset. */
  requestTimes: number[] = [];
  readonly #polls = new Map<string, number>();
  #jobs = 0;

  async create(): Promise<JobRecord> {
    this.requestTimes.push(performance.now());
    const id = `job_${++this.#jobs}`;
    this.#polls.set(id, 0);
    return record(id, "active");
  }

  message(projectId: string, jobId: string): Promise<JobRecord | undefined> {
    return this.get(projectId, jobId);
  }

  async get(_projectId: string, jobId: string): Promise<JobRecord | undefined> {
    this.requestTimes.push(performance.now());
    const polls = this.#polls.get(jobId);
    if (polls === undefined) return undefined;
    this.#polls.set(jobId, polls + 1);
    return record(jobId, polls + 1 >= 2 ? "completed" : "active");
  }
}

function record(id: string, status: "active" | "completed"): JobRecord {
  const repository = "https://github.com/example/docs";
  return {
    id,
    status,
    source: { repository, ref: "agent/1" },
    model: "scripted",
    prLink: status === "completed" ? `${repository}/pull/1` : null,
    createdAt: "2026-01-01T00:00:00Z",
    archivedAt: null,
  };
}

interface Scenario {
  name: string;
  program: (round: number) => Program;
  /** `undefined` accepts any. */
  exitCode: number | null | undefined;
}

/** Runs every scenario once per round, in rotating order, so that other load on the machine affects all of them alike. */
export async function measureStartUp(options: {
  rounds: number;
  memoryRounds: number;
  peers: readonly Peer[];
  /** An earlier bundle, which also runs the whole step. */
  reference: Reference;
  onProgress: (text: string) => void;
}): Promise<StartUpRow[]> {
  const projects = Array.from({ length: options.rounds + options.memoryRounds + 1 }, (_, round) => `bench-${round}`);
  const engine = new TwoPollEngine();
  const api = createApi({ engine, authenticator: singleKey(apiKey, projects) });
  await using service = await listen(dispatch({ ...api, log: console.error }));
  await using github = await startGitHub();
  await using cache = await startCacheService("v2");
  using scratch = scratchFolder();
  const scenarios = scenariosFor(service.url, github.url, cache, scratch.path, options);

  const durations = scenarios.map((): number[] => []);
  const requests = scenarios.map((): { firstMs: number; restMs: number }[] => []);
  // The first round only warms up the file cache.
  for (let round = 0; round <= options.rounds; round++) {
    options.onProgress(`start-up, round ${round} of ${options.rounds}`);
    for (let offset = 0; offset < scenarios.length; offset++) {
      const index = (offset + round) % scenarios.length;
      const scenario = scenarios[index] as Scenario;
      const program = scenario.program(round);
      engine.requestTimes = [];
      const startedAt = performance.now();
      const { durationMs, exitCode } = await runProgram(program);
      const [first, ...rest] = engine.requestTimes;
      if (scenario.exitCode !== undefined && exitCode !== scenario.exitCode)
        throw new Error(`${scenario.name} exited with ${exitCode} instead of ${scenario.exitCode}`);
      if (round === 0) continue;
      durations[index]?.push(durationMs);
      if (first !== undefined) {
        requests[index]?.push({ firstMs: first - startedAt, restMs: (rest.at(-1) ?? first) - first });
      }
    }
  }
  const memory = scenarios.map((): number[] => []);
  for (let round = 0; round < options.memoryRounds; round++) {
    options.onProgress(`memory, round ${round + 1} of ${options.memoryRounds}`);
    for (const [index, scenario] of scenarios.entries())
      memory[index]?.push(await peakMemoryKib(scenario.program(options.rounds + 1 + round)));
  }

  const bare = durations[0] ?? [];
  const bareMemory = median(memory[0] ?? []);
  return scenarios.map(({ name }, index) => {
    const ratios = (durations[index] ?? []).map((duration, round) => duration / (bare[round] ?? Number.NaN));
    const memoryKib = median(memory[index] ?? []);
    return {
      name,
      medianMs: median(durations[index] ?? []),
      ratio: median(ratios),
      spread: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
      requests: medianRequests(requests[index] ?? []),
      memoryKib,
      memoryRatio: memoryKib / bareMemory,
    };
  });
}

function medianRequests(all: readonly { firstMs: number; restMs: number }[]): StartUpRow["requests"] {
  if (all.length === 0) return undefined;
  return { firstMs: median(all.map(({ firstMs }) => firstMs)), restMs: median(all.map(({ restMs }) => restMs)) };
}

function scenariosFor(
  serviceUrl: string,
  githubUrl: string,
  cache: CacheService,
  folder: string,
  { peers, reference }: { peers: readonly Peer[]; reference: Reference },
): Scenario[] {
  const polls = { "poll-interval-seconds": "0.001", "max-poll-interval-seconds": "0.001" };
  const inputs = (round: number) => ({
    "base-url": serviceUrl,
    "project-id": `bench-${round}`,
    "api-key": apiKey,
    prompt: "Update the quickstart",
    ...polls,
  });
  const step = (file: string, with_: Record<string, string>, environment: Record<string, string> = {}): Program => ({
    args: [file],
    environment: stepEnvironment({ inputs: with_, folder, environment }).variables,
  });
  const comment = (text: string) =>
    commentEnvironment(folder, githubUrl, { id: 1, text, author: { login: "writer" }, owner: "acme", repo: "docs" });
  // A key of the cache can be used once, and the run is a part of it.
  let runs = 0;
  const cacheEnvironment = (round: number) => ({
    ...cache.environment,
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_RUN_ID: `${round}-${++runs}`,
    GITHUB_RUN_ATTEMPT: "1",
    RUNNER_TEMP: folder,
  });
  return [
    { name: "bare `node -e 0`", program: () => ({ args: ["-e", "0"], environment: {} }), exitCode: 0 },
    { name: "create, 2 polls, outputs, summary", program: (round) => step(mainFile, inputs(round)), exitCode: 0 },
    {
      name: `the same with the bundle of ${reference.name}`,
      program: (round) => step(reference.file, inputs(round)),
      exitCode: 0,
    },
    {
      name: "the same with a cache service, which is told before the create",
      program: (round) => step(mainFile, inputs(round), cacheEnvironment(round)),
      exitCode: 0,
    },
    {
      name: `with a cache service, the bundle of ${reference.name}`,
      program: (round) => step(reference.file, inputs(round), cacheEnvironment(round)),
      exitCode: 0,
    },
    { name: "early exit with invalid inputs", program: () => step(mainFile, {}), exitCode: 1 },
    {
      name: "comment mode, comment without the trigger phrase",
      program: (round) => step(mainFile, { ...inputs(round), ...commentInputs }, comment("Thanks!")),
      exitCode: 0,
    },
    {
      name: "comment mode, permission, create, 2 polls, no reply",
      program: (round) =>
        step(mainFile, { ...inputs(round), ...commentInputs, reply: "false" }, comment("/agent fix the links")),
      exitCode: 0,
    },
    ...peers.map(({ name, file }) => ({
      name: `${name}: early exit without inputs`,
      program: () => step(file, {}, { GITHUB_REPOSITORY: "acme/docs", RUNNER_TEMP: folder }),
      exitCode: undefined,
    })),
  ];
}
