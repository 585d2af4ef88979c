import { appendFileSync, readFileSync } from "node:fs";

/** What happens in one run of vitest. */
export type Job =
  /** Runs every test twice without a mutant, and records which mutants it reaches. */
  | { kind: "dry-run" }
  /** Runs each test once per mutant in its list, by the test's id. A mutant that was killed is not run again. */
  | { kind: "tests"; plays: Record<string, string[]>; limits: Limits }
  /** Runs tests with a mutant that is active while modules are loaded, until one fails. */
  | { kind: "fresh"; mutant: string; limits: Limits };

/** How long each reliable test may take, by its id. Other tests are not run. */
export type Limits = Record<string, Limit>;

export interface Limit {
  /** How long the test may wait and compute, in milliseconds. The time in which it waits for a processor does not count. */
  timeoutMs: number;
  /** How often code with mutants may run before it counts as an endless loop. */
  maxHits: number;
}

/** A job and the test files that it runs, in this order. */
export interface Step {
  files: string[];
  job: Job;
}

/** What a session does: its steps one after the other, each in a new worker. */
export interface Session {
  /** The repository's copy. */
  root: string;
  steps: Step[];
  /** Where the worker finds the job of the current step. */
  jobFile: string;
  journal: string;
}

export type Verdict = "killed" | "timed-out" | "survived";

/** A line of a session's journal. It is written at once, so that it survives the end of the process. */
export type Entry =
  | TestEntry
  /** Mutants that were reached while modules were loaded. */
  | { kind: "loaded"; mutants: string[] }
  | { kind: "start"; mutant: string; test: string }
  | ResultEntry
  /** A test fails without a mutant after it was run with some: its results for `mutants` are void. */
  | { kind: "unreliable"; test: string; mutants: string[] }
  | { kind: "step-done" };

/** What a test made of a mutant. */
export interface ResultEntry {
  kind: "result";
  mutant: string;
  test: string;
  result: Verdict;
  /** Whether the mutant's code ran too often, so that the verdict does not depend on how busy the machine was. */
  isEndless?: boolean;
}

/** A test as the dry run found it. */
export interface TestEntry {
  kind: "test";
  id: string;
  /** The absolute path. */
  file: string;
  name: string;
  passes: boolean;
  ms: number;
  /** How often code with mutants ran. */
  hits: number;
  /** The mutants that it reaches. */
  covers: string[];
  /** Those that its second run does not reach, because their code runs only when a module is loaded. */
  once: string[];
}

export function append(journal: string, entry: Entry): void {
  appendFileSync(journal, `${JSON.stringify(entry)}\n`);
}

/** Reads a journal. A line that was cut off is left out. */
export function readJournal(journal: string): Entry[] {
  const lines = readFileSync(journal, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
}
