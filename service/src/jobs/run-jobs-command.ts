import { dollars } from "../cost.ts";
import type { JobStatus, PageJob, StoredTurn } from "../model.ts";
import { PerProject } from "../per-project.ts";
import { applyCommand } from "../store/kept-commits.ts";
import type { JobLogs } from "../store/logs.ts";
import type { Store } from "../store/store.ts";
import { Jobs } from "./jobs.ts";

/** What to do with the jobs of a store. `isJson`: prints one line of JSON, for programs. */
export type JobsCommand =
  | { command: "list"; projects: readonly string[] | undefined; status: JobStatus | undefined; isJson: boolean }
  | { command: "show"; job: string; isJson: boolean }
  /** Prints what is kept of it. */
  | { command: "patch"; job: string }
  | JobsChange;

/** A command that changes something. Default of `turn`: the first one that has not ended. */
export type JobsChange = { command: "stop"; job: string; turn: number | undefined } | { command: "retry"; job: string };

/** How many jobs are listed at most. */
const listed = 100;

/** How much of a log is shown, in bytes. */
const shownLogBytes = 4096;

/**
 * Lists jobs, or shows one with its turns and the end of its log.
 *
 * @param logs - default: the store's
 * @param now - in milliseconds since 1970
 * @returns lines for people, or one of JSON
 * @throws with the reason as the message if it cannot be done
 */
export async function readJobs(
  command: Exclude<JobsCommand, JobsChange | { command: "patch" }>,
  store: Store,
  logs: JobLogs | undefined,
  now = Date.now(),
): Promise<string[]> {
  if (command.command === "list") {
    const { projects = await store.jobs.projects(), status } = command;
    const jobs = await store.lists.jobs({ projects, status, limit: listed });
    const all = await Promise.all(jobs.map(async (job) => describe(job, await store.turns.ofJob(job.id))));
    return command.isJson ? [JSON.stringify(all)] : tableOf(all, now);
  }
  const { job: id } = command;
  const found = await store.jobs.find(id);
  if (found === undefined) throw noJob(id);
  const shown = { ...describe(found, await store.turns.ofJob(id)), log: await endOfLog(logs ?? store.logs, id) };
  return command.isJson
    ? [JSON.stringify(shown)]
    : [
        ...tableOf([shown], now),
        ...keptLines(found),
        "",
        ...shown.log.split("\n").map((line) => line.replace(/\p{Cc}|\p{Cf}/gu, "�")),
      ];
}

/** Says how to get the work of a job that no pull request has. */
function keptLines({ id, kept, branch }: PageJob): string[] {
  if (kept === null) return [];
  if (kept !== "pull-request")
    return [
      `Its last turn left ${kept === "push" ? "a commit" : "unfinished work"}: jobs patch ${id} prints it, for ${applyCommand}`,
    ];
  return [`Its work is on its branch: git fetch origin ${branch} && git switch --detach FETCH_HEAD`];
}

async function endOfLog(logs: JobLogs | undefined, job: string): Promise<string> {
  if (logs === undefined) return "";
  const end = await logs.end(job);
  const from = Math.max(0, end - shownLogBytes);
  const text = (await logs.read(job, from)).toString().trimEnd();
  // The first line may be cut off.
  return from === 0 ? text : text.slice(text.indexOf("\n") + 1);
}

type DescribedTurn = Pick<StoredTurn, "id" | "state" | "startedAt" | "endedAt" | "costUsd" | "reason" | "kept">;

/** A job as programs get it. Times are in milliseconds since 1970. */
type DescribedJob = Pick<PageJob, "id" | "project" | "createdAt" | "pullRequest"> & {
  status: JobStatus;
  turns: DescribedTurn[];
};

function describe(job: Omit<PageJob, "model" | "kept" | "branch">, turns: readonly StoredTurn[]): DescribedJob {
  const { id, project, createdAt, state, archivedAt, pullRequest } = job;
  return {
    id,
    project,
    status: archivedAt === null ? state : "archived",
    createdAt,
    pullRequest,
    turns: turns.map(({ id, state, startedAt, endedAt, costUsd, reason, kept }) => ({
      id,
      state,
      startedAt,
      endedAt,
      costUsd: dollars(costUsd) === undefined ? null : costUsd,
      reason,
      kept,
    })),
  };
}

/** Returns a line for each turn. The age is since the turn began, or else since its job was created. */
function tableOf(jobs: readonly DescribedJob[], now: number): string[] {
  const rows = jobs.flatMap(({ id, project, status, createdAt, pullRequest, turns }) =>
    turns.map((turn) => [
      id,
      project,
      status,
      String(turn.id),
      turn.state,
      ageOf(now - (turn.startedAt ?? createdAt)),
      dollars(turn.costUsd) ?? "-",
      pullRequest ?? "-",
    ]),
  );
  const all = [["JOB", "PROJECT", "STATUS", "TURN", "STATE", "AGE", "COST", "PULL REQUEST"], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function ageOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 120) return `${minutes}m`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1440)}d`;
}

const noJob = (job: string): Error => new Error(`the store has no job ${job}`);

/**
 * Stops a turn, or runs the last turn of a job again, as the pages do in a browser.
 *
 * @param jobs - the jobs of the service that runs. Default: none runs
 * @returns lines for people
 * @throws with the reason as the message if it cannot be done
 */
export async function changeJobs(
  command: JobsChange,
  store: Store,
  jobs: Pick<Jobs, "stopTurn" | "retryTurn"> = new Jobs({
    store,
    projects: PerProject.same({ repositoryName: "", model: "" }),
  }),
): Promise<string[]> {
  const { job } = command;
  const project = await store.jobs.projectOf(job);
  if (project === undefined) throw noJob(job);
  const turns = await store.turns.ofJob(job);
  if (command.command === "stop") {
    const turn = command.turn ?? turns.find(({ state }) => state === "waiting" || state === "running")?.id;
    const stopped = turn && (await jobs.stopTurn(project, job, turn, "Stopped by an operator (command line)."));
    if (!stopped || stopped.hadEnded)
      throw new Error(`${job} has no such turn that waits or runs, so nothing was stopped`);
    const isEnding = stopped.status === "running";
    return [`${job}: turn ${turn} ${isEnding ? "was told to stop" : `is ${stopped.status}`}`];
  }
  const last = turns.at(-1)?.id ?? 0;
  const result = await jobs.retryTurn(project, job, last);
  if (result === undefined) throw new Error(`the last turn of ${job} has not failed, so nothing is run again`);
  if ("retryAfterMs" in result)
    throw new Error(
      `project ${project} has used up its messages of this hour, so nothing is run again: try again in ${Math.ceil(result.retryAfterMs / 60_000)} minutes`,
    );
  return [`${job}: the prompt of turn ${last} is run again`];
}
