import * as z from "zod/mini";
import { checkResults, failureClasses, type JobCopy, keptWorks, turnStages } from "../../src/model.ts";

/** The maximum of `Date`. */
const lastTime = 8.64e15;
/** The limit for turn ids, in microseconds since 1970, so that the following ids are safe integers, too. */
export const maxTurnId = 8e15;
const time = z.int().check(z.nonnegative(), z.maximum(lastTime));
const turn = z.object({
  id: z.int().check(z.positive(), z.maximum(maxTurnId)),
  identity: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  prompt: z.string(),
  promptHash: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  sections: z.string(),
  asked: z.nullable(z.string().check(z.maxLength(10_000))),
  covers: z.nullable(z.string().check(z.regex(/^\+?[0-9a-f]{40,64}$/))),
  state: z.enum(["waiting", "running", "completed", "failed"]),
  attempts: z.int().check(z.nonnegative()),
  endedAt: z.nullable(time),
  answer: z.nullable(z.string()),
  caller: z.string().check(z.maxLength(1000)),
  step: z.string().check(z.regex(/^[\x20-\x7e]{0,256}$/)),
  request: z.string().check(z.regex(/^[\x20-\x7e]{1,256}$/)),
  startedAt: z.nullable(time),
  reason: z.nullable(z.string()),
  failureClass: z.nullable(z.enum(failureClasses)),
  head: z.nullable(z.string().check(z.regex(/^[0-9a-f]{40,64}$/))),
  kept: z.nullable(z.enum(keptWorks)),
  stopRequestedAt: z.nullable(time),
  costUsd: z.nullable(z.number()),
  sessionCost: z.nullable(z.string().check(z.maxLength(1000))),
  checkResult: z.nullable(z.enum(checkResults)),
  checkOutput: z.nullable(z.string().check(z.maxLength(20_000))),
  stage: z.nullable(z.enum(turnStages)),
  made: z.nullable(z.string().check(z.maxLength(20_000))),
});

/** A job's entry. Untrusted: anyone who can write the repository's cache can write it. */
const entry = z.object({
  version: z.literal(1),
  job: z.object({
    id: z.string(),
    project: z.string(),
    createdAt: time,
    branch: z.optional(z.string().check(z.regex(/^[A-Za-z0-9][\w./-]{1,200}$/))),
    archivedAt: z.nullable(time),
    pullRequest: z.nullable(z.string().check(z.regex(/^https?:\/\/[^\s@]{1,2000}\/pull\/\d+$/))),
    head: z.nullable(z.string().check(z.regex(/^[0-9a-f]{40,64}$/))),
    base: z.nullable(z.string().check(z.regex(/^[^\p{Cc}]{1,1000}$/u))),
    session: z.nullable(z.string().check(z.regex(/^[\w-]{1,128}$/))),
    turns: z.array(turn).check(z.minLength(1)),
  }),
  /** The home directory's key, and its path, by which agents find their sessions. */
  home: z.optional(z.object({ key: z.string(), path: z.string() })),
});

export interface JobEntry {
  job: JobCopy;
  home?: { key: string; path: string } | undefined;
}

export function formatJobEntry(entry: JobEntry): string {
  return JSON.stringify({ version: 1, ...entry });
}

/** Parses a job's entry; `undefined` if a service of this project cannot have saved it. */
export function parseJobEntry(text: string, jobId: string, projectId: string): JobEntry | undefined {
  try {
    const { job, home } = entry.parse(JSON.parse(text));
    const ids = job.turns.map(({ id }) => id);
    const isAscending = ids.every((id, index) => id > (ids[index - 1] ?? 0));
    // Otherwise, an entry could name any branch.
    const isOwn = job.branch?.endsWith(jobId) !== false;
    return isOwn && job.id === jobId && job.project === projectId && isAscending ? { job, home } : undefined;
  } catch {
    return undefined;
  }
}
