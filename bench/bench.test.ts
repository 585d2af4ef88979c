import { expect, test } from "vitest";
import { jobLengths, minProduct, shareEnded } from "./job-lengths.ts";
import { measureLateness } from "./lateness.ts";
import { quantile } from "./statistics.ts";

test("draws job lengths with the median, percentile and maximum that the report states", () => {
  const lengths = jobLengths(10_000);
  expect(quantile(lengths, 0.5)).toBeCloseTo(240, -1);
  expect(quantile(lengths, 0.95) / 1500).toBeCloseTo(1, 1);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(7200);
  expect(shareEnded(7200)).toBe(1);
});

test("is late by half of a fixed interval, and no schedule is below the lower bound", async () => {
  const { ours, others, candidates } = await measureLateness(1000);
  const every10 = others.find(({ name }) => name === "every 10 s");
  expect(every10?.meanLateness).toBeCloseTo(5, 0);
  expect(every10?.peakPerSecond).toBe(1000);
  for (const row of [ours, ...others, ...candidates]) expect(row.overBound, row.name).toBeGreaterThan(1);
});

test("shows our schedule as less late on short jobs than a fixed 15 s, with a lower peak, and held polls as hardly late", async () => {
  const { ours, held, others } = await measureLateness(1000);
  const every15 = others.find(({ name }) => name === "every 15 s");
  expect(ours.share95).toBeLessThan((every15?.share95 ?? 0) / 2);
  expect(ours.peakPerSecond).toBeLessThan(300);
  expect(held.lateness95).toBeLessThan(1e-6);
  expect(held.requests).toBeLessThan(ours.requests * 0.7);
});

test("computes a lower bound that does not depend on the step width", () => {
  expect(minProduct(0.2) / minProduct(0.1)).toBeCloseTo(1, 3);
});
