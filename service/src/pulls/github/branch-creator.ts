import * as z from "zod/mini";
import type { GitHubApi } from "./github-api.ts";
import { GitHubError } from "./github-error.ts";
import { type Account, isAccount } from "./own-account.ts";

const activities = z.array(
  z.object({
    ref: z.string(),
    activity_type: z.string(),
    actor: z.nullable(z.object({ login: z.string(), id: z.number() })),
  }),
);

/**
 * Returns whether an account is known to have created a branch. GitHub's documentation: "List repository activities", which an
 * older Enterprise Server does not have.
 *
 * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
 */
export async function hasCreatedBranch(api: GitHubApi, branch: string, account: Account): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const options = { what: `Reading who created ${branch}`, maxWaitMs: 0 };
  try {
    const query = { ref, activity_type: "branch_creation", per_page: 100 };
    const { data } = await api.request("GET /repos/{owner}/{repo}/activity", query, options);
    const created = z.safeParse(activities, data).data ?? [];
    return created.some(
      (one) => one.ref === ref && one.activity_type === "branch_creation" && isAccount(one.actor, account),
    );
  } catch (error) {
    if (error instanceof GitHubError && error.isPermanent) return false;
    throw error;
  }
}
