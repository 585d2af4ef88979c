import { isSigned, rewriteCommit, showIdentity, splitCommit } from "../git/commit-object.ts";
import type { Start } from "../git/find-start.ts";
import { agentIdentity } from "../git/git.ts";
import type { NewObjects } from "../git/new-objects.ts";
import type { Repository } from "../git/repository.ts";
import type { Identity } from "../model.ts";
import { GitHubError } from "./github/github-error.ts";
import { namedTurns, withTrailers } from "./turn-trailers.ts";

/** What the operator wants of commits. */
export interface CommitSettings {
  /** Who commits. Default: the bot of the token, otherwise `agentIdentity`. */
  commitAs?: Identity | undefined;
  /** Whether commits are signed off, in the committer's name. Default: no. */
  signsOff?: boolean | undefined;
  trailers?: readonly string[] | undefined;
  /** What the titles of commits and pull requests begin with. Default: nothing. */
  titlePrefix?: string | undefined;
}

/** A commit that GitHub is asked to make. */
export interface RequestedCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  /** What of it GitHub does not have. */
  objects: NewObjects;
  /** Reads the contents with some ids, as text of which each character is a byte. */
  readContents: Repository["readContents"];
}

/** What commits need of GitHub. */
export interface GitHubOfCommits {
  /**
   * Returns the bot that the token acts for; `undefined` if that is a person, or GitHub does not tell.
   *
   * @throws GitHubError if GitHub cannot be reached, or its rate limit is reached
   */
  bot(): Promise<Identity | undefined>;
  /**
   * Returns the types of the rules for a branch, whether or not it exists. What GitHub refuses to tell is no rule.
   *
   * @throws as `bot` does
   */
  rulesOf(branch: string): Promise<ReadonlySet<string>>;
  /**
   * Makes a commit that is by the bot, and that GitHub signs. No branch has it yet.
   *
   * @returns its text
   * @throws GitHubError; Error if GitHub makes another commit, or does not sign it
   */
  sign(commit: RequestedCommit): Promise<{ id: string; text: string }>;
}

export interface CommittersOptions extends CommitSettings {
  repository: Pick<Repository, "commits" | "readCommit" | "writeCommit" | "newObjects" | "readContents">;
  /** Default: the repository is not on GitHub. */
  gitHub?: GitHubOfCommits | undefined;
}

/**
 * Makes the commits that a turn pushes. That of a worktree has its author and trailers from the beginning; rebased ones and copies are by
 * `agentIdentity` in the clone. Just before a push, what is pushed gets its author, its trailers and its signature here, unless it has
 * them. So what is kept of an earlier turn is pushed with the options and rules of today, and nothing gets to GitHub before it was
 * checked for secrets.
 */
export interface Committer {
  /**
   * Finds out how the turn's commit can be made, before an agent costs money.
   *
   * @throws with why it cannot be made as the message; GitHubError if GitHub cannot be reached, so that the turn waits
   */
  prepare(): Promise<void>;
  /**
   * Returns the committer, and further lines of trailers, for a commit that need not be made again; `undefined` if GitHub makes it.
   *
   * @throws as `prepare` does
   */
  author(): Promise<{ by: Identity; trailers: readonly string[] } | undefined>;
  /**
   * Makes a commit on top of `parent` that changes nothing, if rules say which messages or authors commits on the branch may have.
   *
   * @returns `undefined` if there are none, or what is pushed cannot be taken back
   * @throws as `prepare` does
   */
  trial(parent: string, message: string): Promise<string | undefined>;
  /**
   * Returns the commit that is pushed in place of one in the clone, with the same files and parent. A signed one stays as it is.
   *
   * @throws as `prepare` does: what cannot be made now is kept, and made later
   */
  make(commit: string): Promise<string>;
}

interface Way {
  identity: Identity;
  /** Signs the commit. Default: it has no signature. */
  signer: GitHubOfCommits | undefined;
  /** Whether rules say which messages or authors the commits may have, and let a push be taken back. */
  isTried: boolean;
}

/** Types of rules. GitHub's documentation: "REST API endpoints for rules". */
const ofCommits = ["commit_message_pattern", "commit_author_email_pattern", "committer_email_pattern"];
const againstTakingBack = ["non_fast_forward", "deletion"];

const signOffAdvice = "name who signs off with --commit-as, or use the token of a GitHub App or of the workflow";

/** Decides who commits in a project, and how. */
export class Committers {
  readonly #options: CommittersOptions;

  constructor(options: CommittersOptions) {
    this.#options = options;
  }

  /** Returns the committer of a turn. */
  of(start: Start): Committer {
    // A turn that waits for the end of an outage gets another one.
    let found: Promise<Way> | undefined;
    const find = (): Promise<Way> => {
      found ??= this.#findWay(start);
      return found;
    };
    return {
      prepare: async () => void (await find()),
      author: async () => {
        const { identity, signer } = await find();
        return signer === undefined ? { by: identity, trailers: this.#trailers(identity) } : undefined;
      },
      trial: async (parent, message) => this.#trial(parent, message, await find()),
      make: async (commit) => this.#make(commit, await find()),
    };
  }

  /**
   * Checks at the start, as far as GitHub can be reached, that somebody can sign off.
   *
   * @throws if nobody can
   */
  async check(): Promise<void> {
    if (!this.#options.signsOff) return;
    await this.#identity().catch((error: unknown) => {
      if (!(error instanceof GitHubError)) throw error;
    });
  }

  async #identity(): Promise<Identity> {
    const { commitAs, signsOff, gitHub } = this.#options;
    // A person did not write what an agent wrote.
    const known = commitAs ?? (await gitHub?.bot());
    if (known === undefined && signsOff)
      throw new Error(
        `--sign-off cannot be used with this token, because it is not known to be a bot's: ${signOffAdvice}.`,
      );
    return known ?? agentIdentity;
  }

  async #findWay(start: Start): Promise<Way> {
    const { commitAs, gitHub } = this.#options;
    const identity = await this.#identity();
    const rules = (await gitHub?.rulesOf(start.branch)) ?? new Set();
    const isTried = ofCommits.some((type) => rules.has(type)) && !againstTakingBack.every((type) => rules.has(type));
    const unsigned = { identity, signer: undefined, isTried };
    // GitHub signs only what a bot makes. A person may bypass the rule.
    if (gitHub === undefined || identity === agentIdentity) return unsigned;
    const signed = "required_signatures";
    const isOfTarget = async () => (await gitHub.rulesOf(start.targetBranch)).has(signed);
    const branch = rules.has(signed) ? start.branch : (await isOfTarget()) ? start.targetBranch : undefined;
    if (branch === undefined) return unsigned;
    if (commitAs !== undefined)
      throw new Error(
        `a rule of the repository requires signatures on ${branch}, and commits of --commit-as have none: leave that out, and use the token of a bot, for which GitHub signs them`,
      );
    await this.#checkSigned(start, branch);
    return { identity, signer: gitHub, isTried };
  }

  /** @throws if the branch has commits of the service that are not signed */
  async #checkSigned({ branch, base, head, isContinued }: Start, ruled: string): Promise<void> {
    const { repository } = this.#options;
    const commits = isContinued ? await repository.commits(base, head) : [];
    for (const { commit, message } of commits)
      if (namedTurns(message).length > 0 && !isSigned(await repository.readCommit(commit)))
        throw new Error(
          `a rule of the repository requires signatures on ${ruled} now, and ${branch} has commits of the service from before, which have none: create a new job`,
        );
  }

  async #trial(parent: string, message: string, way: Way): Promise<string | undefined> {
    if (!way.isTried) return undefined;
    const { repository } = this.#options;
    const { headers } = splitCommit(await repository.readCommit(parent));
    const by = `${showIdentity(way.identity)} ${Math.floor(Date.now() / 1000)} +0000`;
    const lines = [headers.split("\n", 1)[0], `parent ${parent}`, `author ${by}`, `committer ${by}`];
    return this.#make(await repository.writeCommit(`${lines.join("\n")}\n\n${message}`), way);
  }

  async #make(commit: string, { identity, signer }: Omit<Way, "isTried">): Promise<string> {
    const { repository } = this.#options;
    const text = await repository.readCommit(commit);
    // It was made for an earlier push, and another author would make the signature wrong.
    if (isSigned(text)) return commit;
    const message = withTrailers(splitCommit(text).message, this.#trailers(identity));
    if (signer !== undefined) return this.#makeSigned(commit, text, message, signer);
    const made = rewriteCommit(text, identity, message);
    return made === text ? commit : repository.writeCommit(made);
  }

  #trailers(identity: Identity): string[] {
    const { signsOff = false, trailers = [] } = this.#options;
    return [...trailers, ...(signsOff ? [`Signed-off-by: ${showIdentity(identity)}`] : [])];
  }

  async #makeSigned(commit: string, unsigned: string, message: string, signer: GitHubOfCommits): Promise<string> {
    const { repository } = this.#options;
    const { headers } = splitCommit(unsigned);
    const [tree = ""] = headers.match(/(?<=^tree )\w+/) ?? [];
    const parents = headers.match(/(?<=^parent )\w+/gm) ?? [];
    const objects = await repository.newObjects(commit);
    const readContents = (ids: readonly string[]) => repository.readContents(ids);
    const { id, text } = await signer.sign({ tree, parents, message, objects, readContents });
    const written = await repository.writeCommit(text);
    if (written !== id) throw new Error(`the commit that GitHub signed is ${id} there, and ${written} here`);
    return id;
  }
}
