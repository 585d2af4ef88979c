import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { gitEnvironment } from "../service/src/git/git-environment.ts";

const pages = {
  "README.md": "# Docs\n\nSee the [guide](docs/guide.md).\n",
  "docs/guide.md": "# Guide\n\nBegin with the [quickstart](quick-start.md).\n\nUtilise the command.\n",
};

/** A bare repository with a few pages of documentation, as a platform would host it. Disposing of it removes it. */
export class DocsRepository implements Disposable {
  readonly path: string;
  readonly #folder: string;
  /** As Git made it. */
  readonly #made: Entries;

  constructor(files: Readonly<Record<string, string>> = pages) {
    this.#folder = mkdtempSync(join(tmpdir(), "docs-repository-"));
    this.path = join(this.#folder, "docs.git");
    const key = JSON.stringify(files);
    const made = repositories.get(key);
    // Creating it takes ten times as long as writing the files that Git made for the first one.
    if (made === undefined) this.#create(files);
    else writeFolder(this.path, made);
    this.#made = made ?? readFolder(this.path);
    repositories.set(key, this.#made);
  }

  #create(files: Readonly<Record<string, string>>): void {
    git(["init", "--quiet", "--bare", "--initial-branch=main", "--template=", this.path]);
    mkdirSync(join(this.path, "hooks"));
    // A platform does not pack a repository while somebody waits for a push.
    appendFileSync(join(this.path, "config"), "[receive]\n\tautoGC = false\n");
    if (Object.keys(files).length > 0) this.importHistory(firstCommit(files));
  }

  /** Writes what a new bare clone has. To fetch that would take ten times as long. */
  prepareClone(folder: string): void {
    writeFolder(folder, this.#made);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Runs Git in the repository, as a person who can commit, and returns its trimmed stdout. */
  git(...args: string[]): string {
    return git([...author, "-C", this.path, ...args]).trim();
  }

  /** Adds commits that are written as `git fast-import` reads them: one process for a whole history. */
  importHistory(commands: string): void {
    git(["-C", this.path, "fast-import", "--quiet", "--date-format=now"], commands);
  }

  /** Returns all branches except the default branch. */
  branches(): string[] {
    const branches = this.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
    return branches.filter((branch) => branch !== "main" && branch !== "");
  }

  /** Returns the commit of a branch. */
  head(branch: string): string {
    const head = this.findHead(branch);
    if (head === undefined) throw new Error(`the repository has no branch ${branch}`);
    return head;
  }

  /** Returns the commit of a branch; `undefined` if there is no such branch. Unlike Git, it starts no process. */
  findHead(branch: string): string | undefined {
    const file = this.#refFile(branch);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) return readFileSync(file, "utf8").trim();
    const packed = join(this.path, "packed-refs");
    const refs = existsSync(packed) ? readFileSync(packed, "utf8").split("\n") : [];
    return refs.find((line) => line.endsWith(` refs/heads/${branch}`))?.split(" ")[0];
  }

  /** Creates a branch, or moves it. */
  setHead(branch: string, commit: string): void {
    const file = this.#refFile(branch);
    mkdirSync(dirname(file), { recursive: true });
    // Renamed, because a service may be reading it.
    const written = join(this.path, "new-head");
    writeFileSync(written, `${commit}\n`);
    renameSync(written, file);
  }

  /** Deletes a branch. */
  deleteBranch(branch: string): void {
    const file = this.#refFile(branch);
    if (existsSync(file) && !existsSync(join(this.path, "packed-refs"))) rmSync(file);
    else this.git("branch", "-D", branch);
  }

  #refFile(branch: string): string {
    return join(this.path, "refs/heads", branch);
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
    this.setHead("main", this.git("commit-tree", `${branch}^{tree}`, ...parents, "-m", "Merge"));
  }
}

const author = ["-c", "user.name=Someone", "-c", "user.email=someone@example.com"];

/** The files and folders of a repository, folders before what is in them. */
type Entries = readonly (readonly [path: string, content: Buffer | "folder"])[];

/** The repositories that Git made, by their pages. */
const repositories = new Map<string, Entries>();

function readFolder(folder: string): Entries {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path), entry.isDirectory() ? "folder" : readFileSync(path)] as const;
    })
    .sort(([one], [other]) => one.length - other.length);
}

function writeFolder(folder: string, entries: Entries): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of entries)
    if (content === "folder") mkdirSync(join(folder, path));
    else writeFileSync(join(folder, path), content);
}

/** Returns the commit of some files for `git fast-import`. */
function firstCommit(files: Readonly<Record<string, string>>): string {
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  return [
    "commit refs/heads/main\ncommitter Someone <someone@example.com> now\n",
    data("Begin\n"),
    ...Object.entries(files).map(([file, text]) => `M 100644 inline ${JSON.stringify(file)}\n${data(text)}`),
  ].join("");
}

function git(args: readonly string[], input = ""): string {
  return execFileSync("git", args, { encoding: "utf8", env: gitEnvironment(), input });
}
