import type { JobStatus, ListedJob } from "../model.ts";
import { PerProject } from "../per-project.ts";
import type { Store } from "../store/store.ts";
import { Jobs } from "./jobs.ts";

/** What to do with the jobs of a store. */
export type JobsCommand =
  | { command: "list"; projects: readonly string[] | undefined; status: JobStatus | undefined }
  /** Default of `turn`: the first one that has not ended. */
  | { command: "stop"; job: string; turn: number | undefined }
  | { command: "retry"; job: string };

/** How many jobs are listed at most. */
const listed = 100;

/**
 * Lists jobs, stops a turn, or runs the last turn of a job again, as the pages do in a browser.
 *
 * @returns lines for people
 * @throws with the reason as the message if it cannot be done
 */
export async function runJobsCommand(command: JobsCommand, store: Store): Promise<string[]> {
  if (command.command === "list") return listJobs(command, store);
  const jobs = new Jobs({ store, projects: PerProject.same({ repositoryName: "", model: "" }) });
  const { job } = command;
  const project = await store.jobs.projectOf(job);
  if (project === undefined) throw new Error(`the store has no job ${job}`);
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

async function listJobs({ projects, status }: JobsCommand & { command: "list" }, store: Store): Promise<string[]> {
  const query = { projects: projects ?? (await store.jobs.projects()), status, limit: listed };
  return (await store.lists.jobs(query)).map(lineOf);
}

function lineOf({ id, project, createdAt, state, archivedAt, turns, pullRequest }: ListedJob): string {
  const status = archivedAt === null ? state : "archived";
  const count = `${turns} ${turns === 1 ? "turn" : "turns"}`;
  return [id, status.padEnd(9), new Date(createdAt).toISOString(), project, count, pullRequest ?? "-"].join("  ");
}
