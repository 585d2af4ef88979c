import * as z from "zod/mini";
import type { PullRequestState } from "../pull-requests.ts";
import { MalformedResponse } from "./github-error.ts";
import { type Account, isAccount } from "./own-account.ts";
import { pullRequestLink } from "./pull-request-data.ts";

/** A pull request from a branch of the same repository, which the service's own account opened, or took for its own. */
export interface OwnPullRequest {
  link: string;
  state: PullRequestState;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** When it was closed or merged, in milliseconds since 1970; `null` if it is open. */
  closedAt: number | null;
  /** The last commit of its branch, also after the branch was deleted. */
  head: string;
  /** The newest commit that its merge added to the target branch. Default: it was not merged. */
  mergeCommit?: string;
  /** Untrusted: whoever may write to the repository can edit it. Empty if it is another account's, which may be anybody's. */
  body: string;
  target: string;
  /** Whether another account opened it, and whether the account had one of the branch before. Default: not. */
  isOthers?: boolean;
  hasOwn?: boolean;
}

const time = z.string().check(z.refine((text) => Number.isFinite(Date.parse(text))));
const repository = z.object({ id: z.number() });
const commit = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));

/** The fields by which the service's own pull requests are told from others. */
const listed = z.object({
  html_url: pullRequestLink,
  state: z.enum(["open", "closed"]),
  merged_at: z.nullable(time),
  created_at: time,
  closed_at: z.nullish(time),
  /** Before the merge, that of a trial merge. */
  merge_commit_sha: z.nullish(commit),
  body: z.nullish(z.string()),
  /** `null` if the account was deleted. */
  user: z.nullable(z.object({ login: z.string(), id: z.number() })),
  head: z.object({
    ref: z.string(),
    sha: commit,
    /** `null` if the repository was deleted. */
    repo: z.nullable(repository),
  }),
  base: z.object({ ref: z.string(), repo: repository }),
});

/**
 * Returns the pull request of a branch in a list of GitHub's: the open one, otherwise the newest. One from a fork, whose branch
 * may have the same name, is nobody's. One of another account only counts if there is no other, and while it is open into the
 * target: GitHub does not let the service open a second one there.
 *
 * @throws if GitHub's response is not a list of pull requests
 */
export function selectOwn(data: unknown, branch: string, account: Account, target: string): OwnPullRequest | undefined {
  const { data: all, success } = z.safeParse(z.array(listed), data);
  if (!success) throw new MalformedResponse("GitHub's response is not a list of pull requests");
  const fromHere = all
    .filter(({ head, base }) => head.ref === branch && head.repo?.id === base.repo.id)
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const own = fromHere.filter(({ user }) => isAccount(user, account));
  const open = own.find(({ state }) => state === "open");
  const others = fromHere.find(({ state, base }) => state === "open" && base.ref === target);
  const [newest] = own;
  // Commits that came after an own one was closed are in what another account has opened since.
  if (open === undefined && others !== undefined)
    return { ...describe(others), body: "", isOthers: true, hasOwn: newest !== undefined };
  const selected = open ?? newest;
  return selected && describe(selected);
}

function describe({ html_url: link, state, head, base, body, ...times }: z.infer<typeof listed>): OwnPullRequest {
  const createdAt = Date.parse(times.created_at);
  const merged = { state: "merged" as const, ...(times.merge_commit_sha && { mergeCommit: times.merge_commit_sha }) };
  const closed = times.merged_at === null ? { state: "closed" as const } : merged;
  const closedAt = Date.parse(times.closed_at ?? times.merged_at ?? times.created_at);
  const now = state === "open" ? { state, closedAt: null } : { ...closed, closedAt };
  return { link, createdAt, head: head.sha, target: base.ref, body: body ?? "", ...now };
}
