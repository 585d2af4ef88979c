import type { Timeline } from "../../../../test/simulation/timeline.ts";
import { epoch } from "../../../../test/support/fake-clock.ts";
import { GitError } from "../../../src/git/git.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import type { Edits } from "../../support/memory-objects.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";

/** Who does something on GitHub: the workflow's token, or a person. */
export type Account = "bot" | "person";

/** A pull request. Times are in milliseconds since 1970. */
export interface Pull {
  number: number;
  branch: string;
  target: string;
  title: string;
  body: string;
  by: Account;
  isDraft: boolean;
  state: "open" | "closed" | "merged";
  /** The last commit of its branch, and what that began from. */
  head: string;
  base: string;
  createdAt: number;
  endedAt: number | null;
  /** The commit of its target by which it was merged. */
  mergeCommit: string | undefined;
}

/** The creation of a branch, or a later move of it. */
interface Activity {
  branch: string;
  type: "branch_creation" | "push" | "branch_deletion";
  by: Account;
  after: string;
  at: number;
}

export const owner = "acme";
const repositoryId = 7;
const accounts = { bot: { login: "github-actions[bot]", id: 41898282 }, person: { login: "writer", id: 2 } };
const files = { "README.md": "# Docs\n", "docs/guide.md": "# Guide\n", "docs/shared.md": "Nobody's line\n" };

/** When the repository was made, in milliseconds before a history begins: longer than what the first night is told of. */
const longAgoMs = 10 * 86_400_000;

/** The branches of the repository, whose commits have the time of the timeline. */
class DatedRemote extends MemoryRemote {
  clock: (() => number) | undefined;
  onMove: ((branch: string, before: string | undefined) => void) | undefined;

  override now(): number {
    return Math.floor((this.clock?.() ?? epoch - longAgoMs) / 1000);
  }

  override setHead(branch: string, commit: string): void {
    const before = this.heads.get(branch);
    super.setHead(branch, commit);
    this.onMove?.(branch, before);
  }

  override deleteBranch(branch: string): void {
    const before = this.heads.get(branch);
    super.deleteBranch(branch);
    this.onMove?.(branch, before);
  }
}

/** A changed file, as GitHub lists it. */
const showFile = (filename: string) => ({ filename, status: "modified", additions: 1, deletions: 0 });

/** A repository on GitHub: its branches, the refs of kept work, its pull requests, and what GitHub tells of all that. */
export class MemoryGitHub {
  readonly remote = new DatedRemote(files);
  readonly pulls: Pull[] = [];
  /** The texts of kept work, by the names of their refs. */
  readonly works = new Map<string, Uint8Array>();
  readonly activities: Activity[] = [];
  /** The repository's name, and the names that it had. */
  name = "docs";
  readonly names = new Set(["docs"]);
  /** Whether GitHub refuses refs that are no branches, new pull requests, and moves of jobs' branches. */
  refusesRefs = false;
  refusesPulls = false;
  refusesMoves = false;
  /** What people pushed to `main`, oldest first. */
  readonly mainPushes: { subject: string; commit: string; at: number }[] = [];
  /** Who moves branches now. */
  #actor: Account = "bot";
  readonly #timeline: Timeline;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.remote.clock = () => this.now;
    this.remote.onMove = (branch, before) => this.#moved(branch, before);
    this.remote.refuses = ({ branch, commit, before }) =>
      this.refusesMoves && this.#actor === "bot" && commit !== undefined && before !== undefined && branch !== "main"
        ? "remote: error: GH013: Repository rule violations found"
        : undefined;
  }

  /** In milliseconds since 1970. */
  get now(): number {
    return Math.floor(epoch + this.#timeline.now);
  }

  /** Does something as a person. */
  asPerson<T>(act: () => T): T {
    this.#actor = "person";
    try {
      return act();
    } finally {
      this.#actor = "bot";
    }
  }

  openOf(branch: string): Pull | undefined {
    return this.pulls.find((pull) => pull.branch === branch && pull.state === "open");
  }

  /** Ends a pull request. A merge does not move the target. */
  end(pull: Pull, state: "closed" | "merged"): void {
    const mergeCommit = state === "merged" ? this.remote.heads.get(pull.target) : undefined;
    Object.assign(pull, { state, endedAt: this.now, mergeCommit });
  }

  /** Pushes a commit to `main`, with a subject of its own. */
  pushMain(edits: Edits): void {
    const subject = `Push ${this.mainPushes.length} of people`;
    this.mainPushes.push({
      subject,
      commit: this.remote.commitTo("main", edits, `${subject}\n`),
      at: this.#timeline.now,
    });
  }

  /** Returns the message that GitHub gives a merge. */
  readonly mergeMessage = ({ number, branch, title }: Pull): string =>
    `Merge pull request #${number} from ${owner}/${branch}\n\n${title}\n`;

  #moved(branch: string, before: string | undefined): void {
    const { heads, objects } = this.remote;
    const after = heads.get(branch);
    const type = after === undefined ? "branch_deletion" : before === undefined ? "branch_creation" : "push";
    this.activities.push({ branch, type, by: this.#actor, after: after ?? "0".repeat(40), at: this.now });
    for (const pull of this.pulls.filter(({ state }) => state === "open")) {
      if (pull.branch === branch && after !== undefined) pull.head = after;
      if (pull.branch === branch && after === undefined) this.end(pull, "closed");
      else if (pull.target === branch && after !== undefined && objects.isAncestor(pull.head, after))
        this.end(pull, "merged");
    }
  }

  /** Writes a ref of kept work, and deletes those that it replaces, all or nothing. @throws GitError */
  pushWork(name: string | undefined, text: Uint8Array, deleted: readonly string[]): void {
    const refuse = (status: string): never => {
      throw new GitError(["push"], "exited with 1", `To memory\n ! [remote rejected] ${name} (${status})`, 1);
    };
    if (this.refusesRefs) refuse("deny updating a hidden ref");
    const missing = deleted.find((one) => !this.works.has(one));
    if (missing !== undefined) refuse(`unable to delete '${missing}': remote ref does not exist`);
    for (const one of deleted) this.works.delete(one);
    if (name !== undefined) this.works.set(name, text);
  }

  /** Answers a request of GitHub's REST or GraphQL API. @throws GitHubError */
  request(route: string, given: Readonly<Record<string, unknown>>): unknown {
    const [method = "", path = ""] = route.split(" ");
    if (path.endsWith("/graphql")) return this.#graphql(String(given.query), given.variables);
    const name = String(given.repo).toLowerCase();
    if (!path.startsWith("/repos/{owner}/{repo}") || !this.names.has(name))
      throw new GitHubError(`GitHub answered 403 to ${route}: Resource not accessible by integration`, 403);
    const place = path.replace("/repos/{owner}/{repo}", "");
    const number = Number(given.pull_number ?? given.number ?? given.issue_number);
    const pull = this.pulls.find((one) => one.number === number);
    switch (`${method} ${place.replace(/\{\w+\}/, "N")}`) {
      case "GET ":
        return {
          id: repositoryId,
          full_name: `${owner}/${this.name}`,
          html_url: `https://github.com/${owner}/${this.name}`,
          permissions: { push: true },
        };
      case "GET /activity":
        return this.activities
          .filter(
            ({ branch, type }) =>
              given.ref === `refs/heads/${branch}` && [undefined, type].includes(given.activity_type as typeof type),
          )
          .map(({ branch, type, by, after, at }) => ({
            ref: `refs/heads/${branch}`,
            activity_type: type,
            actor: accounts[by],
            after,
            timestamp: new Date(at).toISOString(),
          }))
          .reverse();
      case "GET /pulls":
        return this.pulls
          .filter((one) => this.#isAsked(one, given))
          .map((one) => this.#show(one))
          .reverse();
      case "POST /pulls":
        return this.#show(this.#open(given));
      case "GET /pulls/N":
        if (pull !== undefined) return this.#show(pull);
        break;
      case "GET /pulls/N/commits":
        if (pull !== undefined)
          return this.remote.objects
            .log([pull.head], [pull.base])
            .map(({ id }) => this.#showCommit(id))
            .reverse();
        break;
      case "GET /compare/N":
        return this.#compare(String(given.basehead));
      case "GET /commits":
        return this.#commitsOf(String(given.sha), given.since === undefined ? 0 : Date.parse(String(given.since)));
      case "GET /commits/N":
        return { files: this.#filesOf(String(given.ref)) };
      case "GET /commits/N/pulls":
        return this.pulls.filter(({ mergeCommit }) => mergeCommit === given.ref).map((one) => this.#show(one));
      case "PATCH /pulls/N":
        if (pull !== undefined) return this.#show(Object.assign(pull, { body: String(given.body) }));
        break;
      case "GET /issues/N":
        if (pull !== undefined) return { closed_by: { ...accounts.person, type: "User" } };
        break;
      case "GET /issues/N/events":
      case "GET /issues/N/comments":
      case "GET /pulls/N/reviews":
        return [];
      default:
    }
    throw new GitHubError(`GitHub answered 404 to ${route}: Not Found`, 404);
  }

  /** Compares two commits, as "Compare two commits" in GitHub's documentation says. */
  #compare(basehead: string): unknown {
    const { objects } = this.remote;
    const [base = "", head = ""] = basehead.split("...");
    if (!this.remote.has(base) || !this.remote.has(head)) throw new GitHubError("GitHub answered 404: Not Found", 404);
    const [ahead, behind] = [objects.log([head], [base]), objects.log([base], [head])];
    const status =
      ahead.length === 0 ? (behind.length === 0 ? "identical" : "behind") : behind.length === 0 ? "ahead" : "diverged";
    const changed = objects.changedPaths(objects.mergeBase(base, head) ?? base, head);
    return {
      status,
      total_commits: ahead.length,
      commits: ahead.map(({ id }) => this.#showCommit(id)).reverse(),
      files: changed.map(showFile),
    };
  }

  #commitsOf(head: string, since: number): unknown[] {
    const all = this.remote.objects.log([head]).filter(({ at }) => at * 1000 >= since);
    return all.slice(0, 100).map(({ id }) => this.#showCommit(id));
  }

  #filesOf(commit: string): unknown[] {
    const { objects } = this.remote;
    const [parent] = objects.commit(commit).parents;
    return (parent === undefined ? [...objects.files(commit).keys()] : objects.changedPaths(parent, commit)).map(
      showFile,
    );
  }

  #showCommit(id: string) {
    const { parents, message } = this.remote.objects.commit(id);
    return { sha: id, parents: parents.map((sha) => ({ sha })), commit: { message } };
  }

  #graphql(query: string, variables: unknown): unknown {
    if (query.includes("viewer")) {
      const { login, id } = accounts.bot;
      return { data: { viewer: { login, databaseId: id } } };
    }
    const { id } = variables as { id: string };
    const pull = this.pulls.find(({ number }) => `PR_${number}` === id);
    if (pull !== undefined) pull.isDraft = false;
    return { data: {} };
  }

  #isAsked({ state, branch, target }: Pull, given: Readonly<Record<string, unknown>>): boolean {
    const isOfState = given.state === "all" || (state === "open") === (given.state === "open");
    const isOfHead = given.head === undefined || given.head === `${owner}:${branch}`;
    return isOfState && isOfHead && (given.base === undefined || given.base === target);
  }

  #open({ title, head, base, body, draft }: Readonly<Record<string, unknown>>): Pull {
    const [branch, target] = [String(head), String(base)];
    const { heads, objects } = this.remote;
    const [commit, onto] = [heads.get(branch), heads.get(target)];
    if (this.refusesPulls && this.#actor === "bot")
      throw new GitHubError("GitHub Actions is not permitted to create or approve pull requests.", 403);
    const invalid = (message: string): GitHubError => new GitHubError(`Validation Failed: ${message}`, 422);
    if (commit === undefined || onto === undefined) throw invalid('"field":"head","code":"invalid"');
    if (this.openOf(branch)?.target === target) throw invalid(`A pull request already exists for ${owner}:${branch}.`);
    if (objects.isAncestor(commit, onto)) throw invalid(`No commits between ${target} and ${branch}`);
    const pull: Pull = {
      number: this.pulls.length + 1,
      branch,
      target,
      title: String(title),
      body: String(body),
      by: this.#actor,
      isDraft: draft === true,
      state: "open",
      head: commit,
      base: objects.mergeBase(commit, onto) ?? onto,
      createdAt: this.now,
      endedAt: null,
      mergeCommit: undefined,
    };
    this.pulls.push(pull);
    return pull;
  }

  /** Lets a person open a pull request of a branch. Returns whether GitHub does. */
  openByHand(branch: string): boolean {
    const { heads, objects } = this.remote;
    const head = heads.get(branch);
    if (head === undefined || this.openOf(branch) !== undefined || objects.isAncestor(head, this.remote.head("main")))
      return false;
    this.#open({ title: "By hand", head: branch, base: "main", body: "By hand" });
    return true;
  }

  rename(name: string): void {
    this.name = name;
    this.names.add(name);
  }

  #show({
    number,
    branch,
    target,
    title,
    body,
    by,
    isDraft,
    state,
    head,
    base,
    createdAt,
    endedAt,
    mergeCommit,
  }: Pull) {
    const at = endedAt === null ? null : new Date(endedAt).toISOString();
    return {
      number,
      html_url: `https://github.com/${owner}/${this.name}/pull/${number}`,
      node_id: `PR_${number}`,
      state: state === "open" ? "open" : "closed",
      merged: state === "merged",
      title,
      body,
      draft: isDraft,
      user: accounts[by],
      created_at: new Date(createdAt).toISOString(),
      updated_at: at ?? new Date(createdAt).toISOString(),
      closed_at: at,
      merged_at: state === "merged" ? at : null,
      merge_commit_sha: mergeCommit ?? null,
      head: { ref: branch, sha: head, repo: { id: repositoryId } },
      base: { ref: target, sha: base, repo: { id: repositoryId } },
    };
  }
}
