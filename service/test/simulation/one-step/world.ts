import { order, Timeline } from "../../../../test/simulation/timeline.ts";
import { Draws } from "../draws.ts";
import { doAct } from "./acts.ts";
import { type AgentRun, Attempt, type Place } from "./attempt.ts";
import { MemoryCache } from "./cache.ts";
import { MemoryGitHub } from "./github.ts";
import { Judge } from "./judge.ts";
import type { Act, AttemptPlan, Plan, Trigger } from "./plan.ts";
import { type AskingComment, Threads } from "./threads.ts";

/** By then, an attempt has ended, unless it never will, in milliseconds. */
const patienceMs = 6 * 3_600_000;

/** Everything that outlives a runner. */
export class World {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly gitHub: MemoryGitHub;
  readonly cache = new MemoryCache();
  readonly threads: Threads;
  readonly draws = new Draws(1);
  readonly attempts: Attempt[] = [];
  /** The ledger of agents. */
  readonly runs: AgentRun[] = [];
  /** What people did, oldest first. */
  readonly acts: { act: Act; at: number }[] = [];
  readonly folder: string;
  readonly judge: Judge;
  #newestRun = 0;
  readonly #numbers = new Map<number, number>();
  /** The comments that started runs. */
  readonly #comments = new Map<number, AskingComment | undefined>();
  /** The commits of `main` at which runs began, and which of them people started. */
  readonly #commits = new Map<number, string>();
  readonly #byHand = new Set<number>();

  constructor(plan: Plan, folder: string) {
    this.plan = plan;
    this.folder = folder;
    this.timeline = new Timeline(settled);
    this.threads = new Threads(folder);
    this.gitHub = new MemoryGitHub(this.timeline);
    this.gitHub.refusesRefs = !plan.takesRefs;
    this.judge = new Judge(this);
  }

  /** The job of the newest agent. */
  readonly latestJob = (): string | undefined => this.runs.at(-1)?.job;

  onAgent(run: AgentRun): void {
    this.judge.agentBegins(run);
  }

  #placeOf(plan: AttemptPlan): Place {
    const run = plan.run === "new" || this.#newestRun === 0 ? this.#newestRun + 1 : this.#newestRun;
    const own = plan.run === "earlier" ? Math.max(1, run - 1) : run;
    this.#newestRun = Math.max(this.#newestRun, own);
    const number = (this.#numbers.get(own) ?? 0) + 1;
    this.#numbers.set(own, number);
    const sha = this.#commits.get(own) ?? this.gitHub.remote.head("main");
    this.#commits.set(own, sha);
    const comment = this.#commentOf(own, plan.trigger);
    if (number === 1 && comment === undefined && plan.trigger === "by-hand") this.#byHand.add(own);
    return { run: own, number, comment, sha, isByHand: this.#byHand.has(own) };
  }

  /** Returns the comment that started a run, which people write if it is new; `undefined` for a night. */
  #commentOf(run: number, trigger: Trigger): AskingComment | undefined {
    if (!this.#comments.has(run)) {
      const pull = this.gitHub.pulls.findLast(({ by }) => by === "bot");
      const isNight =
        !this.plan.hasComments ||
        trigger === "night" ||
        trigger === "by-hand" ||
        (trigger === "pull" && pull === undefined);
      const number = trigger === "pull" ? pull?.number : undefined;
      this.#comments.set(run, isNight ? undefined : this.threads.comment(run, { number, isNew: trigger === "anew" }));
    }
    return this.#comments.get(run);
  }

  #start(plan: AttemptPlan): Attempt {
    const attempt = new Attempt(this, plan, this.#placeOf(plan), this.attempts.length);
    this.attempts.push(attempt);
    attempt.start();
    return attempt;
  }

  /** Starts a new run while another one works. Of what both would keep for one job, only one is published. */
  startBeside({ trigger, agent, cache }: NonNullable<AttemptPlan["beside"]>): void {
    if (this.gitHub.refusesMoves) return;
    this.#start({ ...healthy, run: "new", trigger, agent, cache });
  }

  /** Lives through the history. */
  async run(): Promise<void> {
    const { timeline, gitHub, judge } = this;
    gitHub.asPerson(() => gitHub.pushMain({ "docs/first.md": "The first page\n" }));
    for (const plan of [...this.plan.attempts, ...lastAttempts]) {
      gitHub.refusesMoves = plan.refuses === "moves";
      gitHub.refusesPulls = plan.refuses === "pulls";
      for (const act of plan.before) doAct(act, this);
      judge.begin();
      const first = this.attempts.length;
      this.#start(plan);
      const endsAt = timeline.now + patienceMs;
      const areOver = (): boolean => this.attempts.slice(first).every(({ end }) => end !== undefined);
      await timeline.run(() => areOver() || timeline.now > endsAt);
      // A child that outlives its action.
      await this.#pass(6000);
      const ended = this.attempts.slice(first);
      judge.end(ended);
      for (const attempt of ended) {
        attempt.kill();
        await attempt.leave();
      }
      await this.#pass(plan.gapMs);
    }
    judge.finish();
  }

  async #pass(ms: number): Promise<void> {
    const { timeline } = this;
    const until = timeline.now + ms;
    timeline.at(until, order.timerAfterReads, () => {});
    await timeline.run(() => timeline.now >= until);
  }
}

const healthy: AttemptPlan = {
  run: "new",
  trigger: "night",
  onRerun: "resume",
  cache: "write",
  agent: { kind: "edits", ms: 2000, checkMs: 0 },
  before: [],
  during: [],
  stop: undefined,
  faults: [],
  refuses: undefined,
  beside: undefined,
  gapMs: 20_000,
};

/** After all that can go wrong, somebody runs the newest run again, and there is another one. */
const lastAttempts: readonly AttemptPlan[] = [
  { ...healthy, run: "again" },
  { ...healthy, before: ["push-main"] },
];

/** Resolves once every promise that can settle without time passing has settled, also those that wait for a file. */
async function settled(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq")));
}
