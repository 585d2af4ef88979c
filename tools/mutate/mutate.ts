import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  globSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createImportGraph } from "./imports.ts";
import { instrument, type Mutant, sourceFiles } from "./instrument.ts";
import {
  type Entry,
  type Limits,
  type ResultEntry,
  readJournal,
  type Session,
  type Step,
  type TestEntry,
  type Verdict,
} from "./protocol.ts";

/** A mutant and whether a test noticed it. */
export interface MutantResult extends Mutant {
  /** `uncovered`: no test reaches it. */
  verdict: Verdict | "uncovered";
  /** Whether its code runs while modules are loaded. Such a mutant is also tried with freshly loaded modules. */
  isStatic: boolean;
  /** The test that noticed it. */
  test?: string;
}

export interface MutationRun {
  /** What was mutated, relative to the repository. */
  paths: readonly string[];
  mutants: MutantResult[];
  /** Files that no test imports, so that no mutant was put into them: they run only in processes of their own. */
  notImported: string[];
  /** Tests that were left out, because they fail without a mutant, or when they are repeated. */
  unusable: string[];
}

export interface MutationOptions {
  /** The repository. */
  root: string;
  /** Files or folders in it. */
  paths: readonly string[];
  /** Patterns of test files that are left out, relative to the repository. Default: none. */
  without?: readonly string[];
  /** Tries only some mutants that are not of string literals, the same ones each time for the same sources. Default: all. */
  sample?: Sample | undefined;
  onProgress?: (text: string) => void;
}

export interface Sample {
  /** How many mutants. */
  size: number;
  seed: number;
}

/** Returns whether a mutant only changes a text. */
export function isString({ mutator }: Mutant): boolean {
  return mutator === "StringLiteral";
}

/** A session whose journal does not grow for this long hangs, in milliseconds. No test may take that long. */
const stallMs = 30_000;
/** A test may take this much longer with a mutant than without, in milliseconds, on top of three times as long. */
const slackMs = 2000;
const slackHits = 100_000;

/** Runs the tests of a repository with each mutant of some of its sources, in a copy of the repository. */
export async function mutate({
  root,
  paths,
  without = [],
  sample,
  onProgress = () => {},
}: MutationOptions): Promise<MutationRun> {
  const files = sourceFiles(root, paths);
  const scratch = realpathSync(makeFolder(join(tmpdir(), "agent-job-mutate-")));
  const sessions = new AbortController();
  const remove = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  const interrupt = () => process.exit(130);
  process.once("exit", remove);
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  try {
    const copy = copyRepository(root, scratch);
    const reach = createImportGraph();
    const found = globSync("{,service/}test/{unit,integration}/**/*.test.ts", { cwd: copy, exclude: without });
    const tests = found.map((file) => join(copy, file));
    const reached = new Set(tests.flatMap((test) => [...reach(test)]));
    const imported = files.filter((file) => reached.has(resolve(copy, file)));
    if (imported.length === 0) throw new Error(`No test in test/unit or test/integration imports ${paths.join(", ")}`);
    const all = await instrument(copy, imported);
    const mutants = sample === undefined ? all : sampleOf(all, sample);
    onProgress(`${mutants.length} mutants in ${imported.length} files. Running the tests without them.`);
    const lab = {
      copy,
      scratch,
      reach,
      sessions,
      results: new Map<string, MutantResult>(),
      suspects: new Set<string>(),
      onProgress,
    };
    for (const mutant of mutants) lab.results.set(mutant.id, { ...mutant, verdict: "uncovered", isStatic: false });
    const notImported = files.filter((file) => !imported.includes(file));
    return { ...(await experiment(lab, tests)), paths, notImported };
  } finally {
    sessions.abort();
    process.off("exit", remove);
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
    remove();
  }
}

/** A mutant is chosen by what it is, so that a change elsewhere in the sources leaves the rest of the sample as it was. */
function sampleOf(mutants: readonly Mutant[], { size, seed }: Sample): Mutant[] {
  const rank = ({ file, line, column, mutator, replacement }: Mutant): string =>
    createHash("sha256")
      .update(JSON.stringify([seed, file, line, column, mutator, replacement]))
      .digest("hex");
  return mutants
    .filter((mutant) => !isString(mutant))
    .map((mutant) => ({ mutant, rank: rank(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant);
}

/** Makes a temporary folder in which tests can start programs as another user, if they run as root. */
function makeFolder(prefix: string): string {
  const folder = mkdtempSync(prefix);
  chmodSync(folder, 0o711);
  return folder;
}

function copyRepository(root: string, scratch: string): string {
  const copy = join(scratch, "repository");
  const leftOut = ["node_modules", ".git", "build", "coverage"].map((name) => resolve(root, name));
  cpSync(root, copy, { recursive: true, filter: (path) => !leftOut.includes(resolve(path)) });
  symlinkSync(resolve(root, "node_modules"), join(copy, "node_modules"), "junction");
  return copy;
}

interface Lab {
  /** The copy of the repository, with the instrumented sources. */
  copy: string;
  scratch: string;
  /** Returns the files that a file imports. */
  reach: (file: string) => Set<string>;
  results: Map<string, MutantResult>;
  /** The mutants that were noticed only because a test took long, which may have been the machine's fault. */
  suspects: Set<string>;
  /** Ends all sessions. */
  sessions: AbortController;
  onProgress: (text: string) => void;
}

async function experiment(lab: Lab, testFiles: readonly string[]): Promise<Pick<MutationRun, "mutants" | "unusable">> {
  const { results } = lab;
  const sources = new Set([...results.values()].map(({ file }) => resolve(lab.copy, file)));
  const candidates = testFiles.filter((file) => !lab.reach(file).isDisjointFrom(sources));
  const journal: Entry[] = [];
  await inShards(lab, candidates, async (files) => {
    if (files.length === 0) return;
    const own = await runSession(lab, [{ files, job: { kind: "dry-run" } }]);
    if (!isDone(own)) throw new Error("The tests could not be run without mutants.");
    journal.push(...own);
  });
  const tests = journal.filter((entry) => entry.kind === "test").map((test) => ({ ...test, file: resolve(test.file) }));
  if (tests.length === 0) throw new Error("The tests could not be run without mutants.");
  const usable = new Map(tests.filter(({ passes }) => passes).map((test) => [test.id, test]));
  for (const { covers } of usable.values()) for (const id of covers) update(lab, id, { verdict: "survived" });
  const loaded = journal.flatMap((entry) => (entry.kind === "loaded" ? entry.mutants : []));
  for (const id of [...loaded, ...tests.flatMap(({ once }) => once)])
    update(lab, id, { isStatic: true, verdict: "survived" });

  const ids = [...results.keys()];
  await inShards(lab, ids, (shard) => runTests(lab, usable, new Set(shard)));
  await tryAgain(lab, (suspects) => runTests(lab, usable, new Set(suspects)));
  // Texts in constants are many, and not counted.
  const survivors = ids.filter((id) => {
    const result = results.get(id);
    return result?.isStatic && result.verdict === "survived" && !isString(result);
  });
  lab.onProgress(`${survivors.length} mutants are left to try with freshly loaded modules.`);
  await inShards(lab, survivors, (shard) => runFresh(lab, usable, shard));
  await tryAgain(lab, (suspects) => runFresh(lab, usable, suspects));

  for (const result of results.values()) {
    const test = tests.find(({ id }) => id === result.test);
    if (test) result.test = test.name;
  }
  return {
    mutants: [...results.values()],
    unusable: tests.filter(({ id }) => !usable.has(id)).map(({ name }) => name),
  };
}

function update({ results }: Lab, id: string, change: Partial<MutantResult>): void {
  const result = results.get(id);
  if (result) Object.assign(result, change);
}

function isDone(journal: readonly Entry[]): boolean {
  return journal.at(-1)?.kind === "step-done";
}

/**
 * Splits work between sessions: twice as many as processors, because many tests wait for timers, but at most eight. If one
 * fails, the others end too.
 */
async function inShards(lab: Lab, items: readonly string[], run: (shard: string[]) => Promise<void>): Promise<void> {
  const count = Math.min(availableParallelism() * 2, 8);
  const shards = Array.from({ length: count }, (_, shard) => items.filter((_item, index) => index % count === shard));
  const runs = shards.map((shard) => run(shard));
  try {
    await Promise.all(runs);
  } catch (error) {
    lab.sessions.abort();
    await Promise.allSettled(runs);
    throw error;
  }
}

/**
 * Runs the suspects again while nothing else runs, with tests that run without them too. Only if they take long again, they
 * were noticed.
 */
async function tryAgain(lab: Lab, run: (suspects: string[]) => Promise<void>): Promise<void> {
  const suspects = [...lab.suspects];
  lab.suspects.clear();
  if (suspects.length === 0) return;
  lab.onProgress(`${suspects.length} mutants made a test take too long. Trying them again, alone.`);
  for (const id of suspects) {
    update(lab, id, { verdict: "survived" });
    delete lab.results.get(id)?.test;
  }
  await run(suspects);
  lab.suspects.clear();
}

/** Stores that a test noticed a mutant. */
function notice(lab: Lab, { mutant, test, result, isEndless = false }: Omit<ResultEntry, "kind">): void {
  update(lab, mutant, { verdict: result, test });
  if (result === "timed-out" && !isEndless) lab.suspects.add(mutant);
}

/** Runs each test with each of the mutants that it reaches, until none of them is left. Quick files go first. */
async function runTests(lab: Lab, usable: Map<string, TestEntry>, shard: Set<string>): Promise<void> {
  const survived = new Set<string>();
  /** Tests that have failed without a mutant, perhaps because of what an earlier mutant had left behind in their process. */
  const failed = new Set<string>();
  for (;;) {
    const isLeft = (mutant: string, test: string) =>
      shard.has(mutant) && lab.results.get(mutant)?.verdict === "survived" && !survived.has(`${mutant} ${test}`);
    const tests = [...usable.values()].map((test) => ({
      ...test,
      covers: test.covers.filter((mutant) => isLeft(mutant, test.id)),
    }));
    const pending = tests.filter(({ covers }) => covers.length > 0);
    if (pending.length === 0) return;
    const plays = Object.fromEntries(pending.map(({ id, covers }) => [id, covers]));
    // Those that have failed try again in a new process, before others leave something behind.
    const again = pending.filter(({ id }) => failed.has(id));
    const files = [...new Set([...quickFilesFirst(again), ...quickFilesFirst(pending)])];
    const journal = await runSession(lab, [{ files, job: { kind: "tests", plays, limits: limitsOf(pending) } }]);
    for (const entry of journal) {
      if (entry.kind === "result" && entry.result === "survived") survived.add(`${entry.mutant} ${entry.test}`);
      else if (entry.kind === "result") notice(lab, entry);
      else if (entry.kind === "unreliable") {
        if (failed.has(entry.test)) usable.delete(entry.test);
        failed.add(entry.test);
        for (const id of entry.mutants) {
          update(lab, id, { verdict: "survived" });
          lab.suspects.delete(id);
        }
      }
    }
    if (isDone(journal) && journal.some(({ kind }) => kind === "start")) continue;
    if (isDone(journal)) return;
    // The session ended while a test was running: its mutant hangs or ends the whole process.
    const last = journal.at(-1);
    if (last?.kind === "start") notice(lab, { ...last, result: "timed-out" });
  }
}

/** Runs each mutant with freshly loaded modules, in the test files that import its source. */
async function runFresh(lab: Lab, usable: Map<string, TestEntry>, shard: readonly string[]): Promise<void> {
  const tests = [...usable.values()];
  const limits = limitsOf(tests);
  const queue = [...shard];
  while (queue.length > 0) {
    const steps = queue.map((mutant): Step => {
      const file = lab.results.get(mutant)?.file ?? "";
      const source = resolve(lab.copy, file);
      const candidates = tests.filter(({ file }) => lab.reach(file).has(source));
      const isNear = ({ covers }: TestEntry) => covers.some((id) => lab.results.get(id)?.file === file);
      const near = quickFilesFirst(candidates.filter(isNear));
      const files = [...new Set([...near, ...quickFilesFirst(candidates)])];
      return { files, job: { kind: "fresh", mutant, limits } };
    });
    const journal = await runSession(lab, steps);
    for (const entry of journal) {
      if (entry.kind === "result") notice(lab, entry);
    }
    queue.splice(0, journal.filter(({ kind }) => kind === "step-done").length);
    if (isDone(journal)) continue;
    const mutant = queue.shift();
    const last = journal.at(-1);
    if (mutant !== undefined && last?.kind === "start") notice(lab, { ...last, result: "timed-out" });
  }
}

/** Orders the files of tests by how long their tests take. */
function quickFilesFirst(tests: readonly TestEntry[]): string[] {
  const durations = new Map<string, number>();
  for (const { file, ms } of tests) durations.set(file, (durations.get(file) ?? 0) + ms);
  return [...durations.keys()].sort((a, b) => (durations.get(a) ?? 0) - (durations.get(b) ?? 0));
}

function limitsOf(tests: readonly TestEntry[]): Limits {
  return Object.fromEntries(
    tests.map(({ id, ms, hits }) => [
      id,
      { timeoutMs: Math.min(ms * 3 + slackMs, stallMs / 2), maxHits: hits * 3 + slackHits },
    ]),
  );
}

/**
 * Runs a session in a process of its own, which is killed if it hangs. Returns its journal.
 *
 * @throws if it ends before it has done anything
 */
async function runSession(lab: Lab, steps: Step[]): Promise<Entry[]> {
  const folder = makeFolder(join(lab.scratch, "session-"));
  const session: Session = {
    root: lab.copy,
    steps,
    jobFile: join(folder, "job.json"),
    journal: join(folder, "journal.jsonl"),
  };
  writeFileSync(join(folder, "session.json"), JSON.stringify(session));
  writeFileSync(session.journal, "");
  const child = fork(join(import.meta.dirname, "session.ts"), [join(folder, "session.json")], {
    cwd: lab.copy,
    // What tests leave behind is removed with the folder.
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    signal: lab.sessions.signal,
    killSignal: "SIGKILL",
  });
  const isDryRun = steps.some(({ job }) => job.kind === "dry-run");
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  let size = 0;
  let grownAt = performance.now();
  const watchdog = setInterval(() => {
    const now = performance.now();
    const newSize = statSync(session.journal).size;
    if (newSize > size) grownAt = now;
    // Without mutants nothing hangs, but a slow test, or the start of vitest, can take long on a busy machine.
    else if (now - grownAt > (isDryRun || size === 0 ? 10 : 1) * stallMs) child.kill("SIGKILL");
    size = newSize;
  }, 1000);
  try {
    const [code, signal] = await once(child, "exit");
    const journal = readJournal(session.journal);
    if (journal.length === 0) throw new Error(`The tests could not be run: ${signal ?? `exit code ${code}`} ${errors}`);
    return journal;
  } finally {
    clearInterval(watchdog);
  }
}
