import * as z from "zod/mini";
import { isUsableJobId } from "../../client/contract.ts";
import { maxPullRequests, type SessionEntry, type WordEntry } from "./entry.ts";

const jobId = z.string().check(z.refine(isUsableJobId));
const commit = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));
const sent = z.enum(["create", "message"]);

const wordEntry = z.object({
  version: z.literal(1),
  attempt: z.int(),
  sent,
  jobId: z.optional(jobId),
  base: z.optional(commit),
  announced: z.optional(z.boolean()),
  isNew: z.optional(z.literal(true)),
});

const sessionEntry = z.object({
  version: z.literal(1),
  jobId,
  run: z.string(),
  step: z.string(),
  attempt: z.int(),
  kind: sent,
  commit: z.optional(commit),
  sent: z.optional(commit),
  failures: z.int().check(z.nonnegative()),
  pullRequests: z.array(z.int().check(z.positive())).check(z.maxLength(maxPullRequests)),
});

/** Parses the word of an attempt; `undefined` if it is unusable. Anyone who can write the cache may have written it. */
export function parseWordEntry(text: string): WordEntry | undefined {
  return wordEntry.safeParse(parseJson(text)).data;
}

/** Parses the entry of a session; `undefined` if it is unusable. Anyone who can write the cache may have written it. */
export function parseSessionEntry(text: string): SessionEntry | undefined {
  return sessionEntry.safeParse(parseJson(text)).data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
