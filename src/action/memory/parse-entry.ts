import * as z from "zod/mini";
import { isUsableJobId } from "../../client/contract.ts";
import { parsePullRequest } from "../pull-request.ts";

const jobId = z.string().check(z.refine(isUsableJobId));
const commit = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));
const kind = z.enum(["create", "message"]);

const pullRequestUrl = z.string().check(z.refine((url) => parsePullRequest(url)?.url === url));

const wordEntry = z.object({
  version: z.literal(1),
  /** The job, and the kind of request; only in the state `job`. */
  jobId: z.optional(jobId),
  sent: z.optional(kind),
  /** Whether the agent was seen at work on the message, or to end. */
  wasSeen: z.optional(z.boolean()),
  /** Whether it was seen to complete. */
  isDone: z.optional(z.boolean()),
  isUnproven: z.optional(z.boolean()),
  isUnchanged: z.optional(z.boolean()),
  /** The job's pull request by then. */
  pullRequest: z.optional(pullRequestUrl),
  /** Whether only an answer that is no record has named the job. */
  isDoubtful: z.optional(z.boolean()),
  /** The job's pull request and its newest commit before the message. */
  before: z.optional(
    z.object({
      url: z.optional(pullRequestUrl),
      head: commit,
    }),
  ),
  /** The start of the attempt's range of changes. */
  base: z.optional(commit),
  /** The commit up to which the session is told of all changes if the attempt's turn completes. */
  covers: z.optional(commit),
  /** Whether the service had announced that it can be asked; `undefined` if it was not asked. */
  announced: z.optional(z.boolean()),
});

const sessionEntry = z.object({
  version: z.literal(1),
  jobId,
  /** The workflow run that last sent something, the hash of its step and prompt, its attempt, and the kind of request. */
  run: z.string(),
  step: z.string(),
  attempt: z.int(),
  kind,
  /** The commit up to which completed turns were told of all changes. */
  commit: z.optional(commit),
  /** If the run's turn was not seen to end: the commit up to which it is told of all, if it is. */
  sent: z.optional(z.object({ covers: z.optional(commit) })),
  /** Consecutive failed turns of the job. */
  failures: z.int().check(z.nonnegative()),
  /** The session's last pull requests in this repository, oldest first. */
  pullRequests: z.array(z.int().check(z.positive())),
});

export type WordEntry = Omit<z.infer<typeof wordEntry>, "version">;

export type SessionEntry = Omit<z.infer<typeof sessionEntry>, "version">;

/** Returns a parser that returns `undefined` for unusable entries. Anyone who can write the cache may have written them. */
function parserOf<T>(schema: z.ZodMiniType<T>): (text: string) => T | undefined {
  return (text) => {
    try {
      return schema.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  };
}

export const parseWordEntry = parserOf(wordEntry);
export const parseSessionEntry = parserOf(sessionEntry);
