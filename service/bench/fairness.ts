import { DocsRepository } from "../../tools/docs-repository.ts";
import type { Measurement } from "./measurement.ts";
import { send, startService } from "./service-process.ts";

/** Measures how long one job of a project waits behind 30 of another one, with one agent that takes a second. */
export async function measure(): Promise<Measurement[]> {
  using docs = new DocsRepository();
  const projects = ["--project", "a", "--project", "b"];
  const agent = ["--agent", "sleep 1", "--sandbox", "none", "--agents", "1"];
  await using service = await startService(["--repository", docs.path, ...projects, ...agent]);
  for (let index = 0; index < 30; index++) await send(service.url, "a/job", "Go on");
  const createdAt = performance.now();
  const { job } = await send(service.url, "b/job", "Go on");
  while (!service.lines.some((line) => line.includes(`${job.id}: turn 31 started`)))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - createdAt) / 1000;
  return [
    {
      what: "wait of a job behind 30 of another project, with one agent of 1 s",
      before: "30 s",
      now: `${seconds.toFixed(1)} s`,
    },
  ];
}
