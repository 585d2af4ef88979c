import { errorMessage } from "../error-message.ts";
import { adviceOn, GitHubError } from "../pulls/github/github-error.ts";

/** In characters, of GitHub's message. The job's log has the full text. */
const maxQuoted = 300;

/** What GitHub rejected: creating a branch or pushing a merge before the agent runs, pushing a commit, or opening a pull request. */
export type Refused = "branch" | "merge" | "push" | "pull request";

/** Thrown when GitHub rejects a required operation. The cause is Git's or GitHub's error. */
export class HostRefused extends Error {}

/** Thrown when GitHub rejects a commit or its push. The cause is Git's or GitHub's error. */
export class PushRefused extends HostRefused {
  readonly #branch: string;

  constructor(cause: unknown, branch: string) {
    super(describeRefusal(cause, branch, "push"), { cause });
    this.#branch = branch;
  }

  /** Returns the turn's failure if its commit is lost. @param why - continues a sentence */
  whenLost(why: string): string {
    return describeRefusal(this.cause, this.#branch, "push", why);
  }
}

/** Thrown if somebody removed a turn's commit from its branch. It is not pushed again. */
export class TakenAway extends HostRefused {
  /** @param isDeleted - whether the branch was deleted */
  constructor(commit: string, branch: string, isDeleted: boolean) {
    const what = isDeleted ? "deleted that branch" : "taken it from there";
    super(
      `The turn's commit ${commit} was pushed to ${branch}, and somebody has ${what} since, so nothing is pushed again. Send a new prompt to go on with what is there now.`,
    );
  }
}

/**
 * Describes a rejected branch, push or pull request: GitHub's reason, what is kept, and how to fix it.
 *
 * @param error - Git's or GitHub's error
 * @param lost - why the commit is not kept. Default: it is kept
 */
export function describeRefusal(error: unknown, branch: string, refused: Refused, lost?: string): string {
  const isSetting = error instanceof GitHubError && actionsNotPermitted.test(error.message);
  const { of, kept, next } = texts[refused];
  const what = isSetting
    ? "GitHub Actions is not allowed to open pull requests here"
    : `${of} ${branch} was refused: ${quotedReason(error)}`;
  const advice = isSetting ? `${allowActions}.` : adviceOf(error);
  if (lost !== undefined)
    return `${what}. The commit is lost with this runner: ${lost}. ${advice} Then send the prompt again: its work is done again.`;
  return `${what}. ${kept(branch)} ${advice} ${next}`.trimEnd();
}

const texts: Readonly<Record<Refused, { of: string; kept: (branch: string) => string; next: string }>> = {
  branch: { of: "The branch", kept: () => "No agent was run.", next: "Then send the prompt again." },
  merge: { of: "The merge of its target branch into", kept: () => "The agent starts without it.", next: "" },
  push: {
    of: "The push to",
    kept: () => "The commit is kept.",
    next: "Then send the prompt again: the commit is pushed, and no agent runs for that work again.",
  },
  "pull request": {
    of: "The pull request of",
    kept: (branch) => `The work is on the branch ${branch}.`,
    next: "Then send the prompt again: the pull request is opened, and no agent runs for that work again.",
  },
};

/** GitHub's message if Actions may not open pull requests; see its documentation, "Managing GitHub Actions settings for a repository". */
export const actionsNotPermitted = /not permitted to create or approve pull requests/i;

export const allowActions =
  'Turn on "Allow GitHub Actions to create and approve pull requests" in the settings of the repository, under "Actions" › "General", and first in the settings of its organization, if it has one';

/** Returns whether push protection rejected a commit, which may contain a secret. The text of a rule may have that word, too. */
export const isForSecret = (error: unknown): boolean =>
  /push protection|GH009|push cannot contain secrets/i.test(errorMessage(error));

/** Phrases in GitHub's naming rules, and the option that satisfies each. */
const ofNames: readonly (readonly [words: RegExp, option: string])[] = [
  [/commit message/i, "--title-prefix or --trailer"],
  [/branch name/i, "--branch-prefix"],
  [/(?:author|committer) email/i, "--commit-as"],
];

function adviceOf(error: unknown): string {
  const text = errorMessage(error);
  if (isForSecret(error)) return "Look at the secret that GitHub names, and allow it there if it is none.";
  if (/workflow/i.test(text) && /without [`'"]?workflows?[`'"]? (?:scope|permission)/i.test(text))
    return "Only a token with permission for workflows can push files in .github/workflows.";
  const option = ofNames.find(([words]) => words.test(text))?.[1];
  if (option !== undefined)
    return `Set the service's option ${option} to what the rule wants (of a step, with agent-options in a new run: a re-run keeps them), or change the rule.`;
  if (/not UTF-8/.test(text)) return "Rename what has that name, or change the rule that requires signatures.";
  if (/verified signatures/i.test(text))
    return "Use the token of a GitHub App or of the workflow, for which GitHub signs commits, or change the rule.";
  const general = adviceOn(text);
  if (general !== undefined) return general;
  if (/GH\d{3}|rule violations|protected branch|declined|rejected/i.test(text))
    return "Change the rule, or let the token's account bypass it, in the repository or its organization.";
  return "Check the token's permissions: a re-run of a workflow run keeps the ones of its workflow file.";
}

/** Extracts the reason from Git's or GitHub's error, on one line. */
function quotedReason(error: unknown): string {
  const text = errorMessage(error);
  // Without a terminal, Git cannot ask for another one.
  if (text.includes("could not read Username")) return "GitHub does not accept the token";
  // Git's error message starts with the command.
  const remote = [...text.matchAll(/(?:^|^git push .*?: )remote: (.*)$/gm)]
    .map(([, line = ""]) => line.replace(/^(?:error: |- )/, "").trim())
    // Links and counts are only useful in the log.
    .filter((line) => line !== "" && !/^(?:Review all repository rules|https?:|\S+ objects|Resolving)/i.test(line));
  const rejected = /\[(?:remote )?rejected\].*?\((.*)\)/.exec(text)?.[1];
  // GitHub's API puts the reason into `errors`, followed by a URL.
  const answered =
    /"message":"([^"]+)"/.exec(text)?.[1] ?? text.replace(/^GitHub answered \d+ to [^:]*: | - https:\S+/g, "");
  const said = remote.length > 0 ? remote.join(" ") : (rejected ?? answered);
  const line = said.replace(/\s+/g, " ").replace(/[.:\s]+$/, "");
  return line.length > maxQuoted ? `${line.slice(0, maxQuoted)}…` : line;
}
