import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { childEnvironment } from "../src/service/processes/environment.ts";

const pages = {
  "README.md": "# Docs\n\nSee the [guide](docs/guide.md).\n",
  "docs/guide.md": "# Guide\n\nBegin with the [quickstart](quick-start.md).\n\nUtilise the command.\n",
};

/** A bare repository of a few pages, such as a platform would hold. */
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
    git(["-C", work, ...person, "commit", "--quiet", "--message=Begin"]);
    git(["-C", work, "push", "--quiet", this.path, "main"]);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  git(...args: string[]): string {
    return git(["-C", this.path, ...args]).trim();
  }

  /** All branches but the default one. */
  branches(): string[] {
    const branches = this.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
    return branches.filter((branch) => branch !== "main" && branch !== "");
  }

  /** A file on a branch. */
  read(branch: string, file: string): string {
    return this.git("show", `${branch}:${file}`);
  }

  /** What a branch changes against the default one. */
  diff(branch: string): string {
    return this.git("diff", `main...${branch}`);
  }

  /** Merges a branch as a platform's button does. */
  merge(branch: string): void {
    this.#commit(branch, ["-p", "main", "-p", branch]);
  }

  /** The same as one commit that knows nothing of the branch. */
  squash(branch: string): void {
    this.#commit(branch, ["-p", "main"]);
  }

  #commit(branch: string, parents: readonly string[]): void {
    const tree = this.git("rev-parse", `${branch}^{tree}`);
    this.git("update-ref", "refs/heads/main", this.git(...person, "commit-tree", tree, ...parents, "-m", "Merge"));
  }
}

const person = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];

function git(args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8", env: childEnvironment() });
}
