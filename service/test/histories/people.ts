import type { HistoryGitHub, Pull } from "./github.ts";
import type { Act } from "./plan.ts";

const person = "writer <writer@example.com>";

/** What people do in the repository, and what they took away. */
export class People {
  readonly #github: HistoryGitHub;
  #edits = 0;
  /** Whether a person opened a pull request again. */
  hasReopened = false;

  constructor(github: HistoryGitHub) {
    this.#github = github;
  }

  /** Returns whether there was something to do it with. */
  do(act: Act): boolean {
    switch (act) {
      case "push to main":
        return this.#push("main", `src/code-${++this.#edits}.js`, "code();\n");
      case "edit main":
        return this.#push("main", "docs/guide.md", this.#guide());
      case "push to branch":
        return this.#push(this.#branch(), `docs/by-person-${++this.#edits}.md`, "By a person.\n");
      case "edit branch":
        return this.#push(this.#branch(), "docs/guide.md", this.#guide());
      case "squash":
        return this.#merge("squash");
      case "squash by title and delete":
        return this.#merge("squash by title");
      case "merge":
        return this.#merge("merge");
      case "close":
        return this.#withNewest((pull) => this.#github.close(pull));
      case "reopen":
        return this.#reopen();
      case "delete branch":
        return this.#delete(this.#branch());
      case "rename":
        this.#github.name = `${this.#github.name.replace(/-renamed$/, "")}-renamed`;
        return true;
    }
  }

  #guide(): string {
    return `# Guide\n\nBegin with the [quickstart](quick-start.md).\n\nA person says ${++this.#edits}.\n`;
  }

  /** The branch of the newest open pull request, or else of the newest job. */
  #branch(): string | undefined {
    const { docs } = this.#github;
    const newest = docs.git("for-each-ref", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads/agent");
    return this.#github.open().at(-1)?.branch ?? (newest.split("\n")[0] || undefined);
  }

  #withNewest(act: (pull: Pull) => void): boolean {
    const pull = this.#github.open().at(-1);
    if (pull) act(pull);
    return pull !== undefined;
  }

  #push(branch: string | undefined, file: string, text: string): boolean {
    const { docs } = this.#github;
    const before = branch === undefined ? undefined : docs.findHead(branch);
    if (branch === undefined || before === undefined) return false;
    const message = `A person changes ${file}`;
    docs.importHistory(
      `commit refs/heads/${branch}\ncommitter ${person} now\ndata ${message.length}\n${message}\nfrom ${before}\nM 100644 inline ${file}\ndata ${text.length}\n${text}\n`,
    );
    this.#github.moved(branch, before, docs.head(branch), "writer");
    return true;
  }

  #merge(how: "merge" | "squash" | "squash by title"): boolean {
    const { docs } = this.#github;
    return this.#withNewest((pull) => {
      const { number, title, base, head, branch } = pull;
      const before = docs.head(base);
      const tree = mergedTree(docs, base, head);
      if (tree === undefined) return;
      const messages = docs.git("log", "--format=%B", `${base}..${head}`);
      const message = {
        merge: `Merge pull request #${number} from acme/${branch}\n\n${title}`,
        squash: `${title} (#${number})\n\n${messages}`,
        "squash by title": `${title} (#${number})`,
      }[how];
      const parents = ["-p", before, ...(how === "merge" ? ["-p", head] : [])];
      const commit = docs.git("commit-tree", tree, ...parents, "-m", message);
      docs.setHead(base, commit);
      this.#github.moved(base, before, commit, "writer");
      this.#github.close(pull, commit);
      if (how === "squash by title") this.#delete(branch);
    });
  }

  #delete(branch: string | undefined): boolean {
    const { docs } = this.#github;
    const head = branch === undefined ? undefined : docs.findHead(branch);
    if (branch === undefined || head === undefined) return false;
    // So that the judge finds what was on it.
    docs.git("update-ref", `refs/deleted/${head}`, head);
    docs.git("update-ref", "-d", `refs/heads/${branch}`);
    this.#github.moved(branch, head, undefined, "writer");
    return true;
  }

  #reopen(): boolean {
    const pull = this.#github.pulls.at(-1);
    if (pull?.state !== "closed" || pull.mergeCommit || !this.#github.docs.findHead(pull.branch)) return false;
    Object.assign(pull, { state: "open", closedAt: undefined });
    pull.events.push("reopened");
    this.hasReopened = true;
    return true;
  }
}

/** Returns the tree of a merge; `undefined` if there is a conflict. */
function mergedTree(docs: HistoryGitHub["docs"], base: string, head: string): string | undefined {
  try {
    return docs.git("merge-tree", "--write-tree", base, head).split("\n")[0];
  } catch {
    return undefined;
  }
}
