import { createApi } from "../service/src/api/jobs-endpoints.ts";
import { singleKey } from "../service/src/http/authentication.ts";
import { dispatch } from "../service/src/http/dispatch.ts";
import { listen } from "../service/src/http/listen.ts";
import { ScriptedEngine } from "../service/test/support/scripted-engine.ts";
import { mainFile, stepEnvironment } from "../tools/runner.ts";
import { runProgram, withPreload } from "./process.ts";
import { apiKey, scratchFolder } from "./scratch.ts";

/** The memory of a step after a number of polls: the heap after a full garbage collection, and the resident set. */
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

/** Runs one step that polls as fast as it can, and samples its memory at each mark (in polls). */
export async function measureSteadyState(marks: readonly number[]): Promise<SteadyRow[]> {
  const total = Math.max(...marks);
  let polls = 0;
  let isCompleted = false;
  const engine = new ScriptedEngine({ script: () => ({ durationMs: 1 }), now: () => (isCompleted ? 2 : 0) });
  const api = createApi({ engine, authenticator: singleKey(apiKey, ["bench"]) });
  const serve = dispatch({ ...api, log: console.error });
  await using service = await listen((request, response) => {
    // Beyond the last mark, so that a sample is taken there.
    if (request.method === "GET" && ++polls > total * 1.05) isCompleted = true;
    // Held polls would be few.
    delete request.headers.prefer;
    serve(request, response);
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
  if (exitCode !== 0) throw new Error(`the polling step exited with ${exitCode}`);
  return rows;
}
