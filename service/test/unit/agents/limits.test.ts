import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { type ExceededLimit, type Limits, watchLimits } from "../../../src/agents/limits.ts";

const generous = { memoryMb: 1e6, processes: 1e6, diskMb: 1e6 };
const limits = {
  "memory-limit": { memoryMb: 0 },
  "process-limit": { processes: 0 },
  "disk-limit": { diskMb: 0 },
} as const satisfies Record<ExceededLimit["kind"], Limits>;
const kinds = Object.keys(limits) as (keyof typeof limits)[];
/** Each limit alone, beside the others, and beside one of them that is exceeded, too. */
const rows = kinds.flatMap((kind) => [
  { found: [kind], set: limits[kind], besides: "nothing" },
  { found: [kind], set: { ...generous, ...limits[kind] }, besides: "wide limits" },
  ...kinds.flatMap((other) =>
    other === kind ? [] : { found: [kind, other], set: { ...limits[other], ...limits[kind] }, besides: other },
  ),
]);

test.runIf(process.platform === "linux").each(rows)("$found.0 is noticed beside $besides", async ({ found, set }) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "x".repeat(10_000));
  const exceeded: ExceededLimit[] = [];
  // This process is one of its parent's.
  await watchLimits(process.ppid, [folder], set, (one) => void exceeded.push(one), new AbortController().signal);
  expect(exceeded).toHaveLength(1);
  expect(found).toContain(exceeded[0]?.kind);
});
