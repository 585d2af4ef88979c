import { randomUUID } from "node:crypto";
import type { RunningTurn } from "../../model.ts";
import { startTurn } from "../job-state.ts";
import type { ProjectTurns, ReadyTurn, ReadyTurns, TakenTurn, TurnLimits } from "../ready-turns.ts";
import type { Sql, Transaction } from "../sql.ts";

interface NextTurn {
  turn: number;
  project: string;
}

/**
 * The queue of one process, in its SQLite file: the project whose last start is longest ago goes first. A lease never expires,
 * because the next service puts back the turns that the one before it had taken.
 */
export class SqliteReadyTurns implements ReadyTurns {
  readonly renewEveryMs = undefined;
  /**
   * When turns became ready in this process, the oldest first. Not stored, because only the age of the queue needs it. It can
   * contain turns whose transaction was not committed.
   */
  readonly #since = new Map<number, number>();
  readonly #now: () => number;

  /** @param now - returns milliseconds since any moment. Default: since the process started */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async add(transaction: Transaction, { turn, project }: ReadyTurn): Promise<void> {
    await transaction.run("INSERT INTO project (name) VALUES (?) ON CONFLICT DO NOTHING", project);
    await transaction.run("INSERT INTO ready (turn, project) VALUES (?, ?) ON CONFLICT DO NOTHING", turn, project);
    this.#noteReady(turn);
  }

  async mayHaveTurns(sql: Sql, limits?: TurnLimits): Promise<boolean> {
    const ready = "SELECT 1 FROM ready";
    const projects = "JOIN json_each(?) AS known ON known.key = ready.project";
    return typeof limits === "object"
      ? (await sql.row(`${ready} ${projects} LIMIT 1`, toJson(limits))) !== undefined
      : (await sql.row(`${ready} LIMIT 1`)) !== undefined;
  }

  async take(transaction: Transaction, limits: TurnLimits, at: number): Promise<RunningTurn | undefined> {
    const running = `SELECT count(*) FROM turn JOIN job ON job.id = turn.job
      WHERE turn.state = 'running' AND job.project = project.name`;
    const find = (from: string, where: string) => `SELECT ready.turn, project.name AS project FROM ${from}
         CROSS JOIN ready ON ready.turn = (SELECT min(turn) FROM ready WHERE ready.project = project.name)
         ${where} ORDER BY project.lastStart, ready.turn LIMIT 1`;
    const ofEach = find(
      "project JOIN json_each(?) AS known ON known.key = project.name",
      `WHERE known.value IS NULL OR (${running}) < known.value`,
    );
    const ofAny = find("project", limits === undefined ? "" : `WHERE (${running}) < ${limits}`);
    const next =
      typeof limits === "object"
        ? await transaction.row<NextTurn>(ofEach, toJson(limits))
        : await transaction.row<NextTurn>(ofAny);
    if (next === undefined) return undefined;
    await transaction.run("DELETE FROM ready WHERE turn = ?", next.turn);
    this.#since.delete(next.turn);
    const last = "SELECT max(lastStart) FROM project";
    await transaction.run(`UPDATE project SET lastStart = (${last}) + 1 WHERE name = ?`, next.project);
    return startTurn(transaction, { turn: next.turn, lease: randomUUID() }, at);
  }

  async remove(): Promise<void> {}

  /** A pause ends by `endPause`, or with the process. */
  async putBack(transaction: Transaction, { turn }: TakenTurn, pauseMs: number): Promise<void> {
    const project = "SELECT job.project FROM turn JOIN job ON job.id = turn.job WHERE turn.id = ?";
    if (pauseMs > 0) return;
    await transaction.run(`INSERT INTO ready (turn, project) VALUES (?, (${project}))`, turn, turn);
    this.#noteReady(turn);
  }

  async withdraw(transaction: Transaction, { turn }: Pick<ReadyTurn, "turn">): Promise<void> {
    await transaction.run("DELETE FROM ready WHERE turn = ?", turn);
  }

  async endPause(transaction: Transaction, turn: ReadyTurn): Promise<void> {
    await this.add(transaction, turn);
  }

  async recover(transaction: Transaction): Promise<{ id: number; job: string }[]> {
    const interrupted = "UPDATE turn SET state = 'waiting', lease = NULL WHERE state = 'running' RETURNING id, job";
    const turns = await transaction.rows<{ id: number; job: string }>(interrupted);
    await transaction.run("DELETE FROM ready");
    await transaction.run(
      `INSERT INTO ready (turn, project) SELECT min(turn.id), job.project FROM turn JOIN job ON job.id = turn.job
         WHERE turn.state = 'waiting' GROUP BY turn.job`,
    );
    for (const { turn } of await transaction.rows<{ turn: number }>("SELECT turn FROM ready")) this.#noteReady(turn);
    return turns;
  }

  async ofProjects(sql: Sql): Promise<ProjectTurns[]> {
    const running = `SELECT job.project, count(*) AS turns FROM turn JOIN job ON job.id = turn.job
      WHERE turn.state = 'running' GROUP BY job.project`;
    const turns = await sql.rows<NextTurn>("SELECT turn, project FROM ready");
    const found = new Map<string, ProjectTurns>();
    const of = (project: string): ProjectTurns => {
      const known = found.get(project) ?? { project, ready: 0, running: 0, oldestAgeSeconds: 0 };
      found.set(project, known);
      return known;
    };
    for (const { turn, project } of turns) {
      const one = of(project);
      one.ready++;
      const since = this.#since.get(turn) ?? this.#now();
      one.oldestAgeSeconds = Math.max(one.oldestAgeSeconds, (this.#now() - since) / 1000);
    }
    for (const { project, turns: count } of await sql.rows<{ project: string; turns: number }>(running))
      of(project).running = count;
    const ready = new Set(turns.map(({ turn }) => turn));
    for (const turn of this.#since.keys()) if (!ready.has(turn)) this.#since.delete(turn);
    return [...found.values()];
  }

  #noteReady(turn: number): void {
    if (!this.#since.has(turn)) this.#since.set(turn, this.#now());
  }

  async renew(): Promise<boolean> {
    return true;
  }

  /** No other process adds turns. */
  onReady(): void {}
}

/** Returns the limits as an object, in which `null` is no limit. */
function toJson(limits: ReadonlyMap<string, number>): string {
  return JSON.stringify(Object.fromEntries(limits));
}
