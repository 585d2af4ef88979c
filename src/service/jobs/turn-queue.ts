import { randomInt } from "node:crypto";
import type { Database } from "./database.ts";
import type { Turn } from "./store.ts";

/** Returns the id of a new turn, given the last one. */
export type NextTurnId = (last: number) => number;

/**
 * Returns an id that two services at the same time do not both give: a commit names its turn, so they could take it for
 * their own. In microseconds since 1970, of which the last three digits are random.
 */
export const distinctTurnId: NextTurnId = (last) => Math.max(last + 1, Date.now() * 1000 + randomInt(1000));

/**
 * Decides which turn is started next. Projects take turns: the one whose last start is longest ago goes first, so that a
 * project with many jobs does not hold up the others. Within a project, the oldest turn goes first, and a turn waits for the
 * earlier ones of its job.
 */
export class TurnQueue {
  readonly #db: Database;
  readonly #nextId: NextTurnId;

  /** @param nextId - default: counts */
  constructor(db: Database, nextId: NextTurnId = (last) => last + 1) {
    this.#db = db;
    this.#nextId = nextId;
  }

  /** Adds a turn of a job, in the caller's transaction. The job is active from then on. */
  add(job: string, project: string, prompt: string): void {
    const isFirst = !this.#hasOpenTurn(job);
    const id = this.#nextId(this.#db.row<{ last: number | null }>("SELECT max(id) AS last FROM turn")?.last ?? 0);
    this.#db.run("INSERT INTO turn (id, job, prompt) VALUES (?, ?, ?)", id, job, prompt);
    this.#db.run("UPDATE job SET state = 'active', idleSince = NULL, archivedAt = NULL WHERE id = ?", job);
    this.#db.run("INSERT OR IGNORE INTO project (name) VALUES (?)", project);
    if (isFirst) this.#db.run("INSERT INTO ready (turn, project) VALUES (?, ?)", id, project);
  }

  /** Takes the waiting turns of a job that were added without the queue, in the caller's transaction. */
  adopt(job: string, project: string): void {
    this.#db.run("INSERT OR IGNORE INTO project (name) VALUES (?)", project);
    const first = "SELECT min(id), ? FROM turn WHERE job = ? AND state = 'waiting' GROUP BY job";
    this.#db.run(`INSERT INTO ready (turn, project) ${first}`, project, job);
  }

  /** Marks the next turn as running and returns it. */
  start(): Turn | undefined {
    // Asked first, because most calls find no turn, and a transaction would write.
    if (!this.#db.row("SELECT 1 FROM ready LIMIT 1")) return undefined;
    return this.#db.transaction(() => {
      const next = this.#db.row<Turn & { project: string }>(
        `SELECT turn.id, turn.job, turn.prompt, turn.attempts, project.name AS project FROM project
           CROSS JOIN turn ON turn.id = (SELECT min(turn) FROM ready WHERE ready.project = project.name)
           ORDER BY project.lastStart, turn.id LIMIT 1`,
      );
      if (!next) return undefined;
      const { project, ...turn } = next;
      this.#db.run("DELETE FROM ready WHERE turn = ?", turn.id);
      this.#db.run("UPDATE turn SET state = 'running' WHERE id = ?", turn.id);
      const last = "SELECT max(lastStart) FROM project";
      this.#db.run(`UPDATE project SET lastStart = (${last}) + 1 WHERE name = ?`, project);
      return turn;
    });
  }

  /** Records how a turn ended, in the caller's transaction, and lets the next one of its job start. */
  finish(id: number, state: "completed" | "failed", at: number): void {
    const end = "UPDATE turn SET state = ?, endedAt = ? WHERE id = ? AND state = 'running'";
    // Recorded already: the next turn of the job may be running.
    if (this.#db.run(end, state, at, id).changes === 0) return;
    const job = "(SELECT job FROM turn WHERE id = ?)";
    const next = this.#db.run(
      `INSERT INTO ready (turn, project) SELECT min(turn.id), job.project FROM turn JOIN job ON job.id = turn.job
         WHERE turn.job = ${job} AND turn.state = 'waiting' GROUP BY turn.job`,
      id,
    );
    if (next.changes === 0) this.#db.run(`UPDATE job SET state = ?, idleSince = ? WHERE id = ${job}`, state, at, id);
  }

  /**
   * Makes a running turn wait again, with the attempts it had when it was started.
   *
   * @param isReady - whether it may be started at once, or only after `makeReady`
   */
  requeue({ id, attempts }: Pick<Turn, "id" | "attempts">, isReady: boolean): void {
    this.#db.transaction(() => {
      this.#db.run("UPDATE turn SET state = 'waiting', attempts = ? WHERE id = ?", attempts, id);
      if (isReady) this.#insertReady(id);
    });
  }

  /** Lets a turn start that was requeued without being ready. */
  makeReady(id: number): void {
    this.#db.transaction(() => this.#insertReady(id));
  }

  /** Requeues everything that an earlier service left. Returns the turns that were running. */
  resume(): Pick<Turn, "id" | "job">[] {
    return this.#db.transaction(() => {
      const interrupted = this.#db.rows<Turn>(
        "UPDATE turn SET state = 'waiting' WHERE state = 'running' RETURNING id, job",
      );
      this.#db.run("DELETE FROM ready");
      this.#db.run(
        `INSERT INTO ready (turn, project) SELECT min(turn.id), job.project FROM turn JOIN job ON job.id = turn.job
           WHERE turn.state = 'waiting' GROUP BY turn.job`,
      );
      return interrupted;
    });
  }

  #insertReady(id: number): void {
    this.#db.run(
      `INSERT OR IGNORE INTO ready (turn, project)
         SELECT turn.id, job.project FROM turn JOIN job ON job.id = turn.job WHERE turn.id = ?`,
      id,
    );
  }

  #hasOpenTurn(job: string): boolean {
    const open = "SELECT 1 FROM turn WHERE job = ? AND state IN ('waiting', 'running') LIMIT 1";
    return this.#db.row(open, job) !== undefined;
  }
}
