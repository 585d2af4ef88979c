import type { RunningTurn, Turn } from "../../model.ts";
import { LeaseLost } from "../../store-errors.ts";
import type { KeptCommits } from "../kept-commits.ts";
import type { PostgresDatabase } from "./database.ts";

/** Commits that are not pushed, in the database: the last one of each job. They are deleted with their job. */
export class PostgresKeptCommits implements KeptCommits {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async save({ id, job, lease }: RunningTurn, packed: Uint8Array): Promise<void> {
    const { tables } = this.#database.names;
    const save = `INSERT INTO ${tables}."keptCommit" (job, packed)
      SELECT job, $1 FROM ${tables}.turn WHERE id = $2 AND job = $3 AND lease = $4
      ON CONFLICT (job) DO UPDATE SET packed = excluded.packed`;
    if ((await this.#database.query(save, [packed, id, job, lease])).rowCount === 0) throw new LeaseLost(id);
  }

  async load(job: string): Promise<Uint8Array | undefined> {
    const sql = 'SELECT packed FROM "keptCommit" WHERE job = ?';
    return (await this.#database.row<{ packed: Uint8Array }>(sql, job))?.packed;
  }

  async forget({ job, identity }: Pick<Turn, "job" | "identity">): Promise<void> {
    const { tables } = this.#database.names;
    // A commit names its turn. A worker that has lost its turn must not remove the next one's.
    const sql = `DELETE FROM ${tables}."keptCommit" WHERE job = $1 AND position(convert_to($2, 'UTF8') IN packed) > 0`;
    await this.#database.query(sql, [job, identity]);
  }
}
