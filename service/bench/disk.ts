import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../../bench/scratch.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import type { Measurement } from "./measurement.ts";
import { send, startService } from "./service-process.ts";

/**
 * Measures what happens to creates on a full disk, which a limit of the size of files stands for, and after there is space
 * again. Linux only.
 */
export async function measure(): Promise<Measurement[]> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const store = join(scratch.path, "jobs.sqlite");
  await using service = await startService(["--repository", docs.path, "--store", store, "--project", "docs"]);
  const createMany = async (count: number): Promise<string> => {
    const counts = new Map<number, number>();
    for (let index = 0; index < count; index++) {
      const { status } = await send(service.url, "docs/job", "Go on");
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return [...counts].map(([status, times]) => `${times} × ${status}`).join(", ");
  };
  const limit = (bytes: string) => execFileSync("prlimit", ["--pid", String(service.child.pid), `--fsize=${bytes}:`]);
  limit(String(statSync(`${store}-wal`).size));
  const onFullDisk = await createMany(98);
  limit("unlimited");
  const afterwards = await createMany(98);
  const isRunning = service.child.exitCode === null && service.child.signalCode === null;
  return [
    { what: "98 creates on a full disk", before: "98 × 500", now: onFullDisk },
    {
      what: "98 creates when there is space again",
      before: "429, or the process has ended",
      now: isRunning ? afterwards : "the process has ended",
    },
  ];
}
