import type { GitHubApi } from "./github-api.ts";
import { adviceOn, GitHubError } from "./github-error.ts";
import type { RepositoryData, RepositoryIdentity } from "./repository-identity.ts";

/**
 * Checks that the token can write to the repository, as far as GitHub tells. If GitHub cannot be reached, only logs a warning,
 * because it may be reachable when the first job needs it.
 *
 * @throws if the service could not open pull requests, with the reason as the message
 */
export async function checkToken(
  api: GitHubApi,
  identity: RepositoryIdentity,
  log: (line: string) => void,
): Promise<void> {
  const { owner, name, tokenVariable = "GITHUB_TOKEN" } = api.repository;
  const needs = `${tokenVariable} needs write access to contents and pull requests of ${owner}/${name}`;
  let repository: RepositoryData;
  try {
    repository = await identity.read({ isRetried: false });
    if (repository.permissions?.push !== false || (await isInstallationToken(api))) return;
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    const advice = adviceOn(error.message);
    if (error.isPermanent) throw new Error(advice ? `${error.message}. ${advice}` : `${needs}. ${error.message}`);
    log(`Cannot check ${tokenVariable}, so jobs may fail when they push or open pull requests. ${error.message}`);
    return;
  }
  throw new Error(`${needs}. It can only read it.`);
}

/** Returns whether the token belongs to a GitHub App, for which GitHub always says that it cannot push. */
async function isInstallationToken(api: GitHubApi): Promise<boolean> {
  const options = {
    what: `Checking ${api.repository.tokenVariable ?? "GITHUB_TOKEN"}`,
    maxWaitMs: 0,
    isRetried: false,
  };
  try {
    await api.request("GET /installation/repositories", { per_page: 1 }, options);
    return true;
  } catch (error) {
    if (error instanceof GitHubError && error.isPermanent) return false;
    throw error;
  }
}
