import { expect, test } from "vitest";
import { jobBranch, jobOfBranch } from "../../src/model.ts";

const job = "job_00000000-0000-4000-8000-000000000000";

test.each([
  [jobBranch(job), job],
  [jobBranch(job, "docs/agent-"), job],
  [job, job],
  // What people make of it is theirs.
  [`agent/${job}-copy`, undefined],
  [`agent/${job}/more`, undefined],
  [`agent/${job.slice(0, -1)}`, undefined],
  [`agent/${job.toUpperCase()}`, undefined],
  ["main", undefined],
])("the branch %s is that of the job %s", (branch, expected) => {
  expect(jobOfBranch(branch)).toBe(expected);
});
