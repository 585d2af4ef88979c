import type { RunningTurn, Turn } from "../../model.ts";
import { LeaseLost } from "../../store-errors.ts";
import type { PostgresDatabase } from "./database.ts";

/** The packed home directories of agents, for all machines. They are deleted with their job. */
export class PostgresHomes {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** Returns the identity of the last turn before this one in which an agent ran. */
  async lastAttemptedBefore({ id, job }: Turn): Promise<string | undefined> {
    const sql = "SELECT identity FROM turn WHERE job = ? AND id < ? AND attempts > 0 ORDER BY id DESC LIMIT 1";
    return (await this.#database.row<Pick<Turn, "identity">>(sql, job, id))?.identity;
  }

  /** Returns the archive of a job if the turn with this identity left it. */
  async loadHome(jobId: string, turn: string): Promise<Uint8Array | undefined> {
    const sql = "SELECT archive FROM home WHERE job = ? AND turn = ?";
    return (await this.#database.row<{ archive: Uint8Array }>(sql, jobId, turn))?.archive;
  }

  /** @throws LeaseLost if another worker has taken the turn over */
  async saveHome({ id, job, lease }: RunningTurn, archive: Uint8Array): Promise<void> {
    const { tables } = this.#database.names;
    const save = `INSERT INTO ${tables}.home (job, turn, archive)
      SELECT job, identity, $1 FROM ${tables}.turn WHERE id = $2 AND job = $3 AND lease = $4
      ON CONFLICT (job) DO UPDATE SET turn = excluded.turn, archive = excluded.archive`;
    if ((await this.#database.query(save, [archive, id, job, lease])).rowCount === 0) throw new LeaseLost(id);
  }

  /** Deletes the archives of these jobs if they are archived: a later turn of them begins with the earlier prompts and messages. */
  async deleteArchived(jobs: readonly string[]): Promise<void> {
    const places = jobs.map(() => "?").join(", ");
    // A message may have made a job active again.
    const archived = `SELECT id FROM job WHERE id IN (${places}) AND "archivedAt" IS NOT NULL`;
    if (jobs.length > 0) await this.#database.run(`DELETE FROM home WHERE job IN (${archived})`, ...jobs);
  }
}
