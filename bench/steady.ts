import { createApi } from "../src/service/http/api.ts";
import { listen } from "../src/service/http/listen.ts";
import { ScriptedEngine } from "../test/support/scripted-engine.ts";
import { inMemoryRateLimiters } from "../test/support/sliding-window-rate-limiter.ts";
import { mainFile, stepEnvironment } from "../tools/runner.ts";
import { runProgram, withPreload } from "./process.ts";
import { apiKey, scratchFolder } from "./scratch.ts";

/** What a step holds after so many polls: what is alive after a full collection, and what the machine sees. */
export interface SteadyRow {
  polls: number;
  heapKib: number;
  residentKib: number;
}

const reportMemory = `
import fs from "node:fs";
setInterval(() => {
  gc();
  const { heapUsed, rss } = process.memoryUsage();
  fs.writeSync(3, heapUsed + " " + rss + "\\n");
}, 100).unref();`;

/** One step that polls as fast as it can until the last mark, and is asked for its memory on the way. */
export async function measureSteadyState(marks: readonly number[]): Promise<SteadyRow[]> {
  const total = Math.max(...marks);
  let polls = 0;
  let isEnded = false;
  const engine = new ScriptedEngine({ script: () => ({ durationMs: 1 }), now: () => (isEnded ? 2 : 0) });
  const api = createApi({
    engine,
    rateLimiters: inMemoryRateLimiters(),
    apiKey,
    projects: ["bench"],
    log: console.error,
  });
  await using service = await listen((request, response) => {
    // A little beyond the last mark, so that a sample is taken there.
    if (request.method === "GET" && ++polls > total * 1.05) isEnded = true;
    api(request, response);
  });
  const interval = { "poll-interval-seconds": "0.0001", "max-poll-interval-seconds": "0.0001" };
  const inputs = { "base-url": service.url, "project-id": "bench", "api-key": apiKey, prompt: "Go on", ...interval };
  using scratch = scratchFolder();
  const { variables } = stepEnvironment({ inputs, folder: scratch.path });

  const rows: SteadyRow[] = [];
  const program = withPreload({ args: [mainFile], environment: variables }, reportMemory, ["--expose-gc"]);
  const { exitCode } = await runProgram(program, (line) => {
    const [heap = 0, resident = 0] = line.split(" ").map(Number);
    const mark = marks[rows.length];
    if (mark !== undefined && polls >= mark) rows.push({ polls, heapKib: heap / 1024, residentKib: resident / 1024 });
  });
  if (exitCode !== 0) throw new Error(`the step that polls ended with ${exitCode}`);
  return rows;
}
