import { type ApiOptions, createApi } from "../service/src/api/jobs-endpoints.ts";
import { singleKey } from "../service/src/http/authentication.ts";
import { dispatch } from "../service/src/http/dispatch.ts";
import { listen } from "../service/src/http/listen.ts";
import type { JobRecord } from "../service/src/model.ts";
import { type CacheService, startCacheService } from "../test/support/cache-service.ts";
import { startGitHub } from "../test/support/github-server.ts";
import { commentEnvironment, commentInputs } from "../test/support/payload.ts";
import { mainFile, stepEnvironment } from "../tools/runner.ts";
import { cpuOfChildrenMs, type Program, peakMemoryKib, runProgram } from "./process.ts";
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
  /** The CPU time of the process and of all that it starts, relative to bare Node.js; not a number except on Linux. */
  cpuRatio: number;
  /** Milliseconds from the start to the first request to the service, and from there to the last; `undefined` without any. */
  requests: { firstMs: number; restMs: number } | undefined;
  /** How much later than without a cache the first request is, in milliseconds; `undefined` without a cache. */
  delayMs: number | undefined;
  memoryKib: number;
  memoryRatio: number;
}

type Jobs = ApiOptions["engine"];

/** Completes a job at its second poll, whenever that is. */
class TwoPollEngine implements Jobs {
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

/** How long each answer of a slow cache takes, in milliseconds. */
const slowAnswerMs = 40;

interface Scenario {
  name: string;
  /** A program that runs before, and is not measured. */
  prepare?: (round: number) => Program;
  /** The scenario without a cache that the first request is compared with. */
  isLaterThan?: string;
  /** Default: all rounds. */
  maxRounds?: number;
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
  await using slowCache = await startCacheService("v2", { delayMs: slowAnswerMs });
  using scratch = scratchFolder();
  const scenarios = scenariosFor(service.url, github.url, { cache, slowCache }, scratch.path, options);

  const durations = scenarios.map((): number[] => []);
  const cpu = scenarios.map((): number[] => []);
  const requests = scenarios.map((): { firstMs: number; restMs: number }[] => []);
  // The first round only warms up the file cache.
  for (let round = 0; round <= options.rounds; round++) {
    options.onProgress(`start-up, round ${round} of ${options.rounds}`);
    for (let offset = 0; offset < scenarios.length; offset++) {
      const index = (offset + round) % scenarios.length;
      const scenario = scenarios[index] as Scenario;
      if (round > (scenario.maxRounds ?? round)) continue;
      if (scenario.prepare) await runProgram(scenario.prepare(round));
      const program = scenario.program(round);
      engine.requestTimes = [];
      const cpuBefore = cpuOfChildrenMs();
      const startedAt = performance.now();
      const { durationMs, exitCode } = await runProgram(program);
      const [first, ...rest] = engine.requestTimes;
      if (scenario.exitCode !== undefined && exitCode !== scenario.exitCode)
        throw new Error(`${scenario.name} exited with ${exitCode} instead of ${scenario.exitCode}`);
      if (round === 0) continue;
      durations[index]?.push(durationMs);
      cpu[index]?.push(cpuOfChildrenMs() - cpuBefore);
      if (first !== undefined) {
        requests[index]?.push({ firstMs: first - startedAt, restMs: (rest.at(-1) ?? first) - first });
      }
    }
  }
  const memory = scenarios.map((): number[] => []);
  for (let round = 0; round < options.memoryRounds; round++) {
    options.onProgress(`memory, round ${round + 1} of ${options.memoryRounds}`);
    for (const [index, { prepare, program, maxRounds = options.memoryRounds }] of scenarios.entries()) {
      if (round >= maxRounds) continue;
      if (prepare) await runProgram(prepare(options.rounds + 1 + round));
      memory[index]?.push(await peakMemoryKib(program(options.rounds + 1 + round)));
    }
  }

  const bare = durations[0] ?? [];
  const bareMemory = median(memory[0] ?? []);
  const firstMsOf = (name: string | undefined): number =>
    medianRequests(requests[scenarios.findIndex((one) => one.name === name)] ?? [])?.firstMs ?? Number.NaN;
  return scenarios.map(({ name, isLaterThan }, index) => {
    const ratios = (durations[index] ?? []).map((duration, round) => duration / (bare[round] ?? Number.NaN));
    const memoryKib = median(memory[index] ?? []);
    return {
      name,
      medianMs: median(durations[index] ?? []),
      ratio: median(ratios),
      spread: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
      cpuRatio: mean(cpu[index] ?? []) / mean(cpu[0] ?? []),
      requests: medianRequests(requests[index] ?? []),
      delayMs: isLaterThan === undefined ? undefined : firstMsOf(name) - firstMsOf(isLaterThan),
      memoryKib,
      memoryRatio: memoryKib / bareMemory,
    };
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function medianRequests(all: readonly { firstMs: number; restMs: number }[]): StartUpRow["requests"] {
  if (all.length === 0) return undefined;
  return { firstMs: median(all.map(({ firstMs }) => firstMs)), restMs: median(all.map(({ restMs }) => restMs)) };
}

function scenariosFor(
  serviceUrl: string,
  githubUrl: string,
  { cache, slowCache }: { cache: CacheService; slowCache: CacheService },
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
  const withCache = (file: string, round: number, { environment }: CacheService, attempt = 1): Program =>
    step(file, inputs(round), {
      ...environment,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_RUN_ID: String(attempt === 1 ? ++runs : runs),
      GITHUB_RUN_ATTEMPT: String(attempt),
      RUNNER_TEMP: folder,
    });
  const cached = (file: string, name: string): Scenario[] => {
    const exitCode = 0;
    const plain = `create, 2 polls, outputs, summary${name}`;
    const prepare = (round: number) => withCache(file, round, cache);
    const later = (attempt: number) => ({
      prepare,
      program: (round: number) => withCache(file, round, cache, attempt),
      exitCode,
    });
    const slow = (round: number) => withCache(file, round, slowCache);
    const slowName = `with a cache service that takes ${slowAnswerMs} ms for each answer${name}`;
    return [
      { name: plain, program: (round) => step(file, inputs(round)), exitCode },
      {
        name: `with a cache service, which is told before the create${name}`,
        program: prepare,
        exitCode,
        isLaterThan: plain,
      },
      { name: slowName, program: slow, exitCode, isLaterThan: plain },
      { name: `a re-run with a cache service${name}`, ...later(2) },
      { name: `attempt 10 with a cache service${name}`, ...later(10), maxRounds: 3 },
    ];
  };
  return [
    { name: "bare `node -e 0`", program: () => ({ args: ["-e", "0"], environment: {} }), exitCode: 0 },
    ...cached(mainFile, ""),
    ...cached(reference.file, `, the bundle of ${reference.name}`),
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
