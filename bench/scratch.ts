import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The API key of the services in the benchmark. */
export const apiKey = "mint_bench_key_of_no_value";

/** Creates a temporary folder. Disposing of it removes it. */
export function scratchFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "agent-job-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
