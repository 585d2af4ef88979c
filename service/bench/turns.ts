import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type Agent, shellAgent } from "../src/agents/agent.ts";
import { fullNetwork } from "../src/agents/network/agent-network.ts";
import { unconfined } from "../src/agents/sandbox/sandbox.ts";
import { GitRepository } from "../src/git/git-repository.ts";
import { Worktrees } from "../src/git/worktrees.ts";
import { LocalPullRequests } from "../src/pulls/local.ts";
import { openSqliteStore } from "../src/store/sqlite/open-store.ts";
import { runTurn } from "../src/turns/turn.ts";
import type { Measurement } from "./measurement.ts";

const largeFiles = 50_000;
const largeCommits = 2000;
const smallTurns = 15;
const packedTurns = 100;

const change = "echo more >> README.md";

/** Trusted, so that worktrees are kept without a sandbox. */
const agent: Agent = { ...shellAgent(change), isTrusted: true };

/** Measures how long turns take, what Git does for them, and what they leave behind. */
export async function measure(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-turns-"));
  try {
    return [
      ...(await measureLarge(join(folder, "large"))),
      ...(await measureSmall(join(folder, "small"))),
      await measurePacking(join(folder, "packing")),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureLarge(folder: string): Promise<Measurement[]> {
  const service = await start(folder, largeFiles, largeCommits);
  const first = await service.turn("job_first");
  const second = await service.turn("job_first");
  await service.worktrees.prepareSpares();
  const spare = await service.turn("job_spare");
  const row = (what: string, ms: number): Measurement => ({
    what: `${what}, ${largeFiles.toLocaleString("en")} files and ${largeCommits.toLocaleString("en")} commits`,
    // Measured with the same repository; the first number on the same machine.
    before: "9 s, and 48 s with a slower disk",
    now: `${(ms / 1000).toFixed(1)} s`,
  });
  return [
    row("first turn, from scratch", first),
    row("first turn, with a spare worktree", spare),
    row("second turn", second),
  ];
}

async function measureSmall(folder: string): Promise<Measurement[]> {
  const service = await start(folder, 20, 3);
  const [turns, scripts]: [number[], number[]] = [[], []];
  // In turn, so that both have the same load of the machine.
  for (let count = 0; count < smallTurns; count++) {
    turns.push(await service.turn(`job_${count}`));
    scripts.push(runScript(folder, service.url, count));
  }
  const ratio = median(turns) / median(scripts);
  // So that the next turn has nothing to fetch, as most have.
  await service.repository.fetch(["main"]);
  const traces = join(folder, "traces");
  mkdirSync(traces);
  process.env.GIT_TRACE2_EVENT = traces;
  try {
    await service.turn("job_traced");
  } finally {
    delete process.env.GIT_TRACE2_EVENT;
  }
  return [
    {
      what: "turn of a small repository, compared to a shell script with the same Git commands",
      before: "3.5 times",
      now: `${ratio.toFixed(1)} times (${Math.round(median(turns))} ms)`,
    },
    {
      what: "Git processes of a turn, with those that Git starts itself at both ends of a push",
      before: "28",
      now: String(readdirSync(traces).length),
    },
  ];
}

async function measurePacking(folder: string): Promise<Measurement> {
  const service = await start(folder, 20, 3);
  for (let count = 0; count < packedTurns; count++) await service.turn(`job_${count % 10}`);
  await service.repository.pack();
  const counts = execFileSync("git", ["-C", join(folder, "service/mirror.git"), "count-objects", "-v"], {
    encoding: "utf8",
  });
  const count = (name: string) => new RegExp(`^${name}: (\\d+)$`, "m").exec(counts)?.[1];
  return {
    what: "loose objects and packs of the clone",
    before: "924 and 0 after 314 turns",
    now: `${count("count")} and ${count("packs")} after ${packedTurns} turns and packing`,
  };
}

/** Starts what runs turns, with a new repository. */
async function start(folder: string, files: number, commits: number) {
  const url = join(folder, "docs.git");
  generate(url, files, commits);
  const state = join(folder, "service");
  const repository = new GitRepository({ url, folder: state });
  await repository.open();
  const worktrees = new Worktrees({ repository, folder: state, kept: 5, slowCheckoutMs: 0 });
  const store = openSqliteStore(":memory:");
  const { signal } = new AbortController();
  const log = () => {};
  const baseUrl = () => "http://127.0.0.1:1";
  const pullRequests = new LocalPullRequests({ store: store.pullRequests, repository, baseUrl, signal, log });
  const options = { agent, sandbox: unconfined, network: fullNetwork, limits: {}, timeLimitMs: 600_000 };
  const ports = { ...options, store, repository, worktrees, pullRequests, folder: state, largestChangeBytes: 1e9 };
  /** Runs a turn of a job, and returns how long it took, in milliseconds. */
  const turn = async (id: string): Promise<number> => {
    if (await store.jobs.find(id)) await store.turns.add(id, "Say more", Date.now());
    else await store.jobs.add({ id, project: "docs", createdAt: Date.now() }, "Say more");
    const next = await store.runningTurns.startNext();
    const job = await store.jobs.find(id);
    if (!next || !job) throw new Error("no turn is waiting");
    const startedAt = performance.now();
    const result = await runTurn(next, job, ports, signal);
    const ms = performance.now() - startedAt;
    if (result !== "completed") throw new Error(`the turn ${result}`);
    await store.runningTurns.finish(next, result, Date.now());
    return ms;
  };
  return { url, repository, worktrees, turn };
}

/** Generates a bare repository, in which each commit after the first changes one file. */
function generate(path: string, files: number, commits: number): void {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const file = (number: number) => `M 100644 inline docs/${number % 50}/${Math.floor(number / 50) % 50}/${number}.md\n`;
  const text = (number: number, word: string) => data(`${word} ${number} `.repeat(100));
  const all = Array.from({ length: files }, (_, number) => file(number) + text(number, "file"));
  const begin = `M 100644 inline README.md\n${data("Docs\n")}${all.join("")}`;
  const stream = Array.from({ length: commits }, (_, commit) => {
    const committer = `committer A <a@example.com> ${1_700_000_000 + commit} +0000\n`;
    const body = commit === 0 ? begin : file(commit % files) + text(commit, "change");
    return `commit refs/heads/main\n${committer}${data("Change")}${body}`;
  });
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  execFileSync("git", ["-C", path, "fast-import", "--quiet"], { input: stream.join("") });
}

/** Runs the Git commands of a turn as a person would write them, and returns how long they took, in milliseconds. */
function runScript(folder: string, url: string, count: number): number {
  const script = join(folder, "turn.sh");
  writeFileSync(
    script,
    `set -e
cd '${folder}'
[ -d script.git ] || git clone --quiet --bare '${url}' script.git
start=$(date +%s%N)
git -C script.git fetch --quiet --prune '${url}' '+refs/heads/*:refs/heads/*'
git clone --quiet --shared --no-checkout script.git tree-${count}
cd tree-${count}
git checkout --quiet -B agent/script_${count} origin/main
${change}
git add --all
git -c user.name=a -c user.email=a@example.com commit --quiet --message 'Say more'
git push --quiet '${url}' HEAD:refs/heads/agent/script_${count}
cd ..
rm -rf tree-${count}
echo $(( ($(date +%s%N) - start) / 1000 ))
`,
  );
  return Number(execFileSync("/bin/sh", [script], { encoding: "utf8" })) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
