import { GitHubError } from "../../src/action/runner/github-error.ts";
import { hasOwnStep, placeOf } from "./history.ts";
import type { Attempt, Scenario } from "./scenario.ts";

/** What really became of an attempt, as far as it is known now. */
export type AttemptState = "running" | "passed" | "failed" | "crashed" | "killed" | "stuck" | "not-started";

/** The route of GitHub's "List jobs for a workflow run attempt". */
export const recordRoute = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs";

interface RecordedStep {
  number: number;
  name: string;
  status: "completed" | "in_progress";
  conclusion: string | null;
  started_at: string | null;
}

interface RecordedJob {
  name: string;
  status: "completed" | "in_progress";
  conclusion: string | null;
  runner_name: string | null;
  steps: RecordedStep[];
}

const time = "2026-01-01T00:00:00Z";

/** GitHub's record of which steps of a workflow ran in which attempts. */
export class AttemptRecord {
  readonly #scenario: Scenario;
  readonly #states: AttemptState[] = [];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  /** Records what became of an attempt. */
  set(index: number, state: AttemptState): void {
    this.#states[index] = state;
  }

  /** Answers a request of an attempt. */
  list(asking: Attempt, parameters: Record<string, unknown>): unknown {
    if (!asking.canReadRecord) throw new GitHubError("Resource not accessible by integration", 403);
    const indexes = [...this.#scenario.attempts.keys()].filter((at) => {
      const { run, number } = placeOf(this.#scenario, at);
      return idOf(this.#scenario, run) === String(parameters.run_id) && number === Number(parameters.attempt_number);
    });
    const [index] = indexes;
    if (index === undefined || indexes.length > 1) throw new GitHubError("Not Found", 404);
    const jobs = Number(parameters.page ?? 1) === 1 ? this.#jobsOf(index) : [];
    return { total_count: this.#jobsOf(index).length, jobs };
  }

  #jobsOf(index: number): RecordedJob[] {
    const attempt = this.#scenario.attempts[index];
    if (!attempt) return [];
    const isTwin = attempt.execution?.isTwin === true;
    const twin = this.#scenario.workflow?.twin;
    const state = this.#states[index] ?? "not-started";
    const [own, other] = isTwin ? ["Twin", "Docs"] : ["Docs", "Twin"];
    const hasJob = hasOwnStep(twin) && twin !== "step";
    const name = (step: string): string => (hasJob ? `refresh (${step})` : "refresh");
    const steps = [stepOf(2, hasJob || !hasOwnStep(twin) ? "Docs" : own, attempt, state)];
    if (twin === "step") steps.push({ ...skipped, number: 3, name: other });
    // Both steps of a job keep their numbers.
    for (const step of steps) if (twin === "step") step.number = step.name === "Docs" ? 2 : 3;
    const setUp = {
      number: 1,
      name: "Set up job",
      status: "completed" as const,
      conclusion: "success",
      started_at: time,
    };
    const job: RecordedJob = {
      name: name(own),
      status: state === "running" ? "in_progress" : "completed",
      conclusion: conclusionOf(attempt, state),
      runner_name: hasRunner(attempt) ? runnerOf(index) : null,
      // Of a runner that was lost, GitHub may know nothing.
      steps: hasRunner(attempt) && !isLost(attempt, state) ? [setUp, ...steps].toSorted(byNumber) : [],
    };
    const others = {
      name: name(other),
      status: "completed" as const,
      conclusion: "skipped",
      runner_name: null,
      steps: [],
    };
    return hasJob ? [job, others] : [job];
  }
}

/** Returns the name of the runner of an attempt. */
export function runnerOf(index: number): string {
  return `runner-${index + 1}`;
}

/** Returns whether GitHub may not know which steps the runner of an attempt ran. */
export function isLost({ kill }: Attempt, state: AttemptState): boolean {
  return state === "killed" && kill?.kind === "time";
}

/** Returns `GITHUB_RUN_ID`. */
export function idOf({ mode }: Pick<Scenario, "mode">, run: number): string {
  return mode.kind === "comment" ? "99" : String(run);
}

const skipped: RecordedStep = { number: 2, name: "", status: "completed", conclusion: "skipped", started_at: time };

function stepOf(number: number, name: string, { start }: Attempt, state: AttemptState): RecordedStep {
  if (start === "skipped") return { ...skipped, number, name };
  if (state === "running") return { number, name, status: "in_progress", conclusion: null, started_at: time };
  return {
    number,
    name,
    status: "completed",
    conclusion: state === "passed" ? "success" : "failure",
    started_at: time,
  };
}

function conclusionOf({ start }: Attempt, state: AttemptState): string | null {
  if (state === "running") return null;
  if (start === "no-runner") return "cancelled";
  if (start === "job-skipped") return "skipped";
  return state === "passed" ? "success" : "failure";
}

function hasRunner({ start }: Attempt): boolean {
  return start === "ran" || start === "skipped";
}

function byNumber(one: RecordedStep, other: RecordedStep): number {
  return one.number - other.number;
}
