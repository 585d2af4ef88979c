import * as z from "zod/mini";
import type { GitHubApi, RequestOptions } from "./github-api.ts";
import { GitHubError } from "./github-error.ts";

/** An account on GitHub: a person, or the bot of a GitHub App. */
export interface Account {
  login: string;
  /** `undefined` if only the login is known. */
  id: number | undefined;
}

/** The account that a workflow's own token acts for, on every GitHub. No person can have a login with brackets. */
const workflowAccount: Account = { login: "github-actions[bot]", id: undefined };

const login = z.string().check(z.minLength(1));
const viewerData = z.object({
  data: z.object({ viewer: z.object({ login, databaseId: z.nullish(z.number()) }) }),
});
const graphqlErrors = z.object({ errors: z.array(z.object({ type: z.optional(z.string()) })) });
const userData = z.object({ login, id: z.number() });

/** Neither waits nor retries: the answer is needed by a client that waits, and can ask again. */
const options: RequestOptions = { what: "Reading the account of the token", maxWaitMs: 0, isRetried: false };

/**
 * Finds out which account a token acts for: what that account opened on GitHub, nobody else can have opened.
 * GraphQL's `viewer` is answered for every kind of token. REST's `GET /user` is not for tokens of GitHub Apps, such as the workflow's own.
 * So if GraphQL cannot be used, the workflow's token is known by its fixed account, and others ask REST.
 *
 * @param isWorkflowToken - whether GitHub made the token for the workflow
 * @returns `undefined` if GitHub does not tell
 * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
 */
export async function readOwnAccount(api: GitHubApi, isWorkflowToken: boolean): Promise<Account | undefined> {
  const viewer = await unlessDenied(readViewer(api));
  if (typeof viewer === "object") return viewer;
  if (isWorkflowToken) return workflowAccount;
  const user = await unlessDenied(readUser(api));
  if (user === undefined && viewer === "unclear")
    throw new GitHubError("GitHub did not say which account the token is for", undefined);
  return user;
}

/** Returns whether a user in one of GitHub's responses is an account. */
export function isAccount(user: { login: string; id: number } | null, account: Account): boolean {
  if (user === null) return false;
  return account.id === undefined ? user.login.toLowerCase() === account.login.toLowerCase() : user.id === account.id;
}

/** What GitHub writes if a token may not ask. Other errors, mostly without a type, are its own, and pass. */
const denials = ["FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND", "UNAUTHORIZED"];

async function readViewer(api: GitHubApi): Promise<Account | "unclear" | undefined> {
  const query = { query: "{ viewer { login databaseId } }" };
  const { data } = await api.request(`POST ${graphqlUrl(api.repository.apiUrl)}`, query, options);
  const { data: parsed } = z.safeParse(viewerData, data);
  if (parsed !== undefined) {
    const { login, databaseId } = parsed.data.viewer;
    return { login, id: databaseId ?? undefined };
  }
  const { data: failed } = z.safeParse(graphqlErrors, data);
  if (failed?.errors.some(({ type }) => type === "RATE_LIMITED"))
    throw new GitHubError("GitHub's rate limit for GraphQL is reached", undefined);
  return failed?.errors.some(({ type }) => denials.includes(type ?? "")) ? undefined : "unclear";
}

async function readUser(api: GitHubApi): Promise<Account | undefined> {
  const { data } = await api.request("GET /user", {}, options);
  return z.safeParse(userData, data).data;
}

/** GitHub's documentation, "Forming calls with GraphQL": the endpoint is beside REST's. */
/** Returns where GitHub's GraphQL API is, by the URL of its REST API. */
export const graphqlUrl = (apiUrl: string): string => `${apiUrl.replace(/\/$/, "").replace(/\/v3$/, "")}/graphql`;

async function unlessDenied<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GitHubError && error.isPermanent) return undefined;
    throw error;
  }
}

const activities = z.array(
  z.object({
    ref: z.string(),
    activity_type: z.string(),
    actor: z.nullable(z.object({ login: z.string(), id: z.number() })),
    after: z.optional(z.string()),
    timestamp: z.optional(z.string()),
  }),
);

/**
 * Returns whether an account is known to have created a branch. GitHub's documentation: "List repository activities", which an
 * older Enterprise Server does not have.
 *
 * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
 */
export async function hasCreatedBranch(api: GitHubApi, branch: string, account: Account): Promise<boolean> {
  const created = await readActivities(api, branch, { activity_type: "branch_creation" });
  return created.some((one) => one.activity_type === "branch_creation" && isAccount(one.actor, account));
}

/**
 * Returns when an account created a branch with a head, in milliseconds since 1970, if nothing else ever happened to the branch; `undefined`
 * if something did, or that is unknown.
 *
 * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
 */
export async function createdOnlyAt(
  api: GitHubApi,
  branch: string,
  head: string,
  account: Account,
): Promise<number | undefined> {
  const [created, ...more] = await readActivities(api, branch);
  const isOwn = created?.activity_type === "branch_creation" && isAccount(created.actor, account);
  return isOwn && created.after === head && more.length === 0
    ? Date.parse(created.timestamp ?? "") || undefined
    : undefined;
}

/** Returns GitHub's list of a branch's activities; nothing if it does not tell. */
async function readActivities(api: GitHubApi, branch: string, query: { activity_type?: string } = {}) {
  const ref = `refs/heads/${branch}`;
  const limits = { what: `Reading who created ${branch}`, maxWaitMs: 0 };
  try {
    const { data } = await api.request("GET /repos/{owner}/{repo}/activity", { ref, ...query, per_page: 100 }, limits);
    return (z.safeParse(activities, data).data ?? []).filter((one) => one.ref === ref);
  } catch (error) {
    if (error instanceof GitHubError && error.isPermanent) return [];
    throw error;
  }
}
