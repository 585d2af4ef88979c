import { appendFileSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { runAgent } from "../agents/run-agent.ts";
import { hasOwnCommits } from "../git/agent-repository.ts";
import type { JobDirectory } from "../service-folder.ts";

/** What a turn uses of the machine, besides Git: its disk and its processes. */
export interface TurnMachine {
  /** Creates the directory of a job, and the folder of its log. Returns whether the job's home directory is new. */
  prepare(directory: JobDirectory, logFile: string): Promise<boolean>;
  /** Removes from a job's directory what does not outlive a turn. */
  clean(directory: JobDirectory): Promise<void>;
  appendLog(file: string, text: string): void;
  /** Returns how many bytes of the disk of a folder the service may use. */
  freeBytes(folder: string): Promise<number>;
  runAgent: typeof runAgent;
  hasOwnCommits: typeof hasOwnCommits;
}

export const turnMachine: TurnMachine = {
  prepare: async (directory, logFile) => {
    await mkdir(dirname(logFile), { recursive: true });
    return directory.prepare();
  },
  clean: (directory) => directory.clean(),
  appendLog: appendFileSync,
  freeBytes: async (folder) => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  runAgent,
  hasOwnCommits,
};
