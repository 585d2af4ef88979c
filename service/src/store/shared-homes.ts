import { existsSync, writeFileSync } from "node:fs";
import { lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../error-message.ts";
import type { RunningTurn, Turn } from "../model.ts";
import { namesOf, oneLine } from "../one-line.ts";
import { removeDirectory } from "../remove-directory.ts";
import type { Secret } from "../secret-patterns.ts";
import { JobDirectory } from "../service-folder.ts";
import { LeaseLost, StoreUnavailable } from "../store-errors.ts";
import type { AgentHomes } from "./agent-homes.ts";
import { type ArchiveLimits, packHome, unpackHome } from "./home-archive.ts";
import type { PostgresHomes } from "./postgres/homes.ts";

type Log = (text: string) => void;
type Homes = Pick<PostgresHomes, "lastAttemptedBefore" | "loadHome" | "saveHome">;

/**
 * The largest compressed home directory that is kept, in bytes. All that is kept passes through the log and the backups of the database, after
 * each turn. A hundred tool calls that write 8 kB each leave 0.9 to 1.6 MB.
 */
const maxBytes = 2_000_000;
/** Before it is compressed. Claude Code's sessions grow to 50 MB in a hundred tool calls, and compress well. */
const limits: ArchiveLimits = { megabytes: 100, entries: 10_000 };

/**
 * The home directories of jobs whose turns run on several machines: each turn starts with what the last one left, wherever it
 * ran. If that is not available, the agent starts a new session, and still gets the earlier turns in its history file.
 */
export class SharedHomes implements AgentHomes {
  readonly #store: Homes;
  readonly #secrets: Iterable<Secret>;

  /** @param secrets - files with one of them are not kept. Default: none are known */
  constructor(store: Homes, secrets: Iterable<Secret> = []) {
    this.#store = store;
    this.#secrets = secrets;
  }

  /** Replaces the home directory by the one that the job's last turn left, or removes it. */
  async bring(turn: Turn, directory: JobDirectory, log: Log): Promise<void> {
    const last = await this.#store.lastAttemptedBefore(turn);
    const here = await readFile(directory.homeTurn, "utf8").catch(() => "");
    // Its agent has ended in this turn, or in the one before.
    if (here !== "" && (here === turn.identity || here === last)) return;
    await removeDirectory(directory.home);
    await rm(directory.homeTurn, { force: true });
    if (last === undefined) return;
    const archive = await this.#store.loadHome(turn.job, last);
    if (archive === undefined) {
      log(
        "The session of the agent's last turn was not kept for other machines, so a new one starts, with the history file.",
      );
      return;
    }
    const file = join(directory.path, "home.archive");
    try {
      await mkdir(directory.path, { recursive: true });
      await writeFile(file, archive);
      await unpackHome(file, directory.home, limits);
      await writeFile(directory.homeTurn, last);
    } catch (error) {
      log(`The session of the agent's last turn cannot be restored, so a new one starts: ${errorMessage(error)}`);
    } finally {
      await rm(file, { force: true });
    }
  }

  async begin(turn: Turn, directory: JobDirectory): Promise<void> {
    await writeFile(directory.homeTurn, `${turn.identity} begun`);
  }

  async keep(turn: RunningTurn, directory: JobDirectory, log: Log): Promise<void> {
    const file = join(directory.path, "home.archive");
    try {
      const secrets = Array.from(this.#secrets, ({ value }) => value);
      const withSecrets = await packHome(directory.home, file, secrets, limits, true);
      if (withSecrets.length > 0)
        log(`Not kept for other machines, because they have a secret: ${namesOf(withSecrets.map(oneLine))}`);
      const archive = await readFile(file);
      if (archive.length > maxBytes) throw new Error(`it has more than ${maxBytes / 1_000_000} MB, compressed`);
      await this.#store.saveHome(turn, archive);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      const reason = error instanceof StoreUnavailable ? "the store cannot be used" : errorMessage(error);
      log(`The agent's session is not kept for other machines, so it continues only on this one: ${reason}`);
    } finally {
      // Without that, the next turn takes the home that is stored.
      await Promise.allSettled([rm(file, { force: true }), writeFile(directory.homeTurn, turn.identity)]);
    }
  }
}

/**
 * The home directories of jobs whose turns all run here. A turn that is interrupted starts again with the home from before it: the session
 * would remember edits that are gone.
 */
export const ownHomes: AgentHomes = {
  bring: async (_turn, directory, log) => {
    const before = await lstat(directory.homeBefore).catch(() => undefined);
    if (before === undefined) return;
    log("The agent was interrupted, so its home is the one from before.");
    await removeDirectory(directory.home);
    try {
      if (before.size > 0) await unpackHome(directory.homeBefore, directory.home);
    } catch (error) {
      log(`That cannot be restored, so a new session starts: ${errorMessage(error)}`);
    }
    await rm(directory.homeBefore, { force: true });
  },
  begin: async (_turn, directory) => {
    const file = `${directory.homeBefore}.new`;
    // The empty file says that it was too large.
    await packHome(directory.home, file, []).catch(() => writeFile(file, ""));
    await rename(file, directory.homeBefore);
  },
  keep: (_turn, directory) => rm(directory.homeBefore, { force: true }),
};

/**
 * Records which turn left a job's home directory, if there is one, so that a worker with this folder continues its session.
 *
 * @param folder - the service's folder
 * @param turn - its identity
 */
export function markHome(folder: string, jobId: string, turn: string): void {
  const { home, homeTurn } = new JobDirectory(folder, jobId);
  if (existsSync(home)) writeFileSync(homeTurn, turn);
}
