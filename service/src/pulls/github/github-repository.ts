/** A repository on GitHub or on a GitHub Enterprise Server, with the token to use for it. */
export interface GitHubRepository {
  /** Base URL of the REST API, without a trailing slash. */
  apiUrl: string;
  owner: string;
  name: string;
  token: string;
  /** The variable of the environment that the token is from, for messages. Default: `GITHUB_TOKEN`. */
  tokenVariable?: string | undefined;
}
