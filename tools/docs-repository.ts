import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gitEnvironment } from "../service/src/git/git-environment.ts";

const pages = {
  "README.md": "# Docs\n\nSee the [guide](docs/guide.md).\n",
  "docs/guide.md": "# Guide\n\nBegin with the [quickstart](quick-start.md).\n\nUtilise the command.\n",
};

/** A bare repository with a few pages of documentation, as a platform would host it. Disposing of it removes it. */
export class DocsRepository implements Disposable {
  readonly path: string;
  readonly #folder: string;

  constructor(files: Readonly<Record<string, string>> = pages) {
    this.#folder = mkdtempSync(join(tmpdir(), "docs-repository-"));
    const work = join(this.#folder, "work");
    this.path = join(this.#folder, "docs.git");
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(work, file)), { recursive: true });
      writeFileSync(join(work, file), text);
    }
    git(["init", "--quiet", "--bare", "--initial-branch=main", this.path]);
    git(["init", "--quiet", "--initial-branch=main", work]);
    if (Object.keys(files).length === 0) return;
    git(["-C", work, "add", "--all"]);
    git(["-C", work, ...author, "commit", "--quiet", "--message=Begin"]);
    git(["-C", work, "push", "--quiet", this.path, "main"]);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Runs Git in the repository and returns its trimmed stdout. */
  git(...args: string[]): string {
    return git(["-C", this.path, ...args]).trim();
  }

  /** Returns all branches except the default branch. */
  branches(): string[] {
    const branches = this.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
    return branches.filter((branch) => branch !== "main" && branch !== "");
  }

  /** Returns the content of a file on a branch. */
  read(branch: string, file: string): string {
    return this.git("show", `${branch}:${file}`);
  }

  /** Returns the diff of a branch against its merge base with the default branch. */
  diff(branch: string): string {
    return this.git("diff", `main...${branch}`);
  }

  /** Merges a branch into the default branch with a merge commit. */
  merge(branch: string): void {
    this.#commitToMain(branch, ["-p", "main", "-p", branch]);
  }

  /** Merges a branch into the default branch as one commit, without the branch as a parent. */
  squash(branch: string): void {
    this.#commitToMain(branch, ["-p", "main"]);
  }

  #commitToMain(branch: string, parents: readonly string[]): void {
    const tree = this.git("rev-parse", `${branch}^{tree}`);
    this.git("update-ref", "refs/heads/main", this.git(...author, "commit-tree", tree, ...parents, "-m", "Merge"));
  }
}

const author = ["-c", "user.name=Someone", "-c", "user.email=someone@example.com"];

function git(args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8", env: gitEnvironment() });
}
