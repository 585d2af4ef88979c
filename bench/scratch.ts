import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The key of the services that are measured against. */
export const apiKey = "mint_bench_key_of_no_value";

/** A folder that is removed at the end of the block which holds it. */
export function scratchFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "agent-job-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
