import { execFileSync } from "node:child_process";

export interface PushedCommit {
  commit: string;
  /** What its trailers say. */
  turn: number;
  identity: string;
  job: string;
  /** The first line of its message: that of its turn's prompt. */
  subject: string;
}

export interface PushedBranch {
  name: string;
  head: string;
  /** After the target branch, oldest first. */
  commits: PushedCommit[];
  /** The lines of the file that the agent appends to. */
  lines: string[];
}

/** Returns all branches of the repository except `main`, by name. */
export function readPushed(repository: string, file: string): Map<string, PushedBranch> {
  const git = (args: string[], input?: string) =>
    execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", maxBuffer: 2 ** 30, input });
  const refs = git(["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads"]);
  const branches = new Map<string, PushedBranch>();
  for (const line of refs.split("\n").filter((one) => one !== "")) {
    const [head = "", name = ""] = line.split(" ");
    if (name !== "main") branches.set(name, { name, head, commits: [], lines: [] });
  }
  const trailer = (key: string) => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const format = `--format=%S %H ${trailer("Agent-Turn")} ${trailer("Agent-Job")} %s`;
  const log = git([
    "log",
    "--reverse",
    "--topo-order",
    "--source",
    format,
    "--glob=refs/heads/agent/*",
    "--not",
    "main",
  ]);
  for (const line of log.split("\n").filter((one) => one !== "")) {
    const [source = "", commit = "", turn = "", job = "", ...subject] = line.split(" ");
    const [id, identity = ""] = turn.split(".");
    branches
      .get(source.replace("refs/heads/", ""))
      ?.commits.push({ commit, turn: Number(id), identity, job, subject: subject.join(" ") });
  }
  for (const branch of branches.values()) {
    // One that was only tried has no commit of an agent yet.
    if (git(["ls-tree", "--name-only", branch.head, file]) === "") continue;
    branch.lines = git(["show", `${branch.head}:${file}`])
      .trimEnd()
      .split("\n");
  }
  return branches;
}
