import { order, Timeline } from "../../../test/simulation/timeline.ts";
import { epoch } from "../../../test/support/fake-clock.ts";
import { jobBranch } from "../../src/model.ts";
import { isCommitOf } from "../../src/pulls/commit-message.ts";
import { Audit, earlierJob, madeBy, type TurnRow } from "./audit.ts";
import { type Answer, Clients } from "./client.ts";
import { DatabaseServer } from "./database.ts";
import { Draws } from "./draws.ts";
import { Faults, lossMs } from "./faults.ts";
import type { MachineProcess } from "./machine-process.ts";
import { ApiMachine, type Machine, WorkerMachine, type World } from "./machines.ts";
import { Notifications } from "./notifications.ts";
import { Operator } from "./operator.ts";
import { contains, historyOf, Remote } from "./remote.ts";
import type { Scenario } from "./scenario.ts";

/** The page of a pull request. */
export interface Page {
  number: number;
  job: string;
  head: string;
}

/** The events of a history, until nothing more happened. */
export interface History extends Pick<World, "scenario" | "audit" | "remote" | "runs" | "faults" | "log" | "jobLog"> {
  answers: readonly Answer[];
  /** The turns that the operator has asked to stop, by their ids. */
  stopped: ReadonlySet<number>;
  machines: readonly Machine[];
  /** The pages of pull requests, oldest first. */
  pages: readonly Page[];
  /** The branches of the remote when all turns had ended, before they were cleaned for the last time. */
  uncleaned: Remote["branches"];
  /** Whether everything came to an end. */
  hasEnded: boolean;
}

/** By then, everything has come to an end, unless it never will. Turns may be run for a minute, one after another. */
const patienceMs = 3_600_000;

/** Returns when the uses before the history were, of each project: in the last 50 minutes. Negative, as the history begins at 0. */
export const usesBefore = ({ usedBefore }: Scenario): number[] =>
  Array.from({ length: usedBefore }, (_, index) => index * -30_000);

let server: DatabaseServer | undefined;

/** Simulates a history. Not two at a time. */
export async function simulate(scenario: Scenario): Promise<History> {
  server ??= new DatabaseServer();
  server.reset();
  const timeline = new Timeline();
  const draws = new Draws(scenario.seed);
  const faults = new Faults(scenario);
  const audit = new Audit(server, timeline);
  server.onCommit = audit.onCommit;
  server.onRenewal = audit.readRenewals;
  const machines: Machine[] = [];
  const numberOf = (process: MachineProcess): number => machines.findIndex((machine) => machine.process === process);
  audit.onTakeOver = (from, by) => faults.takenOver(numberOf(from), numberOf(by), timeline.now);
  const createNotifications = () =>
    new Notifications(timeline, draws, (process) => {
      const number = numberOf(process);
      return { deaf: faults.on(number, "deaf"), echo: faults.on(number, "echo") };
    });
  const world: World = {
    scenario,
    timeline,
    faults,
    draws,
    server,
    notifications: createNotifications(),
    changes: createNotifications(),
    remote: new Remote(() => timeline.now),
    landings: { lastAt: 0 },
    audit,
    runs: [],
    log: [],
    jobLog: [],
    wake: (fault) => machines[faults.machineOf(fault)]?.process.wake(fault.diesPushing),
  };
  useBefore(world);
  const apis = Array.from({ length: scenario.apis }, (_, number) => new ApiMachine(world, number));
  const workers = Array.from({ length: scenario.workers }, (_, index) => new WorkerMachine(world, apis.length + index));
  machines.push(...apis, ...workers);
  for (const machine of machines) machine.start();
  const clients = new Clients(world, apis);
  const operator = new Operator(world, apis);
  world.remote.refuses = (what) => faults.refuses(what, timeline.now);
  audit.onKept = (turn) => {
    if (!isKept(turn, world, workers)) audit.violations.push(`what is kept of turn ${turn.id} is nowhere`);
    clients.onKept(turn);
  };
  pushForeignCommits(world);
  loseCommits(world, machines);
  const settlesAt = Math.max(faults.endsAt, ...[...scenario.requests, ...scenario.stops].map(({ at }) => at)) + 60_000;
  let isSettled = false;
  let uncleaned: Remote["branches"] | undefined;
  let isCleaned = false;
  const isOver = (): boolean => {
    if (timeline.now < settlesAt) return false;
    if (!isSettled) for (const machine of machines) machine.start();
    isSettled = true;
    const isQuiet =
      !clients.areWaiting &&
      audit.openTurns === 0 &&
      timeline.now > world.landings.lastAt + 1000 &&
      !world.runs.some(isRunning);
    if (isQuiet && uncleaned === undefined) {
      uncleaned = new Map(world.remote.branches);
      const worker = workers.find(({ process }) => process.isAlive) ?? workers[0];
      worker?.start();
      if (worker !== undefined) worker.process.diesPushing = false;
      void worker?.cleanBranches().then(() => {
        isCleaned = true;
      });
    }
    return isCleaned || timeline.now > settlesAt + patienceMs;
  };
  await timeline.run(isOver);
  for (const machine of machines) machine.process.kill();
  for (const turn of keptTurns(audit))
    if (!isKept(turn, world, workers)) audit.violations.push(`what was kept of turn ${turn.id} is lost`);
  const hasEnded = timeline.now <= settlesAt + patienceMs;
  return {
    scenario,
    audit,
    remote: world.remote,
    runs: world.runs,
    faults,
    log: world.log,
    jobLog: world.jobLog,
    pages: server.connection.rows<Page>('SELECT number, job, head FROM "pullRequest" ORDER BY number'),
    answers: clients.answers,
    stopped: operator.stopped,
    machines,
    uncleaned: uncleaned ?? world.remote.branches,
    hasEnded,
  };
}

/** Returns the last turns of jobs of which something is kept. */
function keptTurns({ jobs, turns }: World["audit"]): TurnRow[] {
  const last = [...jobs.keys()].map((job) => [...turns.values()].findLast((turn) => turn.job === job));
  return last.filter((turn) => turn !== undefined).filter(({ kept }) => kept !== null);
}

/** Returns whether what a turn says that is kept is there: on the job's branch, or, of a push, in a clone or in the store as well. */
function isKept(turn: TurnRow, { remote, server, audit, faults }: World, workers: readonly WorkerMachine[]): boolean {
  const branch = remote.branches.get(jobBranch(turn.job));
  const head = audit.jobs.get(turn.job)?.head;
  if (turn.kept === "pull-request") return head != null && branch !== undefined && contains(branch, head);
  const clones = workers.map(({ clone }) => clone.jobs.get(turn.job));
  const stored = remote.commits.get(server.keptCommits().get(turn.job) ?? "");
  const maker = madeBy(turn, [...audit.turns.values()]);
  // The store has lost that an agent has run.
  if (maker === undefined) return faults.losses > 0;
  const heads = [branch, stored, ...clones];
  return heads.some((one) => [...historyOf(one)].some(({ message }) => isCommitOf(maker, message)));
}

const isRunning = ({ process, end }: World["runs"][number]): boolean => process.isAlive && end === undefined;

function useBefore({ scenario, server }: World): void {
  const job = "INSERT INTO job (id, project, createdAt, branch, state) VALUES (?, ?, ?, '', 'completed')";
  const turn = `INSERT INTO turn (id, identity, job, project, prompt, state, caller, step, request, acceptedAs, acceptedAt)
    VALUES (?, '', ?, ?, '', 'completed', '', '', ?, ?, ?)`;
  let id = 0;
  for (const project of ["p0", "p1"]) {
    server.connection.run(job, `${earlierJob} ${project}`, project, epoch);
    for (const kind of ["create", "message"])
      for (const at of usesBefore(scenario))
        server.connection.run(turn, --id, `${earlierJob} ${project}`, project, `${id}`, kind, epoch + at);
  }
}

function loseCommits({ scenario, timeline, audit, server }: World, machines: readonly Machine[]): void {
  // What a second loss begins with is lost by the first one.
  const kept = new Set<{ content: ReturnType<DatabaseServer["read"]>; since: number }>();
  for (const fault of scenario.faults.filter((one) => lossMs(one) > 0))
    timeline.at(Math.max(0, fault.at - lossMs(fault)), order.timer, () => {
      const own = { content: server.read(), since: timeline.now };
      kept.add(own);
      timeline.at(fault.at, order.timer, () => {
        kept.delete(own);
        // As operating.md says: no process runs meanwhile.
        if (fault.kind === "restore") for (const machine of machines) machine.kill(fault.ms);
        server.goBack(own.content);
        audit.forget(own.since);
        for (const other of kept) Object.assign(other, own);
      });
    });
}

function pushForeignCommits({ scenario, timeline, audit, remote }: World): void {
  for (const { kind, at, machine } of scenario.faults)
    if (kind === "foreign-push")
      timeline.at(at, order.read, () => {
        const jobs = [...audit.jobs.keys()];
        const job = jobs[machine % jobs.length];
        if (job !== undefined) remote.pushForeignCommit(jobBranch(job));
      });
}
