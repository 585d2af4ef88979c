import * as z from "zod/mini";
import { MalformedResponse } from "./github-error.ts";

export const pullRequestLink = z.string().check(z.regex(/^https?:\/\/[^\s@]{1,2000}\/pull\/\d+$/));

/** The fields of GitHub's pull request that are used here. Other fields are not read. */
const pullRequest = z.object({
  html_url: pullRequestLink,
  state: z.string(),
  merged_at: z.nullable(z.string()),
  closed_at: z.nullish(z.string()),
  /** In lists. Pull requests without it are treated as new. */
  updated_at: z.optional(z.string()),
  body: z.nullish(z.string()),
  draft: z.optional(z.boolean()),
  /** Its name in GraphQL. */
  node_id: z.optional(z.string()),
  /** Its branch, and the last commit of that while it was open. */
  head: z.optional(z.object({ ref: z.string(), sha: z.optional(z.string()) })),
  base: z.optional(z.object({ ref: z.string() })),
});

export type PullRequestData = z.infer<typeof pullRequest>;

/** @throws if GitHub's response is not a pull request */
export function parsePullRequest(data: unknown): PullRequestData {
  const { data: parsed, success } = z.safeParse(pullRequest, data);
  if (!success) throw new MalformedResponse("GitHub's response is not a pull request");
  return parsed;
}

/** @throws if GitHub's response is not a list of pull requests */
export function parsePullRequests(data: unknown): PullRequestData[] {
  const { data: parsed, success } = z.safeParse(z.array(pullRequest), data);
  if (!success) throw new MalformedResponse("GitHub's response is not a list of pull requests");
  return parsed;
}

/** @throws if GitHub's response is not a list of events */
export function parseEvents(data: unknown): { event: string }[] {
  const { data: parsed, success } = z.safeParse(z.array(z.object({ event: z.string() })), data);
  if (!success) throw new MalformedResponse("GitHub's response is not a list of events");
  return parsed;
}

/** Returns whether an answer of GitHub's GraphQL API says that something was not done. */
export const hasErrors = (data: unknown): boolean => z.safeParse(z.object({ errors: z.unknown() }), data).success;

/** Returns the number of a pull request. */
export function numberOf({ html_url: link }: PullRequestData): number {
  return Number(link.slice(link.lastIndexOf("/") + 1));
}
