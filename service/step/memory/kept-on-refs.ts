import { createHash, randomBytes } from "node:crypto";
import { errorMessage } from "../../src/error-message.ts";
import { workRefPrefix } from "../../src/git/clone-refs.ts";
import type { DatedCommit } from "../../src/git/history.ts";
import { packMessage, readPacked } from "../../src/git/job-commits.ts";
import type { WorkRefs } from "../../src/git/work-refs.ts";
import type { Machine } from "../../src/machine.ts";
import type { KeptWork, RunningTurn, Turn } from "../../src/model.ts";
import { commitMessage } from "../../src/pulls/commit-message.ts";
import type { RunAttempt } from "../../src/pulls/github/workflow-runs.ts";
import { type NamedTurn, namedTurns } from "../../src/pulls/turn-trailers.ts";
import type { BusyJob } from "../../src/store/job-copies.ts";
import { newTurnIdentity } from "../../src/store/job-state.ts";
import { applyCommand, type KeptCommits } from "../../src/store/kept-commits.ts";
import { dayMs } from "../../src/time.ts";
import { isRemoteOutage, outlast } from "../../src/turns/outages.ts";

export interface KeptOnRefsOptions {
  refs: Pick<WorkRefs, "names" | "list" | "write" | "read" | "remove">;
  machine: Pick<Machine, "wallTime" | "sleep">;
  /** Aborts when there is no time to wait for GitHub. Default: never. */
  hurry?: AbortSignal | undefined;
  log: (line: string) => void;
  /** The attempt of the workflow run that the step is in. Default: none. */
  run?: RunAttempt | undefined;
  /** Never rejects. Default: it cannot be known. */
  hasRunEnded?: ((attempt: RunAttempt) => Promise<boolean>) | undefined;
}

/** The parts of a ref name: hashes that identify the work, and the day from which it is kept. */
interface Kept {
  name: string;
  job: string;
  step: string;
  session: string;
  identity: string;
  day: number;
  stage: string;
}

/** Begins the line that names the attempt of a workflow run in which an agent works. */
const runPrefix = "Agent-Run: ";
const runLine = new RegExp(`^${runPrefix}(\\d{1,20})\\.(\\d{1,9})$`, "m");

const nameSyntax =
  /^(job_[0-9a-f-]{36})\/([0-9a-f]{12}|-)\.([0-9a-f]{12}|-)\.([0-9a-f]{12})\.(\d{4}-\d\d-\d\d)-[0-9a-f]{8}\/(begun|made|unfinished|pushed|ended)$/;
/** Unclaimed work is removed after this time; records without a change are removed when a re-run is no longer possible. */
const maxAgeDays = 60;
const maxEndedDays = 31;
/** How many are read per job or session, besides those of the steps that are asked for, and removed per run. */
const maxRead = 5;
/** How many of these others are tried: anyone with push access can plant some that are unreadable. */
const maxTried = 50;
const maxRemoved = 20;
/** By what is lost with one that is not read. */
const stageOrder = ["made", "unfinished", "pushed", "ended", "begun"];
/** Of turns that are over, the newest tells up to where changes were told, whether it made any or not. */
const rankOf = ({ stage }: Kept): number => stageOrder.indexOf(stage === "ended" ? "pushed" : stage);
/** Longer than GitHub lets any job run, on a runner of one's own; of a time that somebody has made up. */
const maxBusyMs = 5 * dayMs;
/** For how long a listing counts, in milliseconds. */
const listedMs = 10_000;
/** In the name of a ref by which a run claims a session before it has a job. */
const noJob = "job_00000000-0000-0000-0000-000000000000";
/** Until the agent begins, in milliseconds: the project's setup comes first. */
const claimMs = 30 * 60_000;
/** After this time, a run that claims a session at the same time has given way, in milliseconds. */
const giveWayMs = 2000;

/**
 * Keeps the commits of turns in refs of the repository from the agent's end until they are published. Nearly every run can write refs,
 * including comment runs, whose cache is read-only. A planted ref gains nothing over asking the agent: every change is checked before it is
 * pushed.
 */
export class KeptOnRefs implements KeptCommits {
  readonly #options: KeptOnRefsOptions;
  /** Names that this process has written. */
  readonly #own = new Set<string>();

  constructor(options: KeptOnRefsOptions) {
    this.#options = options;
  }

  async save(turn: RunningTurn, packed: Uint8Array): Promise<void> {
    await this.#save(turn, packed);
  }

  async #save(
    { job, step, identity }: Pick<Turn, "job" | "step" | "identity">,
    packed: Uint8Array,
  ): ReturnType<WorkRefs["write"]> {
    const { refs, machine } = this.#options;
    const named = namedTurns(readPacked(packed)?.message ?? "");
    const { session, left } = named.find((one) => one.identity === identity) ?? {};
    const day = new Date(machine.wallTime()).toISOString().slice(0, 10);
    const holder = `${day}-${randomBytes(4).toString("hex")}`;
    const stages = {
      nothing: "ended",
      failed: "ended",
      stopped: "unfinished",
      unfinished: "unfinished",
      pushed: "pushed",
      begun: "begun",
    };
    const stage = left === undefined ? "made" : stages[left];
    const name = `${job}/${shortHash(step)}.${shortHash(session)}.${shortHash(identity)}.${holder}/${stage}`;
    // A newer attempt of a step takes the place of one whose runner was lost.
    const isOfStep = (one: Kept): boolean => left === "begun" && one.stage === "begun" && one.step === shortHash(step);
    // The turn is still worked on: its commit is to be checked and pushed.
    const goesOn = (one: Kept): boolean => stage === "made" && one.stage === "begun" && this.#own.has(one.name);
    const ofTurn = this.#ofTurn(job, identity).filter((one) => !goesOn(one));
    const earlier = new Set([...ofTurn, ...(step ? this.#all.filter(isOfStep) : [])].map((one) => one.name));
    this.#own.add(name);
    return this.#again(() => refs.write(name, job, packed, [...earlier]));
  }

  async begin(turn: RunningTurn, message: string): Promise<string | undefined> {
    const { run, attempt } = this.#options.run ?? {};
    const named = run && attempt ? `${message.trimEnd()}\n${runPrefix}${run}.${attempt}\n` : message;
    const denied = await this.#save(turn, packMessage(named, this.#options.machine.wallTime()));
    return (
      denied &&
      `What the agent makes is kept with \`github-token\`, because the workflow's own token may not write: if that expires while the agent works, it is lost, and has to be paid again. \`permissions: contents: write\` for the workflow's job changes that. ${denied.message}`
    );
  }

  async end(turn: RunningTurn, message: string | undefined): Promise<void> {
    const ofTurn = this.#ofTurn(turn.job, turn.identity);
    if (ofTurn.some(({ stage }) => stage === "made" || stage === "unfinished")) return;
    if (message === undefined) await this.#remove(ofTurn.filter(({ stage }) => stage === "begun"));
    else await this.begin(turn, message);
  }

  async load(job: string, { identity }: Pick<Turn, "identity">): Promise<Uint8Array | undefined> {
    const { refs, log } = this.#options;
    for (const { name, stage } of this.#ofTurn(job, identity)) {
      if (stage !== "made" && stage !== "unfinished") continue;
      const packed = await refs.read(name);
      const turns = namedTurns(readPacked(packed ?? Buffer.of())?.message ?? "");
      if (turns.some((turn) => turn.job === job && turn.identity === identity)) return packed;
      log(`The work that is kept in ${name} is gone, damaged, or of another turn: it is passed over.`);
    }
    return undefined;
  }

  async forget(turn: Pick<Turn, "job" | "step" | "identity">, message?: string): Promise<void> {
    const { machine, log } = this.#options;
    const ofTurn = this.#ofTurn(turn.job, turn.identity);
    // The record of a turn without a change is its only trace.
    const hasEnded = ofTurn.some(({ stage }) => stage === "ended");
    // Without one, refs are refused.
    if (message === undefined || hasEnded || ofTurn.length === 0)
      return this.#remove(ofTurn.filter(({ stage }) => stage !== "ended"));
    // Until then, the session is busy.
    await this.#save(turn, packMessage(message, machine.wallTime())).catch((error: unknown) => {
      log(`${turn.job}: only its branch tells that a turn has published its work: ${errorMessage(error)}`);
    });
  }

  commandFor({ job, identity }: Pick<Turn, "job" | "identity">, kept: KeptWork): string | undefined {
    const stage = { push: "made", unfinished: "unfinished", "pull-request": undefined }[kept];
    const ofJob = this.#all.filter((one) => one.job === job && one.stage === stage);
    const ref = ofJob.findLast((one) => one.identity === shortHash(identity)) ?? ofJob.at(-1);
    return ref && `git fetch origin ${workRefPrefix}${ref.name} && git show FETCH_HEAD:change | ${applyCommand}`;
  }

  /**
   * Returns a job's kept commits, newest first.
   *
   * @param known - identities of turns that need none, because their commits are on the branch. Default: none
   * @param steps - whose turns are read in any case. Default: none
   * @throws if they cannot be read now
   */
  async commitsOf(jobId: string, known: Iterable<string> = [], steps: Iterable<string> = []): Promise<DatedCommit[]> {
    const { refs, log } = this.#options;
    const read = new Map<string, DatedCommit | undefined>();
    const onBranch = new Set([...known].map(shortHash));
    const asked = new Set([...steps].map(shortHash));
    const ofJob = (): Kept[] => {
      const kept = this.#all.filter(({ job, identity }) => job === jobId && !onBranch.has(identity));
      // Runners that were lost can have left many that say no more than that.
      kept.sort((a, b) => rankOf(a) - rankOf(b) || b.day - a.day);
      const others = kept.filter(({ step }) => !asked.has(step)).slice(0, maxTried);
      return [...kept.filter(({ step }) => asked.has(step)), ...others];
    };
    for (let isListed = false; ; isListed = true) {
      let others = 0;
      for (const { name, step } of ofJob()) {
        if (!asked.has(step) && others === maxRead) break;
        if (read.get(name) === undefined) {
          const packed = await refs.read(name);
          const commit = packed && readPacked(packed);
          read.set(name, commit && namedTurns(commit.message).some(({ job }) => job === jobId) ? commit : undefined);
        }
        if (!asked.has(step) && read.get(name) !== undefined) others++;
      }
      if (isListed || ![...read.values()].includes(undefined)) break;
      // Another machine may have taken the next stage meanwhile.
      await refs.list();
    }
    const named = ofJob().flatMap(({ name }) => (read.has(name) ? name : []));
    const unread = named.filter((name) => read.get(name) === undefined);
    if (unread.length > 0) log(`What is kept in ${unread.join(", ")} is damaged: it is passed over.`);
    return named.flatMap((name) => read.get(name) ?? []).sort((one, other) => other.at - one.at);
  }

  /**
   * Returns the job of a session that another machine works on.
   *
   * @param own - steps whose turns are taken over
   * @param claimedBy - see `JobCopies`
   * @throws if that cannot be read now
   */
  async busyJobOf(session: string, own: ReadonlySet<string>, claimedBy?: string): Promise<BusyJob | undefined> {
    const { refs, machine, log } = this.#options;
    const hash = shortHash(session);
    const ownSteps = new Set([...own].map(shortHash));
    const look = async (maxAgeMs = 0): Promise<BusyJob | undefined> => {
      await refs.list(maxAgeMs);
      const [first] = await this.#running((one) => one.session === hash && !ownSteps.has(one.step));
      return first && { job: first.job, until: first.until };
    };
    const busy = await look(listedMs);
    // It may have claimed it for an earlier question, whose answer was lost.
    if (busy !== undefined) await this.#release();
    if (busy !== undefined || claimedBy === undefined) return busy;
    try {
      await this.#claim(session, claimedBy);
    } catch (error) {
      if (isRemoteOutage(error)) throw error;
      log(`Other runs do not see that this one is about to begin: ${errorMessage(error)}`);
      return undefined;
    }
    // Of two that claim it within the same seconds, each sees the other if it pushed later.
    const rival = await look();
    if (rival === undefined) return undefined;
    const claims = this.#all.filter((one) => one.job === noJob && one.session === hash).map(({ name }) => name);
    if (this.#own.has(claims.sort()[0] ?? "")) await machine.sleep(giveWayMs);
    const winner = await look();
    if (winner !== undefined) await this.#release();
    return winner;
  }

  async #claim(session: string, step: string): Promise<void> {
    const until = this.#options.machine.wallTime() + claimMs;
    const nothing = { id: 1, job: noJob, prompt: "", sections: "", covers: null, attempts: 0, request: "" };
    const turn = { ...nothing, identity: newTurnIdentity(), step, lease: "", isResumed: false };
    await this.begin(turn, commitMessage(turn, [], { session }, { left: "begun", until }, "Claimed"));
  }

  /** Lets others go on with the sessions of this process, whose agents have ended or end with it. Never rejects. */
  release(): Promise<void> {
    return this.#release(() => true);
  }

  async #release(isOver = ({ job }: Kept): boolean => job === noJob): Promise<void> {
    const own = this.#all.filter((one) => this.#own.has(one.name) && one.stage === "begun" && isOver(one));
    await this.#remove(own, (remove) => this.#again(remove));
  }

  /** For what has been paid for, and for what other runs would wait for. */
  #again<T>(push: () => Promise<T>): Promise<T> {
    const { machine, hurry } = this.#options;
    return outlast(push, machine, hurry);
  }

  /** As of the last listing, so that a turn costs no request more: most have begun long before. */
  besides({ job, step }: RunningTurn): Promise<(NamedTurn & BusyJob)[]> {
    return this.#running((one) => one.job === job && one.step !== shortHash(step));
  }

  /** Returns turns that other machines work on. @throws if that cannot be read now */
  async #running(isAsked: (one: Kept) => boolean, isSecond = false): Promise<(NamedTurn & BusyJob)[]> {
    const { refs, machine } = this.#options;
    const running: (NamedTurn & BusyJob)[] = [];
    for (const one of this.#all) {
      if (one.stage !== "begun" || this.#own.has(one.name) || !isAsked(one)) continue;
      const packed = await refs.read(one.name);
      if (packed === undefined && !isSecond) {
        // Another ref may have taken its place: a claim's, that of the agent.
        await refs.list();
        return this.#running(isAsked, true);
      }
      const { message = "" } = readPacked(packed ?? Buffer.of()) ?? {};
      const turn = namedTurns(message).find(
        ({ job, identity }) => job === one.job && shortHash(identity) === one.identity,
      );
      const { until = 0 } = turn ?? {};
      const leftMs = until - machine.wallTime();
      if (turn && leftMs > 0 && leftMs < maxBusyMs && !(await this.#isOver(message))) running.push({ ...turn, until });
    }
    return running;
  }

  /** Returns whether the run that wrote a message has ended: its runner was lost. */
  async #isOver(message: string): Promise<boolean> {
    const [, run, attempt] = runLine.exec(message) ?? [];
    return run !== undefined && attempt !== undefined && (await this.#options.hasRunEnded?.({ run, attempt })) === true;
  }

  /** Returns the ids of jobs that refs name for a step. */
  jobsOfStep(step: string): string[] {
    const hash = shortHash(step);
    const found = this.#all.filter((one) => one.step === hash && one.job !== noJob);
    // The first one has the request, if two jobs have the same.
    found.sort((a, b) => stageOrder.indexOf(a.stage) - stageOrder.indexOf(b.stage));
    return [...new Set(found.map(({ job }) => job))];
  }

  /**
   * Returns the job of a session that was last worked on, and when. Refs tell the day; which one of that day is read.
   *
   * @param known - jobs that do not count
   * @throws if that cannot be read now
   */
  async newestJobOf(session: string, known: ReadonlySet<string>): Promise<{ job: string; at: number } | undefined> {
    const hash = shortHash(session);
    const ofSession = this.#all.filter(({ session: of, job }) => of === hash && job !== noJob && !known.has(job));
    ofSession.sort((one, other) => other.day - one.day);
    let newest: { job: string; at: number } | undefined;
    for (const { name, job, day } of ofSession.slice(0, maxRead)) {
      if (newest !== undefined && newest.at >= day + dayMs) break;
      const packed = await this.#options.refs.read(name);
      const { message = "", at = 0 } = (packed && readPacked(packed)) ?? {};
      const isOfSession = namedTurns(message).some((one) => one.job === job && one.session === session);
      if (isOfSession && at > (newest?.at ?? 0)) newest = { job, at };
    }
    return newest;
  }

  /** Removes expired refs. Never rejects. */
  async tidy(): Promise<void> {
    const ageOf = ({ day }: Kept): number => (this.#options.machine.wallTime() - day) / dayMs;
    const isOld = (one: Kept): boolean =>
      ageOf(one) > (one.stage === "made" || one.stage === "unfinished" ? maxAgeDays : maxEndedDays);
    await this.#remove(this.#all.filter(isOld).slice(0, maxRemoved));
  }

  async #remove(kept: readonly Kept[], push = (remove: () => Promise<void>) => remove()): Promise<void> {
    await push(() => this.#options.refs.remove(kept.map(({ name }) => name))).catch((error: unknown) => {
      this.#options.log(`Cannot remove refs of work that is no longer needed: ${errorMessage(error)}`);
    });
  }

  #ofTurn(job: string, identity: string): Kept[] {
    const hash = shortHash(identity);
    return this.#all.filter((one) => one.job === job && one.identity === hash);
  }

  get #all(): Kept[] {
    const { refs, machine } = this.#options;
    const tomorrow = machine.wallTime() + dayMs;
    return refs.names.flatMap((name) => {
      const [, job = "", step = "", session = "", identity = "", date = "", stage = ""] = nameSyntax.exec(name) ?? [];
      const day = Date.parse(date);
      // Somebody has made up a name without a day, or of one to come.
      return day < tomorrow ? [{ name, job, step, session, identity, day, stage }] : [];
    });
  }
}

/** Returns the hash of a value for a ref name; `-` for an empty value. */
function shortHash(value: string | undefined): string {
  return value ? createHash("sha256").update(value).digest("hex").slice(0, 12) : "-";
}
