import { setTimeout } from "node:timers/promises";
import { createApi } from "../src/api/jobs-endpoints.ts";
import { singleKey } from "../src/http/authentication.ts";
import { dispatch } from "../src/http/dispatch.ts";
import { listen } from "../src/http/listen.ts";
import { Jobs } from "../src/jobs/jobs.ts";
import type { RunningTurn } from "../src/model.ts";
import { PerProject } from "../src/per-project.ts";
import { openSqliteStore } from "../src/store/sqlite/open-store.ts";
import type { Measurement } from "./measurement.ts";

const clients = 1000;
const key = "mint_bench";

/** Measures clients that prefer to wait for the end of their jobs. They run in the process of the API, so the memory is that of both. */
export async function measure(): Promise<Measurement[]> {
  await using store = openSqliteStore(":memory:");
  const jobs = new Jobs({ store, projects: PerProject.same({ repositoryName: "docs", model: "large" }) });
  let requests = 0;
  const api = createApi({ engine: jobs, authenticator: singleKey(key, ["docs"]), maxWaiting: clients });
  const serve = dispatch({ ...api, log: console.error });
  await using service = await listen((request, response) => {
    requests++;
    serve(request, response);
  });
  const turns = new Map<string, RunningTurn>();
  for (let number = 0; number < clients; number++) {
    // Not counted in one hour, which would be too many for a project.
    await store.jobs.add({ id: `job_${number}`, project: "docs", createdAt: number * 3_600_000 }, "Go on");
    const turn = await store.runningTurns.startNext();
    if (turn !== undefined) turns.set(turn.job, turn);
  }
  const get = async (id: string, prefer?: string): Promise<{ status: string; at: number }> => {
    const headers = { authorization: `Bearer ${key}`, ...(prefer !== undefined && { prefer }) };
    const response = await fetch(`${service.url}/v2/agent/docs/job/${id}`, { headers });
    const { status } = (await response.json()) as { status: string };
    return { status, at: performance.now() };
  };
  const before = process.memoryUsage().rss;
  const answers = [...turns.keys()].map(async (id) => {
    for (;;) {
      const answer = await get(id, "wait=25");
      if (answer.status !== "active") return { id, ...answer };
    }
  });
  while (requests < clients) await setTimeout(50);
  await setTimeout(1000);
  const megabytes = (process.memoryUsage().rss - before) / 1e6;
  const startedAt = performance.now();
  await get("job_0");
  const otherMs = performance.now() - startedAt;
  const endedAt = new Map<string, number>();
  for (const turn of turns.values()) {
    await store.runningTurns.finish(turn, "completed", 0);
    endedAt.set(turn.job, performance.now());
    // A hundred jobs a second.
    await setTimeout(10);
  }
  const delays = (await Promise.all(answers)).map(({ id, at }) => at - (endedAt.get(id) ?? 0)).sort((a, b) => a - b);
  const worst = Math.round(delays.at(-1) ?? 0);
  const median = (delays[Math.floor(delays.length / 2)] ?? 0).toFixed(1);
  return [
    {
      what: `from the end of a job to the answer, ${clients} clients with \`Prefer: wait=25\``,
      before: "up to the poll interval, 15 s at most by default",
      now: `median ${median} ms, longest ${worst} ms; ${requests} requests; ${Math.round((megabytes * 1000) / clients)} kB of memory each, client and service; another request meanwhile ${Math.round(otherMs)} ms`,
    },
  ];
}
