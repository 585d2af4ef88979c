import * as z from "zod/mini";
import type { GitHubApi, RequestOptions } from "./github-api.ts";
import { GitHubError } from "./github-error.ts";

/** The fields of GitHub's repository that are used here. */
const repositoryData = z.object({
  id: z.optional(z.number()),
  full_name: z.optional(z.string().check(z.regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/))),
  html_url: z.optional(z.string()),
  /** Missing for some kinds of tokens. */
  permissions: z.nullish(z.object({ push: z.optional(z.boolean()) })),
});

export type RepositoryData = z.infer<typeof repositoryData>;

/**
 * What the repository is called on GitHub: it may have been renamed or transferred since the service was configured, and
 * before that, the links of its pull requests had other names in them.
 */
export class RepositoryIdentity {
  readonly #api: GitHubApi;
  readonly #log: (line: string) => void;
  #current: RepositoryData | undefined;
  #knownRedirect: string | undefined;
  /** The redirect with which the name was read. */
  #namedRedirect: string | undefined;
  #loggedName: string;
  /** Whether the repository had other names, each with the origin of its pages, in lower case. */
  readonly #others = new Map<string, boolean>();

  constructor(api: GitHubApi, log: (line: string) => void) {
    this.#api = api;
    this.#log = log;
    this.#loggedName = this.#configuredName;
  }

  get #configuredName(): string {
    const { owner, name } = this.#api.repository;
    return `${owner}/${name}`;
  }

  /**
   * Reads the repository, and logs if it has another name than the configured one.
   *
   * @throws GitHubError if GitHub cannot be reached or denies it
   */
  async read(options: Partial<RequestOptions> = {}): Promise<RepositoryData> {
    const what = `Reading the repository ${this.#configuredName}`;
    const { data } = await this.#api.request("GET /repos/{owner}/{repo}", {}, { what, maxWaitMs: 0, ...options });
    this.#current = this.#parse(data);
    this.#knownRedirect = this.#api.redirect;
    if (this.#current.full_name !== undefined) this.#namedRedirect = this.#api.redirect;
    this.#logName(this.#current.full_name ?? this.#configuredName);
    return this.#current;
  }

  /** Returns the account that owns the repository, as far as it is known. */
  async owner(): Promise<string> {
    if (this.#api.redirect !== this.#knownRedirect) await this.#readRedirected();
    return this.#current?.full_name?.split("/")[0] ?? this.#api.repository.owner;
  }

  /**
   * Returns the number of a pull request, or `undefined` if a link does not lead to a pull request of this repository: it
   * may be a page of the service from when it had no token.
   *
   * @throws GitHubError if GitHub cannot be reached to find out
   */
  async pullRequestNumber(link: string): Promise<number | undefined> {
    const url = URL.parse(link);
    const [, owner = "", name = "", number] = /^\/([^/]+)\/([^/]+)\/pull\/(\d+)$/.exec(url?.pathname ?? "") ?? [];
    if (number === undefined) return undefined;
    if (this.#api.redirect !== this.#knownRedirect) await this.#readRedirected();
    const fullName = `${owner}/${name}`.toLowerCase();
    const names = [this.#configuredName, this.#current?.full_name].map((one) => one?.toLowerCase());
    return names.includes(fullName) || (await this.#isOtherName(owner, name, url?.origin)) ? Number(number) : undefined;
  }

  /** Returns whether a link certainly does not lead to a pull request that was just opened or found in this repository. */
  async isForeign(link: string): Promise<boolean> {
    if (this.#api.redirect !== this.#knownRedirect) await this.#readRedirected();
    const url = URL.parse(link);
    const page = URL.parse(this.#current?.html_url ?? "");
    if (page !== null && page.origin !== url?.origin) return true;
    // The new name could not be read.
    if (this.#api.redirect !== this.#namedRedirect) return false;
    const [, fullName = ""] = /^\/([^/]+\/[^/]+)\/pull\/\d+$/.exec(url?.pathname ?? "") ?? [];
    const names = [this.#configuredName, this.#current?.full_name].map((one) => one?.toLowerCase());
    return !names.includes(fullName.toLowerCase());
  }

  async #readRedirected(): Promise<void> {
    const { redirect } = this.#api;
    try {
      await this.read({ isRetried: false });
    } catch (error) {
      if (this.#api.signal.aborted) throw error;
      // Known without its new name.
      this.#knownRedirect = this.#api.redirect;
      this.#logName(`${redirect} of its API`);
    }
  }

  /** Returns whether the repository had this name before: then GitHub redirects to it. */
  async #isOtherName(owner: string, name: string, origin: string | undefined): Promise<boolean> {
    const key = `${origin}/${owner}/${name}`.toLowerCase();
    const known = this.#others.get(key);
    if (known !== undefined) return known;
    const isSame = await this.#hasSameId(owner, name, origin).catch((error: unknown) => {
      // Not found, or of someone else.
      if (error instanceof GitHubError && error.isPermanent) return false;
      throw error;
    });
    this.#others.set(key, isSame);
    return isSame;
  }

  async #hasSameId(owner: string, name: string, origin: string | undefined): Promise<boolean> {
    this.#current ??= await this.read();
    const { id, html_url: page = "" } = this.#current;
    if (id === undefined || URL.parse(page)?.origin !== origin) return false;
    const options = { what: `Reading the repository ${owner}/${name}`, maxWaitMs: 0 };
    const { data } = await this.#api.request("GET /repos/{owner}/{repo}", { owner, repo: name }, options);
    return this.#parse(data).id === id;
  }

  #parse(data: unknown): RepositoryData {
    const { data: parsed, success } = z.safeParse(repositoryData, data);
    if (success) return parsed;
    const { apiUrl } = this.#api.repository;
    throw new GitHubError(`GitHub's response is not a repository: is ${apiUrl} the URL of its API?`, 200);
  }

  #logName(name: string): void {
    if (name.toLowerCase() === this.#loggedName.toLowerCase()) return;
    this.#loggedName = name;
    this.#log(
      `${this.#configuredName} has been renamed on GitHub: it is now ${name}. Jobs go on, because GitHub redirects requests, until ` +
        `someone uses the old name for another repository. Restart the service with the new name in --repository.`,
    );
  }
}
