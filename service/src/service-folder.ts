import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { removeDirectory } from "./remove-directory.ts";

/** Git's configuration in a job's home directory, so that an agent can commit. Only the files that it leaves behind count. */
const gitIdentity = "[user]\n\tname = Agent\n\temail = agent@localhost\n";

/** Returns the folder of a service whose store is in a file. */
export const folderOfStore = (store: string): string => `${resolve(store)}.files`;

/** Returns the folder of the job directories, whose names are the ids of the jobs. */
export const jobsFolder = (folder: string): string => join(folder, "jobs");

/** Returns the folder of the job logs: the output of agents, and the service's own notes. */
export const logsFolder = (folder: string): string => join(folder, "logs");

/** Returns the folder that says, in a file for each, since when jobs are not in the store of which this machine has something. */
export const unknownFolder = (folder: string): string => join(folder, "unknown-jobs");

/** Returns the log of a job. */
export const jobLogFile = (folder: string, jobId: string): string => join(logsFolder(folder), `${jobId}.log`);

/** Returns the file that says when the parts of a job's log were written. */
export const logTimesFile = (folder: string, jobId: string): string => join(folder, "log-times", jobId);

/** Removes the log of a job. */
export async function removeLog(folder: string, jobId: string): Promise<void> {
  for (const file of [jobLogFile(folder, jobId), logTimesFile(folder, jobId)]) await rm(file, { force: true });
}

/**
 * The directory of a job. Its paths stay the same for all turns, because agents store their sessions by path. The home
 * directory, which has the sessions, outlives a turn. The worktree can; see `Worktrees`.
 */
export class JobDirectory {
  readonly path: string;
  /** The agent's `HOME`. */
  readonly home: string;
  /** The worktree. */
  readonly tree: string;
  /** The agent's `TMPDIR`. */
  readonly temporary: string;
  /** The prompt and the history, for the agent. */
  readonly input: string;
  /** The index of the worktree. Not for the agent. */
  readonly index: string;
  /** What the agents of the job printed, as they did, if the log shows it for people. Not for the agent. */
  readonly events: string;
  /** For `--setup`: `HOME`, whose caches outlive a turn, `TMPDIR`, and what it left in ignored files. Not for the agent. */
  readonly setup: { readonly home: string; readonly temporary: string; readonly files: string };
  /** The worktree of `--check`, with its index, `HOME` and `TMPDIR`. Not for the agent. */
  readonly check: { readonly path: string } & Record<"tree" | "index" | "home" | "temporary", string>;
  /** The processes of the agent that runs. Not for the agent. */
  readonly processes: string;
  /** The home directory from before the agent that runs, packed. Not for the agent. */
  readonly homeBefore: string;
  /** The identity of the turn that left the home directory, if several machines run the turns of the job. Not for the agent. */
  readonly homeTurn: string;

  /** @param folder - the service's folder */
  constructor(folder: string, jobId: string) {
    this.path = join(jobsFolder(folder), jobId);
    this.home = join(this.path, "home");
    this.tree = join(this.path, "tree");
    this.temporary = join(this.path, "tmp");
    this.input = join(this.path, "input");
    this.index = join(this.path, "index");
    this.events = join(this.path, "events.jsonl");
    const [setup, check] = [join(this.path, "setup"), join(this.path, "check")];
    this.setup = { home: join(setup, "home"), temporary: join(setup, "tmp"), files: join(setup, "files") };
    this.check = {
      path: check,
      tree: join(check, "tree"),
      index: join(check, "index"),
      home: join(check, "home"),
      temporary: join(check, "tmp"),
    };
    this.processes = join(this.path, "processes.json");
    this.homeBefore = join(this.path, "home-before");
    this.homeTurn = join(this.path, "home-turn");
  }

  /**
   * Creates the directory for a turn, without the worktree.
   *
   * @returns whether the home directory is new
   */
  async prepare(): Promise<boolean> {
    await this.clean();
    // An interrupted turn has left it.
    await this.#bringHomeBack();
    const isNew = await this.#prepareHome();
    await mkdir(this.temporary);
    await mkdir(this.input);
    return isNew;
  }

  /**
   * Puts a new home directory in the place of the job's, with no session in it. Disposing of the result brings the old one back, unless it
   * was dropped.
   */
  async replaceHome(): Promise<AsyncDisposable & { drop(): Promise<void> }> {
    await rename(this.home, this.#oldHome);
    await this.#prepareHome();
    return {
      drop: async () => {
        // At once: half of it must not come back if this is interrupted.
        const dropped = join(this.input, "old-home");
        await rename(this.#oldHome, dropped);
        await removeDirectory(dropped);
      },
      [Symbol.asyncDispose]: () => this.#bringHomeBack(),
    };
  }

  get #oldHome(): string {
    return join(this.path, "old-home");
  }

  async #bringHomeBack(): Promise<void> {
    if ((await lstat(this.#oldHome).catch(() => undefined)) === undefined) return;
    await removeDirectory(this.home);
    await rename(this.#oldHome, this.home);
  }

  /** Returns whether the home directory is new. */
  async #prepareHome(): Promise<boolean> {
    const isNew = (await mkdir(this.home, { recursive: true })) !== undefined;
    if (isNew) await writeFile(join(this.home, ".gitconfig"), gitIdentity);
    return isNew;
  }

  /** Removes what is only for one turn. */
  async clean(): Promise<void> {
    const { temporary, files } = this.setup;
    for (const path of [this.temporary, this.input, temporary, files, this.check.path]) await removeDirectory(path);
  }
}
