import { isLost, recordRoute } from "./attempt-record.ts";
import { type CacheMode, type Execution, firstOfRun, hasOwnStep, placeOf } from "./history.ts";
import { isSubmission } from "./received.ts";
import type { JobRecord } from "./record.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf } from "./submissions.ts";

export const knownStatuses = ["active", "completed", "failed", "archived"];

/** One attempt of a history, with what it belongs to. */
export interface Place {
  index: number;
  run: AttemptRun;
  execution: Execution;
  /** The number of its workflow run, and its own number in it, both from 1. */
  workflowRun: number;
  number: number;
  cacheMode: CacheMode;
  /** The same for all attempts of one step of one workflow run. */
  unit: string;
  /** The same for all attempts of a unit, and for those with other inputs of the same step. */
  step: string;
  /** The same for all attempts that use the same session. */
  session: string;
}

/** Returns the attempts of a history; none if the scenario is not one. */
export function placesOf({ scenario, attempts }: History): Place[] {
  const { workflow } = scenario;
  if (!workflow) return [];
  return attempts.flatMap((run, index) => {
    const execution = scenario.attempts[index]?.execution;
    if (!execution) return [];
    const { run: workflowRun, number } = placeOf(scenario, index);
    const hasOwnSession = execution.isTwin && ["project", "session", "base"].includes(workflow.twin);
    return [
      {
        index,
        run,
        execution,
        workflowRun,
        number,
        cacheMode: firstOfRun(scenario, index)?.cacheMode ?? "write",
        unit: `${workflowRun} ${execution.isTwin}`,
        step: `${workflowRun} ${execution.isTwin && hasOwnStep(workflow.twin)}`,
        session: hasOwnSession ? "twin" : "first",
      },
    ];
  });
}

/** Returns when the attempt sent its first create or message. */
export function firstSubmissionAt(run: AttemptRun): number | undefined {
  return submissionsOf(run)[0]?.sentAt;
}

/** What the attempt was told about jobs before it sent something, in the order in which it was told. */
export function seenBefore(run: AttemptRun, before?: number): { jobId: string; status: string; link: string }[] {
  const { requests } = run;
  const first = requests.findIndex((request) =>
    before === undefined ? isSubmission(request) : request.sentAt >= before,
  );
  const earlier = first === -1 ? requests : requests.slice(0, first);
  return earlier.flatMap(({ kind, jobId, received }) => {
    if (kind !== "poll" || received?.kind !== "response") return [];
    if (received.status === 404) {
      return isGone(run, jobId, received.at) ? [{ jobId, status: "not found", link: "" }] : [];
    }
    // An unknown status counts as active.
    return received.record?.id === jobId ? [{ jobId, ...withKnownStatus(received.record) }] : [];
  });
}

/** A job is not gone before the service has said so twice, this far apart, in milliseconds. */
export const secondLookMs = 2900;

/** Returns whether the service itself had said twice by then that there is no such job. */
export function isGone({ requests }: AttemptRun, job: string, by: number): boolean {
  const answers = requests.filter(
    ({ jobId, received }) =>
      jobId === job && received?.kind === "response" && received.status === 404 && received.isJson && received.at <= by,
  );
  return answers.some(({ sentAt }) => answers.some((one) => sentAt - (one.received?.at ?? sentAt) >= secondLookMs));
}

function withKnownStatus({ status, link }: JobRecord): { status: string; link: string } {
  return { status: knownStatuses.includes(status) ? status : "active", link };
}

/** Returns whether the attempt was told, before a time, that a job, or any, failed, was archived or is not found. */
export function sawEnd(run: AttemptRun, job?: string, before?: number): boolean {
  const isTold = run.requests.some(
    ({ received }) =>
      received?.kind === "response" &&
      received.at <= (before ?? Infinity) &&
      received.turns.some(
        (turn) => (job === undefined || turn.job === job) && ["failed", "stopped"].includes(turn.status),
      ),
  );
  return (
    isTold ||
    seenBefore(run, before).some(
      ({ jobId, status }) =>
        (job === undefined || jobId === job) && ["failed", "archived", "not found"].includes(status),
    )
  );
}

/** Returns whether the service told the attempt, before a time, what was sent under the step. */
export function wasTold({ requests }: AttemptRun, before = Infinity): boolean {
  return requests.some(
    ({ kind, received }) =>
      kind === "lookup" && received?.kind === "response" && received.announces && received.at <= before,
  );
}

/** Returns whether both steps ran in one attempt of a workflow run, which the simulated record does not tell apart. */
function isShared(scenario: History["scenario"], index: number): boolean {
  const { run } = placeOf(scenario, index);
  const numbers = scenario.attempts.map((_, at) => placeOf(scenario, at)).filter((place) => place.run === run);
  return new Set(numbers.map(({ number }) => number)).size < numbers.length;
}

/** Returns whether GitHub can tell an attempt whether earlier attempts of the workflow run began the step. */
export function canAskGitHub({ scenario, attempts }: History, index: number): boolean {
  const { run } = placeOf(scenario, index);
  const asking = scenario.attempts[index];
  if (!asking?.canReadRecord || isShared(scenario, index)) return false;
  const knows = scenario.attempts.every((attempt, at) => {
    const end = attempts[at]?.end;
    return at >= index || placeOf(scenario, at).run !== run || end === undefined || !isLost(attempt, end);
  });
  const asked = attempts[index]?.gitHubRequests.filter(({ route }) => route === recordRoute) ?? [];
  return knows && asked.every(({ data }) => typeof data === "object");
}

/** Returns the job that an entry of the cache names. */
export function jobOf({ text }: { text: string }): string | undefined {
  return (JSON.parse(text) as { jobId?: string }).jobId;
}
