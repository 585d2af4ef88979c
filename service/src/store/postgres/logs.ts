import type { RunningTurn } from "../../model.ts";
import { LeaseLost } from "../../store-errors.ts";
import type { LogMark } from "../log-times.ts";
import type { JobLogs } from "../logs.ts";
import type { PostgresDatabase } from "./database.ts";

const maxChunkBytes = 64 * 1024;
/** How many chunks are read at once: most are small. */
const maxChunks = 100;
/**
 * Workers add to logs every second, and few people follow one. So followers poll: a notification would wake every process on the store,
 * and Postgres commits transactions with notifications one after another.
 */
const defaultPollMs = 1000;

/** The logs of jobs in tables, for all processes on the store: in chunks, one after another without gaps. */
export class PostgresLogs implements JobLogs {
  readonly #database: PostgresDatabase;
  readonly #pollMs: number;

  /** @param pollMs - how often followers look at a log. Default: every second */
  constructor(database: PostgresDatabase, pollMs = defaultPollMs) {
    this.#database = database;
    this.#pollMs = pollMs;
  }

  async read(jobId: string, from: number): Promise<Buffer> {
    const chunks = `SELECT start, content, sum(length(content)) OVER (ORDER BY start) AS "endOfChunk" FROM "logChunk"
      WHERE job = ? AND start > ? AND start + length(content) > ? ORDER BY start LIMIT ${maxChunks}`;
    const read = `SELECT start, content FROM (${chunks}) AS chunk
      WHERE "endOfChunk" - length(content) < ${maxChunkBytes} ORDER BY start`;
    const found = await this.#database.rows<{ start: number; content: Buffer }>(
      read,
      jobId,
      from - maxChunkBytes,
      from,
    );
    const start = found[0]?.start ?? from;
    return Buffer.concat(found.map(({ content }) => content)).subarray(from - start);
  }

  async end(jobId: string): Promise<number> {
    const last = 'SELECT start + length(content) AS "end" FROM "logChunk" WHERE job = ? ORDER BY start DESC LIMIT 1';
    return (await this.#database.row<{ end: number }>(last, jobId))?.end ?? 0;
  }

  marks(jobId: string): Promise<LogMark[]> {
    return this.#database.rows('SELECT turn, start, at FROM "logChunk" WHERE job = ? ORDER BY start', jobId);
  }

  follow(_jobId: string, listener: () => void): () => void {
    const timer = setInterval(listener, this.#pollMs).unref();
    return () => clearInterval(timer);
  }

  /** Returns the size of the log of a turn's job, and of the turn's part of it, in bytes. */
  async size({ id, job }: RunningTurn): Promise<{ size: number; ofTurn: number }> {
    const sum = `SELECT coalesce(sum(length(content)), 0)::bigint AS size,
      coalesce(sum(length(content)) FILTER (WHERE turn = ?), 0)::bigint AS "ofTurn" FROM "logChunk" WHERE job = ?`;
    return (await this.#database.row<{ size: number; ofTurn: number }>(sum, id, job)) ?? { size: 0, ofTurn: 0 };
  }

  /**
   * Appends to the log of a turn's job.
   *
   * @param position - the end of the log, in bytes
   * @throws LeaseLost if somebody else has taken the turn over, StoreUnavailable if nothing can be stored now
   */
  async append({ id, job, lease }: RunningTurn, position: number, content: Buffer): Promise<void> {
    const starts: number[] = [];
    for (let offset = 0; offset < content.length; offset += maxChunkBytes) starts.push(offset);
    const { tables } = this.#database.names;
    // One statement, because it is the most frequent one. Until it has ended, nobody else can take the turn over.
    const append = `WITH owned AS (SELECT 1 FROM ${tables}.turn WHERE id = $1 AND lease = $2 FOR SHARE)
      INSERT INTO ${tables}."logChunk" (job, start, turn, content)
      SELECT $3, $4 + chunk, $1, substr($5::bytea, chunk + 1, ${maxChunkBytes})
      FROM owned, unnest($6::integer[]) AS chunk`;
    const values = [id, lease, job, position, content, starts];
    if ((await this.#database.query(append, values)).rowCount === 0) throw new LeaseLost(id);
  }
}
