import { Random } from "../../service/test/chaos/random.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { type HistoryRun, runHistory } from "./history.ts";
import { findViolations } from "./invariants.ts";
import { drawCancellation, drawScenario, formatScenario, type Scenario } from "./scenario.ts";
import { startServices } from "./services.ts";
import { findFalseStatements, isOverlyCareful } from "./statements.ts";

export interface KillsOptions {
  /** Histories in which the action is killed, half of them with each kind of service. */
  runs: number;
  /** Histories in which it is cancelled. */
  cancellations: number;
  seed: number;
  /** The index of the only history to run, whose logs are reported. Default: all. */
  only?: number | undefined;
  /** For the service. Empty. */
  folder: string;
  /** Receives each history, and what is wrong with it. */
  log: (line: string) => void;
}

/** How many histories run at a time. */
const atOnce = 2;

/** Runs histories, and returns how many are wrong, and what re-runs did. */
export async function runKills({
  runs,
  cancellations,
  seed,
  only,
  folder,
  log,
}: KillsOptions): Promise<{ wrong: number; counts: Map<string, number> }> {
  const histories = runs + cancellations;
  using docs = new DocsRepository();
  await using services = await startServices(docs, folder, histories);
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  let wrong = 0;
  const runOne = async (index: number): Promise<void> => {
    // Each history has a generator of its own, so that it can be repeated alone.
    const random = new Random(seed * 1_000_003 + index);
    const kind = index % 2 === 0 ? "own" : "keyless";
    const scenario = index < runs ? drawScenario(kind, random) : drawCancellation(kind, random);
    await using service = await services.open(scenario.service, index);
    const run = await runHistory(scenario, service, random);
    const violations = [...findViolations(scenario, run), ...findFalseStatements(run)];
    countHistory(scenario, run, count);
    if (only !== undefined) for (const { number, log: text } of run.attempts) log(`attempt ${number}:\n${text}`);
    if (violations.length > 0) wrong++;
    const verdict = violations.length > 0 ? "WRONG" : "right";
    log([`${verdict}: history ${index}: ${formatScenario(scenario)}`, ...violations].join("\n  "));
  };
  const indexes = only === undefined ? Array.from({ length: histories }, (_, index) => index) : [only];
  const next = indexes[Symbol.iterator]();
  const runRest = async (): Promise<void> => {
    for (const index of next) await runOne(index);
  };
  await Promise.all(Array.from({ length: atOnce }, runRest));
  return { wrong, counts };
}

function countHistory(scenario: Scenario, run: HistoryRun, count: (what: string) => void): void {
  const { before, attempts } = run;
  const service = `${scenario.ending === "cancel" ? "cancelled, " : ""}${scenario.service}`;
  if (isOverlyCareful(run)) count(`${service} service: nothing was started, and the re-run refused all the same`);
  for (const { number, exitCode, outputs, annotations } of attempts) {
    const error = annotations.find((text) => text.startsWith("error "))?.split(":")[0];
    const end = exitCode === null ? "killed" : exitCode === 0 ? `${outputs.outcome}, ${outputs["job-origin"]}` : error;
    count(`${service} service, attempt ${number}: ${end}`);
  }
  const stopped = (attempts[0]?.started.stopped ?? 0) - before.stopped;
  if (stopped > 0) count(`${service} service, turns that the first attempt has stopped`);
  const { turns } = attempts.at(-1)?.started ?? before;
  count(`${service} service, requests of a run: ${turns - before.turns}`);
}
