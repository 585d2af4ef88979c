import { expect, test } from "vitest";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { ReadSchedule } from "../../../src/pulls/github/read-schedule.ts";

const link = "https://github.com/acme/docs/pull/1";
const start = 1_000_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Returns the pauses after failures that follow each other as soon as they can, in milliseconds. */
function pauses(schedule: ReadSchedule, error: unknown, count: number): number[] {
  let now = start;
  return Array.from({ length: count }, () => {
    const failedAt = now;
    schedule.failed(link, error, now);
    while (!schedule.isDue(link, now) && now - failedAt < 100 * hourMs) now += minuteMs / 2;
    expect(schedule.isDue(link, now - 1)).toBe(false);
    return now - failedAt;
  });
}

test("reads again after pauses that grow up to a day", () => {
  const minutes = [1, 4, 16, 64, 256, 1024, 1440, 1440].map((count) => count * minuteMs);
  for (const error of [new GitHubError("down", 500), new GitHubError("no response", undefined), new Error("no JSON")])
    expect(pauses(new ReadSchedule(), error, 8)).toEqual(minutes);
});

test("reads what GitHub does not know ever less often, from an hour on", () => {
  const hours = [1, 4, 16, 24, 24].map((count) => count * hourMs);
  for (const status of [404, 410])
    expect(pauses(new ReadSchedule(), new GitHubError("gone", status), 5)).toEqual(hours);
});

test("begins again after a success, and for what nobody has asked for in a day", () => {
  const schedule = new ReadSchedule();
  const error = new GitHubError("down", 500);
  const forget = [() => schedule.succeeded(link), () => schedule.forgetOld(start + 100 * hourMs)];
  for (const each of forget) {
    pauses(schedule, error, 3);
    each();
    expect(schedule.isDue(link, start)).toBe(true);
    expect(pauses(schedule, error, 1)).toEqual([minuteMs]);
  }
  schedule.forgetOld(start + minuteMs + 24 * hourMs);
  expect(schedule.isDue(link, start)).toBe(false);
});
