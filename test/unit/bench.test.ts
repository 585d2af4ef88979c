import { expect, test } from "vitest";
import { jobLengths, leastProduct, shareEnded } from "../../bench/job-lengths.ts";
import { measureNotice } from "../../bench/notice.ts";
import { quantile } from "../../bench/statistics.ts";

test("job lengths have the median, the percentile and the cut that the report names", () => {
  const lengths = jobLengths(10_000);
  expect(quantile(lengths, 0.5)).toBeCloseTo(240, -1);
  expect(quantile(lengths, 0.95) / 1500).toBeCloseTo(1, 1);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(7200);
  expect(shareEnded(7200)).toBe(1);
});

test("a fixed interval is late by half of it, and no schedule gets below the least product", async () => {
  const { ours, others, candidates } = await measureNotice(1000);
  const every10 = others.find(({ name }) => name === "every 10 s");
  expect(every10?.meanLateness).toBeCloseTo(5, 0);
  expect(every10?.peakPerSecond).toBe(1000);
  for (const row of [ours, ...others, ...candidates]) expect(row.overBound, row.name).toBeGreaterThan(1);
});

test("the action's schedule is earlier on short jobs than a fixed 15 s, and spreads out jobs that start together", async () => {
  const { ours, others } = await measureNotice(1000);
  const every15 = others.find(({ name }) => name === "every 15 s");
  expect(ours.share95).toBeLessThan((every15?.share95 ?? 0) / 2);
  expect(ours.peakPerSecond).toBeLessThan(300);
});

test("the least product does not depend on how finely it is summed up", () => {
  expect(leastProduct(0.2) / leastProduct(0.1)).toBeCloseTo(1, 3);
});
