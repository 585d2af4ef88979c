/** A repository on GitHub or on a GitHub Enterprise Server, with the token to use for it. */
export interface GitHubRepository {
  /** Base URL of the REST API, without a trailing slash. */
  apiUrl: string;
  owner: string;
  name: string;
  /** Its value now: it can be replaced while the service runs. */
  readonly token: string;
  /** The variable of the environment that the token is from, for messages. Default: `GITHUB_TOKEN`. */
  tokenVariable?: string | undefined;
}

/** Returns the GitHub that the environment names as a workflow's does, by default github.com, and the base URL of its REST API. */
export function gitHubOf({ GITHUB_SERVER_URL, GITHUB_API_URL }: NodeJS.ProcessEnv): { server: string; apiUrl: string } {
  const server = (GITHUB_SERVER_URL || "https://github.com").replace(/\/+$/, "");
  const { protocol = "", host = "" } = URL.parse(server) ?? {};
  // GitHub's documentation: "Getting started with the REST API", of github.com, of GHE.com and of Enterprise Server.
  const isHosted = host === "github.com" || host.endsWith(".ghe.com");
  return { server, apiUrl: GITHUB_API_URL || (isHosted ? `${protocol}//api.${host}` : `${server}/api/v3`) };
}

/** Returns the host of the GitHub with a REST API: of its pages, and of its addresses for mail. */
export function hostOf(apiUrl: string): string {
  const { hostname, pathname } = new URL(apiUrl);
  // An Enterprise Server has the API below its pages.
  return pathname.startsWith("/api/") ? hostname : hostname.replace(/^api\./, "");
}

/**
 * Returns the name, as `OWNER/NAME`, of the repository that a URL for Git names, and the base URL of its REST API; `undefined` if it
 * is not on github.com nor on the GitHub that the environment names.
 */
export function findOnGitHub(
  url: string,
  environment: NodeJS.ProcessEnv,
): { name: string; apiUrl: string } | undefined {
  for (const { server, apiUrl } of [gitHubOf(environment), gitHubOf({})]) {
    const { protocol = "", host = "", hostname = "" } = URL.parse(server) ?? {};
    const start = [`${protocol}//(?:[^@/]*@)?${RegExp.escape(host)}/`, `(?:ssh://)?git@${RegExp.escape(hostname)}[/:]`];
    const [, name] = new RegExp(`^(?:${start.join("|")})([^/]+/[^/]+?)(?:\\.git)?/?$`, "i").exec(url) ?? [];
    if (host !== "" && name !== undefined) return { name, apiUrl };
  }
  return undefined;
}
