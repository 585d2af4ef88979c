import { createHash, randomBytes } from "node:crypto";
import { errorMessage } from "../../src/error-message.ts";
import { workRefPrefix } from "../../src/git/clone-refs.ts";
import type { DatedCommit } from "../../src/git/history.ts";
import { packMessage, readPacked } from "../../src/git/job-commits.ts";
import type { WorkRefs } from "../../src/git/work-refs.ts";
import type { Machine } from "../../src/machine.ts";
import type { KeptWork, RunningTurn, Turn } from "../../src/model.ts";
import { namedTurns } from "../../src/pulls/turn-trailers.ts";
import type { BusyJob } from "../../src/store/job-copies.ts";
import { applyCommand, type KeptCommits } from "../../src/store/kept-commits.ts";
import { dayMs } from "../../src/time.ts";

export interface KeptOnRefsOptions {
  refs: Pick<WorkRefs, "names" | "list" | "write" | "read" | "remove">;
  machine: Pick<Machine, "wallTime">;
  log: (line: string) => void;
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

const nameSyntax =
  /^(job_[0-9a-f-]{36})\/([0-9a-f]{12}|-)\.([0-9a-f]{12}|-)\.([0-9a-f]{12})\.(\d{4}-\d\d-\d\d)-[0-9a-f]{8}\/(begun|made|unfinished|ended)$/;
/** Unclaimed work is removed after this time; records of a turn without a change are removed when a re-run is no longer possible. */
const maxAgeDays = 60;
const maxEndedDays = 31;
/** How many are read per job, and removed per run. */
const maxRead = 5;
const maxRemoved = 20;
/** By what is lost with one that is not read. */
const stageOrder = ["made", "unfinished", "ended", "begun"];
/** Longer than GitHub lets any job run; of a time that somebody has made up. */
const maxBusyMs = dayMs;
/** For how long a listing counts, in milliseconds. */
const listedMs = 10_000;

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

  async #save({ job, step, identity }: RunningTurn, packed: Uint8Array): ReturnType<WorkRefs["write"]> {
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
      begun: "begun",
    };
    const stage = left === undefined ? "made" : stages[left];
    const name = `${job}/${shortHash(step)}.${shortHash(session)}.${shortHash(identity)}.${holder}/${stage}`;
    // A newer attempt of a step takes the place of one whose runner was lost.
    const isOfStep = (one: Kept): boolean => left === "begun" && one.stage === "begun" && one.step === shortHash(step);
    const earlier = [...this.#ofTurn(job, identity), ...(step ? this.#all.filter(isOfStep) : [])];
    this.#own.add(name);
    return refs.write(
      name,
      job,
      packed,
      earlier.map((one) => one.name),
    );
  }

  async begin(turn: RunningTurn, message: string): Promise<string | undefined> {
    const denied = await this.#save(turn, packMessage(message, this.#options.machine.wallTime()));
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
      if (stage === "ended" || stage === "begun") continue;
      const packed = await refs.read(name);
      const turns = namedTurns(readPacked(packed ?? Buffer.of())?.message ?? "");
      if (turns.some((turn) => turn.job === job && turn.identity === identity)) return packed;
      log(`The work that is kept in ${name} is gone, damaged, or of another turn: it is passed over.`);
    }
    return undefined;
  }

  async forget({ job, identity }: Pick<Turn, "job" | "identity">): Promise<void> {
    // The record of a turn without a change is its only trace.
    await this.#remove(this.#ofTurn(job, identity).filter(({ stage }) => stage !== "ended"));
  }

  commandFor({ job, identity }: Pick<Turn, "job" | "identity">, kept: KeptWork): string | undefined {
    const stage = { push: "made", unfinished: "unfinished", "pull-request": undefined }[kept];
    const ofJob = this.#all.filter((one) => one.job === job && one.stage === stage);
    const ref = ofJob.findLast((one) => one.identity === shortHash(identity)) ?? ofJob.at(-1);
    return ref && `git fetch origin ${workRefPrefix}${ref.name} && git show FETCH_HEAD:change | ${applyCommand}`;
  }

  /** Returns a job's kept commits, newest first. @throws if they cannot be read now */
  async commitsOf(jobId: string): Promise<DatedCommit[]> {
    const { refs, log } = this.#options;
    const read = new Map<string, DatedCommit | undefined>();
    const ofJob = (): string[] => {
      const kept = this.#all.filter(({ job }) => job === jobId);
      // Runners that were lost can have left many that say no more than that.
      kept.sort((a, b) => stageOrder.indexOf(a.stage) - stageOrder.indexOf(b.stage) || b.day - a.day);
      return kept.slice(0, maxRead).map(({ name }) => name);
    };
    for (let isListed = false; ; isListed = true) {
      for (const name of ofJob()) {
        if (read.get(name) !== undefined) continue;
        const packed = await refs.read(name);
        const commit = packed && readPacked(packed);
        read.set(name, commit && namedTurns(commit.message).some(({ job }) => job === jobId) ? commit : undefined);
      }
      if (isListed || ![...read.values()].includes(undefined)) break;
      // Another machine may have taken the next stage meanwhile.
      await refs.list();
    }
    const named = ofJob();
    const unread = named.filter((name) => read.get(name) === undefined);
    if (unread.length > 0) log(`What is kept in ${unread.join(", ")} is damaged: it is passed over.`);
    return named.flatMap((name) => read.get(name) ?? []).sort((one, other) => other.at - one.at);
  }

  /**
   * Returns the job of a session that another machine works on.
   *
   * @param own - steps whose turns are taken over
   * @throws if that cannot be read now
   */
  async busyJobOf(session: string, own: ReadonlySet<string>): Promise<BusyJob | undefined> {
    const { refs, machine } = this.#options;
    await refs.list(listedMs);
    const hash = shortHash(session);
    const ownSteps = new Set([...own].map(shortHash));
    const isOthers = ({ name, step }: Kept): boolean => !this.#own.has(name) && !ownSteps.has(step);
    const begun = this.#all.filter((one) => one.stage === "begun" && one.session === hash && isOthers(one));
    for (const { name, job, identity } of begun) {
      const packed = await refs.read(name);
      const named = namedTurns(readPacked(packed ?? Buffer.of())?.message ?? "");
      const until = named.find((one) => one.job === job && shortHash(one.identity) === identity)?.until ?? 0;
      const leftMs = until - machine.wallTime();
      if (leftMs > 0 && leftMs < maxBusyMs) return { job, until };
    }
    return undefined;
  }

  /** Returns the ids of jobs with kept work of a step or session. */
  jobsOf(kind: "step" | "session", value: string): string[] {
    const hash = shortHash(value);
    const found = this.#all.filter((one) => one[kind] === hash);
    // The first one has the request, if two jobs have the same.
    found.sort((a, b) => stageOrder.indexOf(a.stage) - stageOrder.indexOf(b.stage));
    return [...new Set(found.map(({ job }) => job))];
  }

  /** Removes expired refs. Never rejects. */
  async tidy(): Promise<void> {
    const ageOf = ({ day }: Kept): number => (this.#options.machine.wallTime() - day) / dayMs;
    const isOld = (one: Kept): boolean =>
      ageOf(one) > (one.stage === "ended" || one.stage === "begun" ? maxEndedDays : maxAgeDays);
    await this.#remove(this.#all.filter(isOld).slice(0, maxRemoved));
  }

  async #remove(kept: readonly Kept[]): Promise<void> {
    await this.#options.refs.remove(kept.map(({ name }) => name)).catch((error: unknown) => {
      this.#options.log(`Cannot remove refs of work that is no longer needed: ${errorMessage(error)}`);
    });
  }

  #ofTurn(job: string, identity: string): Kept[] {
    const hash = shortHash(identity);
    return this.#all.filter((one) => one.job === job && one.identity === hash);
  }

  get #all(): Kept[] {
    return this.#options.refs.names.flatMap((name) => {
      const [, job = "", step = "", session = "", identity = "", day = "", stage = ""] = nameSyntax.exec(name) ?? [];
      return job === "" ? [] : [{ name, job, step, session, identity, day: Date.parse(day), stage }];
    });
  }
}

/** Returns the hash of a value for a ref name; `-` for an empty value. */
function shortHash(value: string | undefined): string {
  return value ? createHash("sha256").update(value).digest("hex").slice(0, 12) : "-";
}
