import { join } from "node:path";

/** Returns the job's branch. The id is the service's own, so it is valid in a ref name. */
export const jobBranch = (jobId: string): string => `agent/${jobId}`;

/** Returns the folder of the job logs: the output of agents, and the service's own notes. */
export const logsFolder = (folder: string): string => join(folder, "logs");

/** Returns the log of a job. */
export const jobLogFile = (folder: string, jobId: string): string => join(logsFolder(folder), `${jobId}.log`);
