import type { Timeline } from "../../../test/simulation/timeline.ts";
import { epoch } from "../../../test/support/fake-clock.ts";
import type { KeptWork, TurnState } from "../../src/model.ts";
import type { DatabaseServer } from "./database.ts";
import { leaseMs } from "./leased-turns.ts";
import type { MachineProcess } from "./machine-process.ts";

/** A turn as it is in the store. */
export interface TurnRow {
  id: number;
  identity: string;
  job: string;
  prompt: string;
  state: TurnState;
  attempts: number;
  step: string;
  request: string;
  acceptedAs: "create" | "message";
  lease: string | null;
  answer: string | null;
  reason: string | null;
  kept: KeptWork | null;
}

export interface JobRow {
  id: string;
  project: string;
  pullRequest: string | null;
  head: string | null;
  state: string;
  idleSince: number | null;
  archivedAt: number | null;
}

/** The return of a turn to the queue by the worker that had it. */
export interface Requeue {
  at: number;
  process: MachineProcess;
  /** When that worker had taken it. */
  takenAt: number;
  /** Whether the attempts that it has made count. */
  isCounted: boolean;
}

interface Lease {
  holder: MachineProcess;
  renewedAt: number;
}

/** How the ids of jobs begin that are there before a history. They only count for the hourly limits. */
export const earlierJob = "earlier";

/** Watches every commit of the store. */
export class Audit {
  readonly violations: string[] = [];
  /** As of the last commit. */
  turns = new Map<number, TurnRow>();
  jobs = new Map<string, JobRow>();
  /** When each turn was committed, by its id. */
  readonly acceptedAt = new Map<number, number>();
  /** When each turn was taken last, by its id. */
  readonly takenAt = new Map<number, number>();
  /** When and by which process each turn has ended, by its id. */
  readonly ended = new Map<number, { at: number; by: MachineProcess }>();
  /** The turns that had failed, and that the end of a later turn of their job completed, because it published their work. */
  readonly published = new Set<number>();
  /** When and by which worker each turn was requeued, by its id. */
  readonly requeues = new Map<number, Requeue[]>();
  /** When each commit was recorded as the last one of its job. */
  readonly recorded = new Map<string, number>();
  /** The requests of turns that the store has lost after they were committed. */
  readonly lost = new Set<string>();
  #forgotAt = Number.NEGATIVE_INFINITY;
  /** Called when a process has taken a turn over from another one. */
  onTakeOver: (from: MachineProcess, by: MachineProcess) => void = () => {};
  /** Called when a turn has failed of which something is kept. */
  onKept: (turn: TurnRow) => void = () => {};
  readonly #server: DatabaseServer;
  readonly #timeline: Timeline;
  readonly #leases = new Map<string, Lease>();
  /** Who has counted each attempt of a turn: several, if the store has lost that one did. */
  readonly #counted = new Map<string, MachineProcess[]>();

  constructor(server: DatabaseServer, timeline: Timeline) {
    this.#server = server;
    this.#timeline = timeline;
  }

  get openTurns(): number {
    return [...this.turns.values()].filter(isOpen).length;
  }

  /** Compares the store with what it was before a commit of a process. */
  readonly onCommit = (process: MachineProcess): void => {
    const before = this.turns;
    const rows = this.#read();
    this.readRenewals();
    for (const turn of rows)
      if (!this.#isPublished(turn, before, process)) this.#checkChange(before.get(turn.id), turn, process);
    for (const id of before.keys()) if (!this.turns.has(id)) this.violations.push(`turn ${id} was lost`);
    this.#checkJobs(rows, [...before.values()], process);
    for (const turn of rows) if (turn.kept !== null && before.get(turn.id)?.kept === null) this.onKept(turn);
  };

  #isPublished(
    { id, job, state, kept }: TurnRow,
    before: ReadonlyMap<number, TurnRow>,
    process: MachineProcess,
  ): boolean {
    const hadKept = before.get(id)?.state === "failed" && before.get(id)?.kept !== null;
    const isLater = (one: TurnRow): boolean => one.job === job && one.id > id && this.isHeldBy(one, process);
    const isPublished = hadKept && state === "completed" && kept === null && [...before.values()].some(isLater);
    if (isPublished) this.published.add(id);
    return isPublished;
  }

  #read(): TurnRow[] {
    const sql = `SELECT id, identity, job, prompt, state, attempts, step, request, "acceptedAs", lease, answer, reason, kept
      FROM turn WHERE id > 0 ORDER BY id`;
    const rows = this.#server.connection.rows<TurnRow>(sql);
    this.turns = new Map(rows.map((row) => [row.id, row]));
    return rows;
  }

  /** Takes note that the store has lost what was committed from a time on. */
  forget(since: number): void {
    const before = [...this.turns.values()];
    this.#read();
    this.#readJobs();
    for (const { id, request } of before) if (!this.turns.has(id)) this.lost.add(request);
    for (const [head, at] of this.recorded) if (at >= since) this.recorded.delete(head);
    this.#forgotAt = this.#timeline.now;
    this.readRenewals();
  }

  /** Returns whether a process holds the lease of a turn. */
  isHeldBy(turn: TurnRow, process: MachineProcess): boolean {
    return turn.lease !== null && this.#leases.get(turn.lease)?.holder === process;
  }

  /** Checks the turn of an agent that a process starts. */
  onRun(request: string, isAfterPause: boolean): void {
    // Its worker learns of a lost lease when it renews it.
    if (this.#timeline.now - this.#forgotAt < leaseMs) return;
    const turn = [...this.turns.values()].find((one) => one.request === request);
    if (turn === undefined) this.violations.push("an agent was started for a turn that is not stored");
    else if (!isOpen(turn) && !isAfterPause)
      this.violations.push(`an agent was started for turn ${turn.id}, which has ended`);
    else if (turn.attempts === 0 && !isAfterPause)
      this.violations.push(`an agent was started for turn ${turn.id} without counting the attempt`);
  }

  #checkChange(before: TurnRow | undefined, turn: TurnRow, process: MachineProcess): void {
    const { id, state, lease } = turn;
    if (before === undefined) {
      this.acceptedAt.set(id, this.#timeline.now);
      if (state !== "waiting") this.violations.push(`turn ${id} did not begin by waiting`);
      return;
    }
    const { attempts, answer } = before;
    if (before.state === state && attempts === turn.attempts && before.lease === lease && answer === turn.answer)
      return;
    if (!isOpen(before)) this.violations.push(`turn ${id} was changed after it had ended`);
    if (lease !== null && lease !== before.lease) {
      const holder = this.#checkTaking(before, turn);
      if (holder !== undefined && holder !== process) this.onTakeOver(holder, process);
      this.takenAt.set(id, this.#timeline.now);
      this.#leases.set(lease, { holder: process, renewedAt: this.#timeline.now });
    } else if (
      !this.isHeldBy(before, process) &&
      !this.#isOwnMade(before, turn, process) &&
      !(before.state === "waiting" && isStopped(turn))
    )
      this.violations.push(
        `turn ${id} was changed from ${before.state} to ${state} by a process that does not hold it`,
      );
    const attempt = `${id} ${turn.attempts}`;
    if (turn.attempts > attempts) this.#counted.set(attempt, [...(this.#counted.get(attempt) ?? []), process]);
    if (before.state === "running" && state === "waiting")
      this.requeues.set(id, [
        ...(this.requeues.get(id) ?? []),
        {
          at: this.#timeline.now,
          process,
          takenAt: this.takenAt.get(id) ?? 0,
          isCounted: turn.attempts === attempts,
        },
      ]);
    if (isOpen(before) && !isOpen(turn)) this.ended.set(id, { at: this.#timeline.now, by: process });
    if (turn.attempts > 2) this.violations.push(`turn ${id} had ${turn.attempts} attempts`);
  }

  /** Returns whether a process that has lost a turn has only told what its agent did in the last attempt. */
  #isOwnMade(before: TurnRow, { id, state, attempts }: TurnRow, process: MachineProcess): boolean {
    const isSame = before.state === state && before.attempts === attempts;
    return isSame && this.#counted.get(`${id} ${attempts}`)?.includes(process) === true;
  }

  /** Returns who held the turn before. */
  #checkTaking(before: TurnRow, { id, job }: TurnRow): MachineProcess | undefined {
    const held = before.lease === null ? undefined : this.#leases.get(before.lease);
    if (held && this.#timeline.now - held.renewedAt < leaseMs)
      this.violations.push(`turn ${id} was taken while another process held it`);
    const earlier = [...this.turns.values()].filter((turn) => turn.job === job && turn.id < id);
    if (earlier.some(isOpen))
      this.violations.push(`turn ${id} was started before an earlier turn of its job had ended`);
    return held?.holder;
  }

  /** Reads until when leases are held. */
  readonly readRenewals = (): void => {
    const sql = 'SELECT lease, "leaseUntil" FROM turn WHERE lease IS NOT NULL';
    for (const { lease, leaseUntil } of this.#server.connection.rows<{ lease: string; leaseUntil: number }>(sql)) {
      const held = this.#leases.get(lease);
      if (held) held.renewedAt = leaseUntil - leaseMs - epoch;
    }
  };

  #readJobs(): JobRow[] {
    const sql =
      'SELECT id, project, state, "idleSince", "archivedAt", "pullRequest", head FROM job WHERE substr(id, 1, ?) <> ?';
    const jobs = this.#server.connection.rows<JobRow>(sql, earlierJob.length, earlierJob);
    this.jobs = new Map(jobs.map((job) => [job.id, job]));
    return jobs;
  }

  #checkJobs(turns: readonly TurnRow[], turnsBefore: readonly TurnRow[], process: MachineProcess): void {
    const before = this.jobs;
    const jobs = this.#readJobs();
    for (const { id, state, idleSince, archivedAt, pullRequest, head } of jobs) {
      const earlier = before.get(id) ?? { pullRequest: null, head: null };
      const isPushed = earlier.pullRequest !== pullRequest || earlier.head !== head;
      if (isPushed && !turnsBefore.some((turn) => turn.job === id && this.isHeldBy(turn, process)))
        this.violations.push("a process that does not hold a turn of a job has changed the job's pull request");
      if (head !== null && !this.recorded.has(head)) this.recorded.set(head, this.#timeline.now);
      const own = turns.filter((turn) => turn.job === id);
      const isActive = own.some(isOpen);
      if (isActive !== (state === "active")) this.violations.push(`a job with ${own.length} turns is ${state}`);
      if (!isActive && state !== own.at(-1)?.state) this.violations.push("a job has another state than its last turn");
      if (isActive !== (idleSince === null)) this.violations.push(`a job that is ${state} is idle since ${idleSince}`);
      if (isActive && archivedAt !== null) this.violations.push("a job is archived while it is active");
    }
  }
}

/** Returns the turn of a job whose agent has run last, at the end of a turn. */
export const madeBy = ({ id, job }: Pick<TurnRow, "id" | "job">, turns: readonly TurnRow[]): TurnRow | undefined =>
  turns.findLast((one) => one.job === job && one.id <= id && one.attempts > 0) ??
  // A lost second can take the count of its attempts.
  turns.find((one) => one.job === job && one.id <= id && one.kept !== null);

/** Returns whether a turn failed because an operator has stopped it. */
export const isStopped = ({ state, reason }: TurnRow): boolean =>
  state === "failed" && (reason?.startsWith("Stopped by an operator") ?? false);

export const isOpen = ({ state }: TurnRow): boolean => state === "waiting" || state === "running";
