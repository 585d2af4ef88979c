import * as z from "zod/mini";
import { signedCommit, splitCommit } from "../../git/commit-object.ts";
import type { Tree } from "../../git/new-objects.ts";
import type { Identity } from "../../model.ts";
import type { GitHubOfCommits, RequestedCommit } from "../committers.ts";
import type { GitHubApi, GitHubResponse } from "./github-api.ts";
import { GitHubError } from "./github-error.ts";
import { type GitHubRepository, hostOf } from "./github-repository.ts";
import type { Account } from "./own-account.ts";

const userData = z.object({ id: z.number() });
const rulesData = z.array(z.object({ type: z.string() }));
const objectData = z.object({ sha: z.string() });
const commitData = z.object({
  sha: z.string(),
  verification: z.object({
    verified: z.boolean(),
    reason: z.optional(z.string()),
    signature: z.nullable(z.string()),
    payload: z.nullable(z.string()),
  }),
});

/** What is used of GitHub's API. */
interface CommitsApi {
  repository: Pick<GitHubRepository, "apiUrl">;
  request(...request: Parameters<GitHubApi["request"]>): Promise<Pick<GitHubResponse, "data">>;
}

/** Commits on GitHub. GitHub's documentation: "REST API endpoints for Git database". */
export class GitHubCommits implements GitHubOfCommits {
  readonly #api: CommitsApi;
  readonly #account: () => Promise<Account | undefined>;
  #bot: Identity | undefined;

  /** @param account - returns the account of the token; `undefined` if GitHub does not tell */
  constructor(api: CommitsApi, account: () => Promise<Account | undefined>) {
    this.#api = api;
    this.#account = account;
  }

  /** Asked once. While GitHub cannot be reached, a turn waits: an author cannot be corrected later. */
  async bot(): Promise<Identity | undefined> {
    if (this.#bot !== undefined) return this.#bot;
    const { login = "", id } = (await this.#account()) ?? {};
    if (!login.endsWith("[bot]")) return undefined;
    const known = id ?? (await this.#idOf(login));
    // GitHub's documentation: "Setting your commit email address". By it, GitHub shows the bot as the author.
    if (known !== undefined)
      this.#bot = { name: login, email: `${known}+${login}@users.noreply.${hostOf(this.#api.repository.apiUrl)}` };
    return this.#bot;
  }

  async #idOf(login: string): Promise<number | undefined> {
    try {
      const options = { what: `Reading the account ${login}`, maxWaitMs: 0, isRetried: false };
      const { data } = await this.#api.request("GET /users/{username}", { username: login }, options);
      return z.safeParse(userData, data).data?.id;
    } catch (error) {
      if (error instanceof GitHubError && error.isPermanent) return undefined;
      throw error;
    }
  }

  /** Needs only permission for metadata, so that GitHub tells it to every token. */
  async rulesOf(branch: string): Promise<ReadonlySet<string>> {
    try {
      const options = { what: `Reading the rules of ${branch}`, maxWaitMs: 0, isRetried: false };
      const path = "GET /repos/{owner}/{repo}/rules/branches/{branch}";
      const { data } = await this.#api.request(path, { branch, per_page: 100 }, options);
      return new Set((z.safeParse(rulesData, data).data ?? []).map(({ type }) => type));
    } catch (error) {
      if (error instanceof GitHubError && error.isPermanent) return new Set();
      throw error;
    }
  }

  /** Uploads the new objects one after another: GitHub asks for a second between writes. */
  async sign({
    tree,
    parents,
    message,
    objects,
    readContents,
  }: RequestedCommit): Promise<{ id: string; text: string }> {
    for await (const { id, content } of readContents(objects.blobs)) {
      const body = { content: Buffer.from(content, "latin1").toString("base64"), encoding: "base64" };
      await this.#create("blobs", body, id);
    }
    for (const one of objects.trees) await this.#create("trees", { tree: one.entries.map(entryOf(one)) }, one.id);
    // GitHub signs a commit only if it decides itself who made it.
    const data = await this.#post("commits", { message, tree, parents });
    const { data: made, success } = z.safeParse(commitData, data);
    if (!success) throw new Error("GitHub's response is not a commit");
    const { verified, reason, signature, payload } = made.verification;
    if (!verified || signature === null || payload === null)
      throw new Error(`GitHub did not sign the commit (${reason ?? "it says no reason"})`);
    const isSame =
      payload.startsWith(`tree ${tree}\n${parents.map((one) => `parent ${one}\n`).join("")}author `) &&
      splitCommit(payload).message.trimEnd() === message.trimEnd();
    const text = isSame ? signedCommit(payload, signature, made.sha) : undefined;
    if (text === undefined) throw new Error("GitHub made another commit than the one it was asked for");
    return { id: made.sha, text };
  }

  /** @throws if GitHub gives the object another id, which only another object has */
  async #create(kind: "blobs" | "trees", body: Record<string, unknown>, id: string): Promise<void> {
    const { data } = z.safeParse(objectData, await this.#post(kind, body));
    if (data?.sha !== id) throw new Error(`GitHub made another object of ${kind} than ${id}`);
  }

  async #post(kind: "blobs" | "trees" | "commits", body: Record<string, unknown>): Promise<unknown> {
    const route = `POST /repos/{owner}/{repo}/git/${kind}`;
    return (await this.#api.request(route, body, { what: "Making a signed commit" })).data;
  }
}

/** Returns a function that makes the entries of a folder as GitHub takes them. */
const entryOf =
  ({ id: folder }: Tree) =>
  ({ mode, name, id: sha }: Tree["entries"][number]) => {
    const path = Buffer.from(name, "latin1").toString();
    if (Buffer.from(path).toString("latin1") !== name)
      throw new Error(`the folder ${folder} has a name that is not UTF-8, which GitHub cannot sign`);
    const type = mode === "040000" ? "tree" : mode === "160000" ? "commit" : "blob";
    return { path, mode, type, sha };
  };
