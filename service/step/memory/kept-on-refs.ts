import { createHash, randomBytes } from "node:crypto";
import { errorMessage } from "../../src/error-message.ts";
import { workRefPrefix } from "../../src/git/clone-refs.ts";
import type { DatedCommit } from "../../src/git/history.ts";
import { packMessage, readPacked } from "../../src/git/job-commits.ts";
import type { WorkRefs } from "../../src/git/work-refs.ts";
import type { Machine } from "../../src/machine.ts";
import type { KeptWork, RunningTurn, Turn } from "../../src/model.ts";
import { namedTurns } from "../../src/pulls/turn-trailers.ts";
import { applyCommand, type KeptCommits } from "../../src/store/kept-commits.ts";
import { dayMs } from "../../src/time.ts";

export interface KeptOnRefsOptions {
  refs: Pick<WorkRefs, "names" | "write" | "read" | "remove">;
  machine: Pick<Machine, "wallTime">;
  log: (line: string) => void;
}

/** What the name of a ref says: whose work it is, as hashes, and since which day it is kept. */
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
  /^(job_[0-9a-f-]{36})\/([0-9a-f]{12}|-)\.([0-9a-f]{12}|-)\.([0-9a-f]{12})\.(\d{4}-\d\d-\d\d)-[0-9a-f]{8}\/(made|unfinished|ended)$/;
/** Work that nobody has asked for is removed after this time, and what tells of none after a re-run is possible no longer. */
const maxAgeDays = 60;
const maxEndedDays = 31;
/** How many are read of a job, and removed in a run. */
const maxRead = 5;
const maxRemoved = 20;

/**
 * Keeps the commits of turns in refs of the repository, from the end of the agent until they are published: nearly every run can write them,
 * also one for a comment, whose cache is read-only. Whoever may push can plant one, which gives them nothing that asking the agent does not:
 * each is checked as any change is, before it is pushed.
 */
export class KeptOnRefs implements KeptCommits {
  readonly #options: KeptOnRefsOptions;

  constructor(options: KeptOnRefsOptions) {
    this.#options = options;
  }

  async save({ job, step, identity }: RunningTurn, packed: Uint8Array): Promise<void> {
    const { refs, machine } = this.#options;
    const named = namedTurns(readPacked(packed)?.message ?? "");
    const { session, left } = named.find((one) => one.identity === identity) ?? {};
    const day = new Date(machine.wallTime()).toISOString().slice(0, 10);
    const holder = `${day}-${randomBytes(4).toString("hex")}`;
    const stage = left === undefined ? "made" : left === "nothing" ? "ended" : left;
    const name = `${job}/${shortHash(step)}.${shortHash(session)}.${shortHash(identity)}.${holder}/${stage}`;
    const earlier = this.#ofTurn(job, identity);
    await refs.write(
      name,
      job,
      packed,
      earlier.map((one) => one.name),
    );
  }

  end(turn: RunningTurn, message: string): Promise<void> {
    return this.save(turn, packMessage(message, this.#options.machine.wallTime()));
  }

  async load(job: string, { identity }: Pick<Turn, "identity">): Promise<Uint8Array | undefined> {
    const { refs, log } = this.#options;
    for (const { name, stage } of this.#ofTurn(job, identity)) {
      if (stage === "ended") continue;
      const packed = await refs.read(name);
      const turns = namedTurns(readPacked(packed ?? Buffer.of())?.message ?? "");
      if (turns.some((turn) => turn.job === job && turn.identity === identity)) return packed;
      log(`The work that is kept in ${name} is gone, damaged, or of another turn: it is passed over.`);
    }
    return undefined;
  }

  async forget({ job, identity }: Pick<Turn, "job" | "identity">): Promise<void> {
    // What tells of a turn without a change is all that there is of it.
    await this.#remove(this.#ofTurn(job, identity).filter(({ stage }) => stage !== "ended"));
  }

  commandFor({ job, identity }: Pick<Turn, "job" | "identity">, kept: KeptWork): string | undefined {
    const stage = { push: "made", unfinished: "unfinished", "pull-request": undefined }[kept];
    const ofJob = this.#all.filter((one) => one.job === job && one.stage === stage);
    const ref = ofJob.findLast((one) => one.identity === shortHash(identity)) ?? ofJob.at(-1);
    return ref && `git fetch origin ${workRefPrefix}${ref.name} && git show FETCH_HEAD:change | ${applyCommand}`;
  }

  /** Returns the commits that are kept of a job, newest first. @throws if they cannot be read now */
  async commitsOf(jobId: string): Promise<DatedCommit[]> {
    const commits: DatedCommit[] = [];
    for (const { name } of this.#all.filter(({ job }) => job === jobId).slice(0, maxRead)) {
      const packed = await this.#options.refs.read(name);
      const commit = packed && readPacked(packed);
      if (commit && namedTurns(commit.message).some(({ job }) => job === jobId)) commits.push(commit);
      else this.#options.log(`The work that is kept in ${name} is gone or damaged: it is passed over.`);
    }
    return commits.sort((one, other) => other.at - one.at);
  }

  /** Returns the ids of the jobs with work of a step, or of a session. */
  jobsOf(kind: "step" | "session", value: string): string[] {
    const hash = shortHash(value);
    return [...new Set(this.#all.filter((one) => one[kind] === hash).map(({ job }) => job))];
  }

  /** Removes what is too old. Never rejects. */
  async tidy(): Promise<void> {
    const ageOf = ({ day }: Kept): number => (this.#options.machine.wallTime() - day) / dayMs;
    const isOld = (one: Kept): boolean => ageOf(one) > (one.stage === "ended" ? maxEndedDays : maxAgeDays);
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

/** Returns what stands for a value in the name of a ref; `-` if there is none. */
function shortHash(value: string | undefined): string {
  return value ? createHash("sha256").update(value).digest("hex").slice(0, 12) : "-";
}
