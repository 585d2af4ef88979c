import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { scratchFolder } from "../../bench/scratch.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { GitRepository } from "../src/git/git-repository.ts";
import { LocalPullRequests } from "../src/pulls/local.ts";
import { openSqliteStore } from "../src/store/sqlite/open-store.ts";
import type { Measurement } from "./measurement.ts";

const count = 400;

/** Measures rounds that find closed pull requests that are pages of the service, with {@link count} open ones. */
export async function measure(): Promise<Measurement[]> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  await using store = openSqliteStore(":memory:");
  const refs = addBranches(docs);
  const repository = new GitRepository({ url: docs.path, folder: join(scratch.path, "service") });
  await repository.open();
  const pullRequests = new LocalPullRequests({
    store: store.pullRequests,
    repository,
    baseUrl: () => "http://127.0.0.1",
    signal: new AbortController().signal,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  /** Runs a round. Returns its time in seconds. */
  const round = async (): Promise<number> => {
    const startedAt = performance.now();
    const closed = await pullRequests.findClosed(refs);
    if (closed.size > 0) throw new Error(`${closed.size} pull requests are closed, although all are open`);
    return (performance.now() - startedAt) / 1000;
  };
  const moveTarget = (): void => {
    const commit = [
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "commit-tree",
      "main^{tree}",
      "-p",
      "main",
      "-m",
      "Move",
    ];
    docs.git("update-ref", "refs/heads/main", docs.git(...commit));
  };
  const times = { first: await round(), unchanged: await round(), moved: 0 };
  moveTarget();
  times.moved = await round();
  const processes = { unchanged: await countGit(scratch.path, round), moved: 0 };
  moveTarget();
  processes.moved = await countGit(scratch.path, round);
  const describe = (what: "unchanged" | "moved") => `${processes[what]} processes, ${times[what].toFixed(2)} s`;
  const what = `a round with ${count} pull requests that are pages`;
  const before = "2,802 processes, 7 s";
  return [
    { what: `${what}, no change`, before, now: describe("unchanged") },
    { what: `${what}, after the target branch moved`, before, now: describe("moved") },
  ];
}

/** Adds branches with a commit each. Returns their pull requests. */
function addBranches(docs: DocsRepository) {
  const main = docs.git("rev-parse", "main");
  const name = (index: number) => `agent/job_${index}`;
  const commands = Array.from(
    { length: count },
    (_, index) =>
      `commit refs/heads/${name(index)}\ncommitter a <a@b> ${index} +0000\ndata 4\nPage\nfrom ${main}\nM 644 inline ${index}.md\ndata 4\nText\n`,
  );
  execFileSync("git", ["-C", docs.path, "fast-import", "--quiet"], { input: commands.join("\n") });
  return Array.from({ length: count }, (_, index) => ({
    link: `http://127.0.0.1/pull/${index + 1}`,
    branch: name(index),
    head: docs.git("rev-parse", name(index)),
  }));
}

/** Returns how many Git processes the service starts in `run`. */
async function countGit(folder: string, run: () => Promise<unknown>): Promise<number> {
  const { PATH = "" } = process.env;
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const calls = join(folder, "calls");
  const wrapper = join(folder, "git");
  // Every command of the service has this setting. The other end of a transfer is the repository's.
  const script = `#!/bin/sh\ncase "$*" in *core.hooksPath*) echo >> '${calls}' ;; esac\nexec '${real}' "$@"\n`;
  writeFileSync(calls, "");
  writeFileSync(wrapper, script, { mode: 0o755 });
  process.env.PATH = folder + delimiter + PATH;
  try {
    await run();
  } finally {
    process.env.PATH = PATH;
    rmSync(wrapper);
  }
  return readFileSync(calls, "utf8").length;
}
