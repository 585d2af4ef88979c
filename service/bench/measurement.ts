/** A row of the table in service/bench/results.md. */
export interface Measurement {
  /** What was measured. */
  what: string;
  /** What it was before this was fixed. */
  before: string;
  now: string;
}
