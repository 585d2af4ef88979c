import { createApi } from "../src/service/http/api.ts";
import { listen } from "../src/service/http/listen.ts";
import type { Engine, JobRecord } from "../src/service/jobs/engine.ts";
import { startGitHub } from "../test/support/github-server.ts";
import { commentEnvironment, commentInputs } from "../test/support/payload.ts";
import { inMemoryRateLimiters } from "../test/support/sliding-window-rate-limiter.ts";
import { mainFile, stepEnvironment } from "../tools/runner.ts";
import { type Program, peakMemoryKib, runProgram } from "./process.ts";
import { apiKey, scratchFolder } from "./scratch.ts";
import { median, quantile } from "./statistics.ts";

export interface Peer {
  name: string;
  file: string;
}

/** What one way of starting costs, as multiples of bare Node started beside it. */
export interface StartUpRow {
  name: string;
  medianMs: number;
  ratio: number;
  /** The ratio's first and last decile over all rounds. */
  spread: [number, number];
  memoryKib: number;
  memoryRatio: number;
}

/** A job that has ended at the second poll, whenever that comes. */
class TwoPollEngine implements Engine {
  readonly #polls = new Map<string, number>();
  #jobs = 0;

  create(): JobRecord {
    const id = `job_${++this.#jobs}`;
    this.#polls.set(id, 0);
    return record(id, "active");
  }

  message(projectId: string, jobId: string): JobRecord | undefined {
    return this.get(projectId, jobId);
  }

  get(_projectId: string, jobId: string): JobRecord | undefined {
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

interface Arm {
  name: string;
  program: (round: number) => Program;
  exitCode: number | null | undefined;
}

/** Starts every arm once a round, in turns, so that whatever else the machine does meets all of them alike. */
export async function measureStartUp(options: {
  rounds: number;
  memoryRounds: number;
  peers: readonly Peer[];
  onProgress: (text: string) => void;
}): Promise<StartUpRow[]> {
  const projects = Array.from({ length: options.rounds + options.memoryRounds + 1 }, (_, round) => `bench-${round}`);
  const api = createApi({
    engine: new TwoPollEngine(),
    rateLimiters: inMemoryRateLimiters(),
    apiKey,
    projects,
    log: console.error,
  });
  await using service = await listen(api);
  await using github = await startGitHub();
  using scratch = scratchFolder();
  const arms = armsOf(service.url, github.url, scratch.path, options.peers);

  const durations = arms.map((): number[] => []);
  // The first round only warms the machine's file cache.
  for (let round = 0; round <= options.rounds; round++) {
    options.onProgress(`start-up, round ${round} of ${options.rounds}`);
    for (let turn = 0; turn < arms.length; turn++) {
      const index = (turn + round) % arms.length;
      const arm = arms[index] as Arm;
      const { durationMs, exitCode } = await runProgram(arm.program(round));
      if (arm.exitCode !== undefined && exitCode !== arm.exitCode)
        throw new Error(`${arm.name} ended with ${exitCode} instead of ${arm.exitCode}`);
      if (round > 0) durations[index]?.push(durationMs);
    }
  }
  const memory = arms.map((): number[] => []);
  for (let round = 0; round < options.memoryRounds; round++) {
    options.onProgress(`memory, round ${round + 1} of ${options.memoryRounds}`);
    for (const [index, arm] of arms.entries())
      memory[index]?.push(await peakMemoryKib(arm.program(options.rounds + 1 + round)));
  }

  const bare = durations[0] ?? [];
  const bareMemory = median(memory[0] ?? []);
  return arms.map(({ name }, index) => {
    const ratios = (durations[index] ?? []).map((duration, round) => duration / (bare[round] ?? Number.NaN));
    const memoryKib = median(memory[index] ?? []);
    return {
      name,
      medianMs: median(durations[index] ?? []),
      ratio: median(ratios),
      spread: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
      memoryKib,
      memoryRatio: memoryKib / bareMemory,
    };
  });
}

function armsOf(serviceUrl: string, githubUrl: string, folder: string, peers: readonly Peer[]): Arm[] {
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
  return [
    { name: "bare `node -e 0`", program: () => ({ args: ["-e", "0"], environment: {} }), exitCode: 0 },
    { name: "create, 2 polls, outputs, summary", program: (round) => step(mainFile, inputs(round)), exitCode: 0 },
    { name: "early end on wrong inputs", program: () => step(mainFile, {}), exitCode: 1 },
    {
      name: "comment mode, a comment for somebody else",
      program: (round) => step(mainFile, { ...inputs(round), ...commentInputs }, comment("Thanks!")),
      exitCode: 0,
    },
    {
      name: "comment mode, permission, create, 2 polls, no reply",
      program: (round) =>
        step(mainFile, { ...inputs(round), ...commentInputs, reply: "false" }, comment("/agent mend the links")),
      exitCode: 0,
    },
    ...peers.map(({ name, file }) => ({
      name: `${name}: early end without inputs`,
      program: () => step(file, {}, { GITHUB_REPOSITORY: "acme/docs", RUNNER_TEMP: folder }),
      exitCode: undefined,
    })),
  ];
}
