/** Runs inside vitest's worker: plays tests with mutants and writes the journal. */
import { readFileSync } from "node:fs";
import {
  type RunnerTestCase,
  type RunnerTestFile,
  type SerializedConfig,
  TestRunner,
  type TestTryOptions,
  type VitestTestRunner,
} from "vitest";
import { append, type Job, type Limits, type Verdict } from "./protocol.ts";

/** What the instrumented sources use, by the instrumenter's names. */
interface MutantSwitch {
  readonly activeMutant: string | undefined;
  /** Undefined while modules are loaded and tests are collected. */
  currentTestId: string | undefined;
  readonly mutantCoverage: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}

/** Kept globally, because a worker may load this module again for each test file. */
interface State {
  readonly job: Job;
  active: string | undefined;
  hits: number;
  maxHits: number;
  /** Whether a test has failed without a mutant. */
  isSpoiled: boolean;
  readonly mutants: MutantSwitch;
  readonly killed: Set<string>;
}

// Tests may install fake timers.
const { setTimeout, clearTimeout } = globalThis;
const globals = globalThis as { __stryker__?: MutantSwitch; mutationState?: State };
const state = globals.mutationState ?? createState();
const { job, mutants } = state;
globals.mutationState = state;
globals.__stryker__ = mutants;
const journal = setting("MUTATE_JOURNAL");

function createState(): State {
  const created: State = {
    job: JSON.parse(readFileSync(setting("MUTATE_JOB"), "utf8")),
    active: undefined,
    hits: 0,
    maxHits: Number.POSITIVE_INFINITY,
    isSpoiled: false,
    killed: new Set(),
    mutants: {
      // All code with mutants reads this, so that an endless loop ends wherever it is.
      get activeMutant() {
        if (++created.hits > created.maxHits) throw new Error("a mutant causes an endless loop");
        return created.active;
      },
      currentTestId: undefined,
      mutantCoverage: { static: {}, perTest: {} },
    },
  };
  return created;
}

function setting(name: "MUTATE_JOB" | "MUTATE_JOURNAL"): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** How one run of a test ended. */
type Result = "passed" | "failed" | "timed-out";

function verdict(result: Result): Verdict {
  return result === "passed" ? "survived" : result === "failed" ? "killed" : "timed-out";
}

/**
 * Returns a function that returns how long this thread has waited for events or computed since then, in milliseconds. On a busy
 * machine, that is less than the time that has passed.
 */
function startStopwatch(): () => number {
  const [utilization, cpu] = [performance.eventLoopUtilization(), process.threadCpuUsage()];
  return () => {
    const { user, system } = process.threadCpuUsage(cpu);
    return performance.eventLoopUtilization(utilization).idle + (user + system) / 1000;
  };
}

/** Waits for a test, but no longer than its limit. */
async function runFor(run: () => unknown, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const usedMs = startStopwatch();
  const limit = new Promise<Result>((resolve) => {
    const check = (): void => {
      const leftMs = timeoutMs - usedMs();
      if (leftMs <= 1) resolve("timed-out");
      else timer = setTimeout(check, leftMs);
    };
    timer = setTimeout(check, timeoutMs);
  });
  try {
    return await Promise.race([Promise.resolve(run()).then(() => "passed" as const), limit]);
  } catch {
    // Not passed on: vitest would compute a diff, which takes longer than most tests.
    return "failed";
  } finally {
    clearTimeout(timer);
  }
}

/** Runs tests more than once, as vitest's `repeats` does, and judges each run by itself. */
abstract class RepeatingRunner extends TestRunner {
  protected limits: Limits = {};
  #result: Result = "passed";

  override async importFile(filepath: string, source: "collect" | "setup"): Promise<unknown> {
    // Until the first test begins: the functions given to `describe` run later than the import.
    mutants.currentTestId = undefined;
    return super.importFile(filepath, source);
  }

  override onBeforeTryTask(test: RunnerTestCase, { repeats: run }: TestTryOptions & { repeats: number }): void {
    super.onBeforeTryTask(test, { retry: 0, repeats: run });
    // Assertions of a run that timed out may never end, and vitest would wait for them in the next run.
    delete test.promises;
    this.#result = "passed";
    state.hits = 0;
    this.beforeRun(test, run);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const { timeoutMs } = this.limits[test.id] ?? { timeoutMs: 60_000 };
    this.#result = await runFor(TestRunner.getTestFn(test), timeoutMs);
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions & { repeats: number }): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const isEndless = state.hits > state.maxHits;
    const hasFailedHook = this.#result === "passed" && test.result?.state === "fail";
    const result = isEndless ? "timed-out" : hasFailedHook ? "failed" : this.#result;
    this.afterRun(test, options.repeats, result, isEndless);
    if (test.result) Object.assign(test.result, { state: "run", errors: undefined, attempts: [] });
  }

  /** Runs before the hooks of the test's run, which is counted from 0. */
  protected abstract beforeRun(test: RunnerTestCase, run: number): void;
  protected abstract afterRun(test: RunnerTestCase, run: number, result: Result, isEndless: boolean): void;
}

/** Runs every test twice without a mutant: its second run reaches what mutants can change at any time. */
class DryRunner extends RepeatingRunner {
  #startedAt = 0;
  #passes = true;

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    test.repeats = 1;
    this.#passes = true;
    await super.onBeforeRunTask(test);
  }

  protected beforeRun(test: RunnerTestCase, run: number): void {
    mutants.currentTestId = `${test.id} ${run}`;
    this.#startedAt = performance.now();
  }

  protected afterRun(test: RunnerTestCase, run: number, result: Result): void {
    const ms = Math.ceil(performance.now() - this.#startedAt);
    mutants.currentTestId = "between tests";
    if (result !== "passed") this.#passes = false;
    if (run === 0) return;
    const { perTest } = mutants.mutantCoverage;
    const [first = {}, second = {}] = [perTest[`${test.id} 0`], perTest[`${test.id} 1`]];
    append(journal, {
      kind: "test",
      id: test.id,
      file: test.file.filepath,
      name: test.fullName,
      passes: this.#passes,
      ms,
      hits: state.hits,
      covers: Object.keys({ ...first, ...second }),
      once: Object.keys(first).filter((mutant) => !(mutant in second)),
    });
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    append(journal, { kind: "loaded", mutants: Object.keys(mutants.mutantCoverage.static) });
  }
}

/** Runs each test with its mutants. A run without one shows that the test can still pass: at the end, and after a timeout. */
class TestPlayer extends RepeatingRunner {
  readonly #plays: Record<string, string[]>;
  /** The mutants of the current test, and what is left to run: `undefined` is a run without a mutant. */
  #mutants: string[] = [];
  #queue: (string | undefined)[] = [];
  #isOver = false;

  constructor(config: SerializedConfig, plays: Record<string, string[]>, limits: Limits) {
    super(config);
    this.#plays = plays;
    this.limits = limits;
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    this.#mutants = (this.#plays[test.id] ?? []).filter((mutant) => !state.killed.has(mutant));
    this.#queue = [...this.#mutants, undefined];
    this.#isOver = false;
    if (this.#mutants.length === 0 || state.isSpoiled) test.mode = "skip";
    // vitest cannot end repeats early: the last ones do nothing.
    test.repeats = this.#mutants.length * 2;
    await super.onBeforeRunTask(test);
  }

  protected beforeRun(test: RunnerTestCase): void {
    const mutant = this.#queue[0];
    if (this.#isOver || mutant === undefined) return;
    append(journal, { kind: "start", mutant, test: test.id });
    state.maxHits = this.limits[test.id]?.maxHits ?? 0;
    state.active = mutant;
  }

  override async runTask(test: RunnerTestCase): Promise<void> {
    if (!this.#isOver) await super.runTask(test);
  }

  protected afterRun(test: RunnerTestCase, _run: number, result: Result, isEndless: boolean): void {
    if (this.#isOver) return;
    state.active = undefined;
    state.maxHits = Number.POSITIVE_INFINITY;
    const mutant = this.#queue.shift();
    if (mutant !== undefined) {
      if (result !== "passed") state.killed.add(mutant);
      append(journal, { kind: "result", mutant, test: test.id, result: verdict(result), isEndless });
      if (result === "timed-out" && this.#queue.length > 1) this.#queue.unshift(undefined);
    } else if (result !== "passed") {
      for (const each of this.#mutants) state.killed.delete(each);
      append(journal, { kind: "unreliable", test: test.id, mutants: this.#mutants });
      // A mutant may have left something behind that other tests find, too.
      state.isSpoiled = true;
      this.#isOver = true;
    }
    if (this.#queue.length === 0) this.#isOver = true;
  }
}

/** Runs tests with one mutant, which is active from the first import, until a test or an import fails. */
class FreshPlayer extends RepeatingRunner {
  readonly #mutant: string;

  constructor(config: SerializedConfig, mutant: string, limits: Limits) {
    super(config);
    this.#mutant = mutant;
    this.limits = limits;
    state.active = mutant;
  }

  override async importFile(filepath: string, source: "collect" | "setup"): Promise<unknown> {
    if (state.killed.has(this.#mutant)) return;
    append(journal, { kind: "start", mutant: this.#mutant, test: filepath });
    state.hits = 0;
    state.maxHits = maxHitsOfImport;
    try {
      return await super.importFile(filepath, source);
    } catch (error) {
      const isEndless = state.hits > state.maxHits;
      this.#kill(filepath, isEndless ? "timed-out" : "failed", isEndless);
      throw error;
    }
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    if (!(test.id in this.limits) || state.killed.has(this.#mutant)) test.mode = "skip";
    await super.onBeforeRunTask(test);
  }

  protected beforeRun(test: RunnerTestCase): void {
    append(journal, { kind: "start", mutant: this.#mutant, test: test.id });
    state.maxHits = this.limits[test.id]?.maxHits ?? 0;
  }

  protected afterRun(test: RunnerTestCase, _run: number, result: Result, isEndless: boolean): void {
    if (result !== "passed") this.#kill(test.id, result, isEndless);
  }

  #kill(test: string, result: Result, isEndless: boolean): void {
    state.killed.add(this.#mutant);
    append(journal, { kind: "result", mutant: this.#mutant, test, result: verdict(result), isEndless });
  }
}

/** Loading a test file and the sources runs a few thousand places with mutants. */
const maxHitsOfImport = 1_000_000;

/** The runner of the current job. vitest calls the default export as a constructor. */
export default function createRunner(config: SerializedConfig): VitestTestRunner {
  if (job.kind === "tests") return new TestPlayer(config, job.plays, job.limits);
  if (job.kind === "fresh") return new FreshPlayer(config, job.mutant, job.limits);
  return new DryRunner(config);
}
