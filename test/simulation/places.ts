import { type Execution, placeOf } from "./history.ts";
import type { JobRecord } from "./record.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf } from "./submissions.ts";

export const knownStatuses = ["active", "completed", "failed", "archived"];

/** One attempt of a history, with what it belongs to. */
export interface Place {
  index: number;
  run: AttemptRun;
  execution: Execution;
  /** The same for all attempts of one step of one workflow run. */
  unit: string;
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
    const { run: workflowRun } = placeOf(scenario, index);
    const hasOwnSession = execution.isTwin && ["project", "session"].includes(workflow.twin);
    const unit = `${workflowRun} ${execution.isTwin}`;
    return [{ index, run, execution, unit, session: hasOwnSession ? "twin" : "first" }];
  });
}

/** Returns when the attempt sent its first create or message. */
export function firstSubmissionAt(run: AttemptRun): number | undefined {
  return submissionsOf(run)[0]?.sentAt;
}

/** What the attempt was told about jobs before it sent something, in the order in which it was told. */
export function seenBefore({ requests }: AttemptRun): { jobId: string; status: string; link: string }[] {
  const first = requests.findIndex(({ kind }) => kind !== "poll");
  const before = first === -1 ? requests : requests.slice(0, first);
  return before.flatMap(({ jobId, received }) => {
    if (received?.kind !== "response") return [];
    if (received.status === 404) return [{ jobId, status: "not found", link: "" }];
    // An unknown status counts as active.
    return received.record?.id === jobId ? [{ jobId, ...withKnownStatus(received.record) }] : [];
  });
}

function withKnownStatus({ status, link }: JobRecord): { status: string; link: string } {
  return { status: knownStatuses.includes(status) ? status : "active", link };
}

/** Returns whether the attempt was told that a job, or any, failed, was archived or is not found. */
export function sawEnd(run: AttemptRun, job?: string): boolean {
  return seenBefore(run).some(
    ({ jobId, status }) => (job === undefined || jobId === job) && ["failed", "archived", "not found"].includes(status),
  );
}

/** Returns the job that an entry of the cache names. */
export function jobOf({ text }: { text: string }): string | undefined {
  return (JSON.parse(text) as { jobId?: string }).jobId;
}
