import type { FailureClass, RunningTurn } from "../model.ts";
import type { StoredReport } from "../store/running-turns.ts";

/** What a turn's agent did. */
export interface Outcome {
  /** Why the turn fails; `undefined` if its agent completed. */
  reason: string | undefined;
  failureClass?: FailureClass | undefined;
  report: StoredReport;
  /** The commit of its change, which the clone keeps; `undefined` if it changed nothing or failed. */
  commit: string | undefined;
}

/** More turns than a worker runs at a time. Those that others end are not forgotten. */
const max = 1000;

/**
 * The outcomes of agents on this worker whose turns have not ended. A worker that loses its lease in an outage, and takes the turn
 * again when that is over, does not run the agent again.
 */
export class KeptOutcomes {
  readonly #outcomes = new Map<string, Outcome & { attempts: number }>();

  /** Keeps the outcome of the attempt that was counted after the turn was taken. */
  keep({ identity, attempts }: RunningTurn, outcome: Outcome): void {
    this.#outcomes.set(identity, { ...outcome, attempts: attempts + 1 });
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > max && oldest !== undefined) this.#outcomes.delete(oldest);
  }

  /** Returns the outcome of the turn's last attempt, unless another worker made that. */
  find({ identity, attempts }: RunningTurn): Outcome | undefined {
    const kept = this.#outcomes.get(identity);
    return kept?.attempts === attempts ? kept : undefined;
  }

  /** Forgets what the check of a turn's commit showed, because another one takes its place. */
  forgetCheck({ identity }: Pick<RunningTurn, "identity">): void {
    const kept = this.#outcomes.get(identity);
    if (kept) kept.report = { ...kept.report, checkResult: undefined, checkOutput: undefined };
  }

  /** Forgets a turn, because it has ended. */
  forget({ identity }: Pick<RunningTurn, "identity">): void {
    this.#outcomes.delete(identity);
  }
}
