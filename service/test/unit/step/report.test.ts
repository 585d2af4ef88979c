import { beforeEach, describe, expect, test } from "vitest";
import type { JobCopy } from "../../../src/model.ts";
import type { JobCopies } from "../../../src/store/job-copies.ts";
import { Report, reportedCopies } from "../../../step/report.ts";
import { identityOf } from "../../support/turn-identity.ts";

const link = "https://github.com/acme/docs/pull/1";
const turn = {
  id: 5,
  identity: identityOf(5),
  prompt: "Go",
  state: "completed",
  attempts: 1,
  endedAt: 2000,
  answer: null,
} as const;
const job: JobCopy = {
  id: "job_1",
  project: "docs",
  createdAt: 1000,
  archivedAt: null,
  pullRequest: null,
  head: null,
  base: null,
  turns: [turn],
};
const failed = { ...job, turns: [turn, { ...turn, id: 6, state: "failed" as const }] };

let report: Report;
beforeEach(() => {
  report = new Report();
});

describe("the report", () => {
  test("has each pull request once, in the order in which they were opened", () => {
    report.update(job);
    report.update({ ...job, id: "job_2", pullRequest: `${link}2` });
    report.update({ ...job, pullRequest: link });
    report.update({ ...job, pullRequest: link });
    expect(report.pullRequests).toEqual([`${link}2`, link]);
  });

  test("has each job once that has a turn that failed", () => {
    report.update(job);
    report.update(failed);
    report.update({ ...failed, turns: [...failed.turns, { ...turn, id: 7 }] });
    report.update({ ...failed, id: "job_2" });
    expect(report.failedJobs).toEqual(["job_1", "job_2"]);
  });

  test("has jobs with a turn that has not ended, as long as it has not", () => {
    const turns = job.turns.map((one) => ({ ...one, state: "waiting" as const }));
    report.update({ ...job, turns });
    report.update({ ...job, id: "job_2", turns });
    report.update({ ...failed, id: "job_2" });
    expect([...report.openJobs]).toEqual(["job_1"]);
  });

  test("leaves out what an earlier run has told, and has what is new", () => {
    report.exclude(job);
    report.exclude({ ...failed, pullRequest: link });
    report.update({ ...failed, pullRequest: link });
    expect(report).toMatchObject({ pullRequests: [], failedJobs: [] });
    report.update({ ...failed, turns: [{ ...turn, state: "failed" }, ...failed.turns] });
    expect(report).toMatchObject({ failedJobs: ["job_1"] });
  });
});

describe("copies of jobs", () => {
  /** Returns copies in which nothing is found. They record what is saved, and fail as often as there are reasons. */
  function fakeCopies(...reasons: string[]): JobCopies & { saved: unknown[] } {
    const saved: unknown[] = [];
    return {
      saved,
      save: async (...args) => {
        saved.push(args);
        const reason = reasons.shift();
        if (reason !== undefined) throw new Error(reason);
      },
      restore: async () => undefined,
    };
  }

  test("are reported and saved", async () => {
    const copies = fakeCopies();
    await reportedCopies(report, copies).save({ ...job, pullRequest: link }, "/home");
    expect(copies.saved).toEqual([[{ ...job, pullRequest: link }, "/home"]]);
    expect(report).toMatchObject({ pullRequests: [link], failedJobs: [], unsavedJobs: new Map() });
  });

  test("are reported as unsaved until they are saved", async () => {
    const copies = reportedCopies(report, fakeCopies("read-only", "full"));
    await expect(copies.save(job, undefined)).rejects.toThrow("read-only");
    await expect(copies.save({ ...job, id: "job_2" }, undefined)).rejects.toThrow("full");
    expect(Object.fromEntries(report.unsavedJobs)).toEqual({ job_1: "read-only", job_2: "full" });
    await copies.save(job, undefined);
    expect(Object.fromEntries(report.unsavedJobs)).toEqual({ job_2: "full" });
  });

  test("are only reported if jobs are not remembered", async () => {
    const copies = reportedCopies(report, undefined);
    await copies.save(failed, undefined);
    expect(report).toMatchObject({ pullRequests: [], failedJobs: ["job_1"], unsavedJobs: new Map() });
    expect(await copies.restore("job_1", "/home", "/into")).toBeUndefined();
  });

  test("are restored, and what they already had is not reported again", async () => {
    const places: unknown[] = [];
    const found = { ...failed, pullRequest: link };
    const copies = reportedCopies(report, {
      save: async () => {},
      restore: async (...place) => {
        places.push(place);
        return place[0] === "job_1" ? found : undefined;
      },
    });
    expect(await copies.restore("job_0", "/home", "/into")).toBeUndefined();
    expect(await copies.restore("job_1", "/home", "/into")).toEqual(found);
    expect(places[1]).toEqual(["job_1", "/home", "/into"]);
    await copies.save(found, undefined);
    expect(report).toMatchObject({ pullRequests: [], failedJobs: [], unsavedJobs: new Map() });
  });
});
