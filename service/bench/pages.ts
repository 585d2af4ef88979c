import { type AgentService, startAgentService } from "./agent-service.ts";
import type { Measurement } from "./measurement.ts";

const concurrentPages = 50;

/** Measures how long the poll of a job takes while pages are rendered, and how much memory that takes. */
export async function measure(): Promise<Measurement[]> {
  return [...(await measureLongDiff()), ...(await measureLongPrompts())];
}

async function measureLongDiff(): Promise<Measurement[]> {
  await using service = await startAgentService("seq 60000 > lines.md");
  const { job } = await service.send("job", "Write many lines");
  const { prLink } = await service.wait(job.id);
  const { longestPollMs, pageMs } = await readPages(service, prLink ?? "", job.id);
  return [
    {
      what: `longest \`GET\` of a job during ${concurrentPages} page requests at once, diff of 60,000 lines`,
      before: "14 s",
      now: `${longestPollMs} ms (all pages sent after ${pageMs} ms)`,
    },
  ];
}

async function measureLongPrompts(): Promise<Measurement[]> {
  await using service = await startAgentService("date +%N > time.md");
  const prompt = "word ".repeat(6 * 1024 * 1024);
  const { job: other } = await service.send("job", "Write the time");
  const { job } = await service.send("job", prompt);
  for (let message = 1; message < 4; message++) await service.send(`job/${job.id}/message`, prompt);
  await service.wait(other.id);
  const { prLink } = await service.wait(job.id);
  service.peakMemoryMib();
  const { longestPollMs, pageMs } = await readPages(service, prLink ?? "", other.id);
  return [
    {
      what: `longest \`GET\` of another job during ${concurrentPages} page requests at once, four prompts of 30 MiB`,
      before: "19 s (one page request)",
      now: `${longestPollMs} ms (all pages sent after ${pageMs} ms)`,
    },
    {
      what: "most memory of the service during that",
      before: "1.5 GiB (one page request)",
      now: `${service.peakMemoryMib()} MiB`,
    },
  ];
}

/** Requests a page many times at once, and polls a job until all are answered. */
async function readPages(service: AgentService, page: string, jobId: string) {
  const cookie = await service.signIn();
  const start = performance.now();
  let pageMs: number | undefined;
  const pages = Array.from({ length: concurrentPages }, async () => {
    const response = await fetch(page, { headers: { cookie }, redirect: "manual" });
    if (response.status !== 200) throw new Error(`the page was answered with ${response.status}`);
    // Read, but not kept: this process would become slow itself.
    for await (const _chunk of response.body ?? []);
  });
  const read = Promise.all(pages).then(() => {
    pageMs = Math.round(performance.now() - start);
  });
  let longestPollMs = 0;
  do {
    const before = performance.now();
    await service.send(`job/${jobId}`);
    longestPollMs = Math.max(longestPollMs, Math.round(performance.now() - before));
  } while (pageMs === undefined);
  await read;
  return { longestPollMs, pageMs };
}
