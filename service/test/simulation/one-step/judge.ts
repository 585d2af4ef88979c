import { readPacked } from "../../../src/git/job-commits.ts";
import type { AgentRun, Attempt } from "./attempt.ts";
import type { Pull } from "./github.ts";
import type { Act } from "./plan.ts";
import type { World } from "./world.ts";

/** Where the work of an agent is. */
export type Holder = "main" | "open" | "closed" | "merged" | "branch" | "ref" | "cache";

/** By these, people take work away, or make it impossible to publish it as it is. */
const removals: readonly Act[] = ["close", "delete-branch", "rewrite-branch", "merge-and-delete"];
const conflicts: readonly Act[] = [
  "push-main-shared",
  "push-branch-shared",
  "rewrite-branch",
  "squash",
  "squash-by-title",
];

/** Returns whether two steps name the same pull request. */
const isSame = (one: Attempt, other: Attempt): boolean =>
  one.outcome === "pr-created" && one.toolkit.outputs["pr-number"] === other.toolkit.outputs["pr-number"];

const subjectsIn = ({ prompt }: AgentRun): string[] => prompt.match(/Push \d+ of people/g) ?? [];

const dayMs = 86_400_000;
/** How long an agent may have worked before others can know it, in milliseconds. */
const announcedMs = 5000;

/**
 * Judges a history by the ledger of agents, by what GitHub and the cache have, and by the outcomes: never by words of what it judges.
 */
export class Judge {
  readonly violations: string[] = [];
  readonly #world: World;
  /** What was in a pull request or on main when the attempts began that run now. */
  #publishedBefore: ReadonlySet<string> = new Set();
  #endedBefore: ReadonlySet<number> = new Set();
  /** What was somewhere when the last attempts had ended. */
  #held: ReadonlySet<string> = new Set();

  constructor(world: World) {
    this.#world = world;
  }

  #violate(attempt: Attempt, what: string): void {
    const { run, number } = attempt.place;
    this.violations.push(`${what} (attempt ${number} of run ${run}, at ${Math.round(this.#world.timeline.now)})`);
  }

  /** Returns the ids of agents whose work a commit has. */
  #idsIn(commit: string): string[] {
    const { objects } = this.#world.gitHub.remote;
    return [...objects.files(commit).keys()].flatMap((path) => /^work-(.+)\.md$/.exec(path)?.[1] ?? []);
  }

  #idsInPacked(packed: Uint8Array): string[] {
    const commit = readPacked(packed)?.commit ?? "0";
    return /^0+$/.test(commit) ? [] : this.#idsIn(commit);
  }

  /** Returns where the work of each agent is. */
  holders(): Map<string, Set<Holder>> {
    const { gitHub, cache } = this.#world;
    const found = new Map<string, Set<Holder>>();
    const add = (holder: Holder, ids: readonly string[]): void => {
      for (const id of ids) found.set(id, (found.get(id) ?? new Set()).add(holder));
    };
    for (const [branch, head] of gitHub.remote.heads) add(branch === "main" ? "main" : "branch", this.#idsIn(head));
    for (const { state, head } of gitHub.pulls) add(state, this.#idsIn(head));
    for (const packed of gitHub.works.values()) add("ref", this.#idsInPacked(packed));
    for (const packed of cache.commits.values()) add("cache", this.#idsInPacked(packed));
    return found;
  }

  #published(): Set<string> {
    const all = [...this.holders()];
    return new Set(
      all.flatMap(([id, of]) => ((["main", "open", "merged"] as const).some((one) => of.has(one)) ? id : [])),
    );
  }

  /** Called before attempts begin. */
  begin(): void {
    this.#publishedBefore = this.#published();
    this.#endedBefore = new Set(
      this.#world.gitHub.pulls.flatMap(({ state, number }) => (state === "open" ? [] : number)),
    );
  }

  agentBegins(run: AgentRun): void {
    this.#checkPaidOnce(run);
    this.#checkAlone(run);
    this.#checkToldOnce(run);
  }

  /** Returns the agents of a run since the last attempt that was to send its request anew. */
  #ofRequest({ place }: Attempt): AgentRun[] {
    const { attempts, runs } = this.#world;
    const isOfRun = ({ place: other }: Attempt): boolean => other.run === place.run && other.number <= place.number;
    const renewed = attempts.findLast((one) => isOfRun(one) && one.plan.onRerun === "new")?.place.number ?? 0;
    return runs.filter(({ attempt: one }) => isOfRun(one) && one.place.number >= renewed);
  }

  /** Nothing is paid for again that is there. */
  #checkPaidOnce({ attempt, startedAt }: AgentRun): void {
    const holders = this.holders();
    for (const earlier of this.#ofRequest(attempt)) {
      if (earlier.end !== "completed" || !earlier.isChanging) continue;
      const of = holders.get(earlier.id) ?? new Set();
      const isReadable = attempt.plan.cache !== "none" && attempt.plan.cache !== "absent";
      // Where refs are refused, too, a save whose answer was lost counts as none.
      const isUnsure =
        !this.#world.plan.takesRefs && earlier.attempt.plan.faults.some(({ place }) => place === "cache");
      const isThere = [...of].some((one) => one !== "cache" || (isReadable && !isUnsure));
      if (isThere && !this.#hasActed([...removals, ...conflicts], earlier.attempt.startedAt, startedAt))
        this.#violate(
          attempt,
          `an agent is paid again, although the work of ${earlier.id} is on ${[...of].join(", ")}`,
        );
    }
  }

  /** Two runs of a session are not paid for the same changes. */
  #checkAlone(run: AgentRun): void {
    const { runs, plan } = this.#world;
    const { session } = run.attempt;
    if (session === undefined || !plan.takesRefs) return;
    const hasFaults = ({ attempt }: AgentRun): boolean => attempt.plan.faults.length > 0;
    for (const other of runs) {
      const isOther = other.attempt !== run.attempt && other.attempt.session === session;
      // The next comment of a thread publishes a commit that is kept, and asks for something else.
      const isOpen = other.end === undefined || (other.attempt.isChecking && run.attempt.place.comment === undefined);
      const isWorking = isOther && isOpen && other.attempt.end === undefined;
      const isKnown = run.startedAt - other.startedAt > announcedMs && !hasFaults(other) && !hasFaults(run);
      if (isWorking && isKnown && other.attempt.stopped === undefined)
        this.#violate(run.attempt, `an agent begins while ${other.id} works for the same session`);
    }
  }

  /** Returns what people pushed of which agents were told that completed. @param counts - whether an agent counts. Default: each */
  #told(counts: (run: AgentRun) => boolean = () => true): Set<string> {
    const nights = this.#world.runs.filter(({ attempt, end }) => attempt.isToldChanges && end === "completed");
    return new Set(nights.filter(counts).flatMap(subjectsIn));
  }

  /** No agent of a night is paid for what others were told of. */
  #checkToldOnce(run: AgentRun): void {
    const { plan, attempts } = this.#world;
    const { attempt } = run;
    const isDisturbed = attempts.some((one) => one.plan.faults.length > 0 || one.stopped !== undefined);
    const isAlone = attempts.every((one) => one.plan.beside === undefined && one.plan.onRerun === "resume");
    // What the job of a thread brought is new.
    if (!attempt.isToldChanges || plan.hasComments || !plan.takesRefs || isDisturbed || !isAlone) return;
    if (this.#hasActed([...removals, ...conflicts, "evict"], 0, run.startedAt)) return;
    // What a run that failed was told, the next one is told, too. Without a cache, nothing tells of an agent that changed nothing.
    const told = this.#told(
      ({ attempt: by, isChanging }) => isChanging && by.place.run !== attempt.place.run && by.end === "passed",
    );
    if (subjectsIn(run).every((subject) => told.has(subject)))
      this.#violate(attempt, "an agent is paid although nothing is new");
  }

  /** Agents of nights were told of everything, as far as it is no older than a day, or the nights know of each other. */
  #checkTold(): void {
    const { plan, attempts, gitHub, timeline } = this.#world;
    const knows = ({ plan: one }: Attempt): boolean =>
      one.cache === "write" && one.faults.every(({ place }) => place !== "cache");
    const areRemembered = attempts.every(knows) && !this.#hasActed(["evict"], 0, timeline.now);
    // Before that, no night left word of what it was told.
    const first = attempts.find((one) => one.isToldChanges && one.end === "passed");
    if (first === undefined || !plan.takesRefs) return;
    if (timeline.now >= dayMs && !areRemembered) return;
    const told = this.#told();
    for (const { subject, at } of gitHub.mainPushes)
      if (at > first.startedAt - dayMs && !told.has(subject))
        this.violations.push(`no agent that completed was told of ${subject}`);
  }

  /** Whether there was nothing to tell a night, or other runs were told all of it. */
  #isToldBefore({ isToldChanges, outcome, place }: Attempt): boolean {
    const { mainPushes, remote } = this.#world.gitHub;
    const holders = this.holders();
    const isPublished = (id: string): boolean =>
      (["main", "merged", "open"] as const).some((holder) => holders.get(id)?.has(holder) === true);
    // A later run publishes what an earlier one had to keep.
    const told = this.#told(
      ({ id, attempt: by }) => (by.end === "passed" || isPublished(id)) && by.place.run !== place.run,
    );
    // The first night that sends something looks a day back.
    const first = this.#world.runs.find(({ attempt }) => attempt.isToldChanges)?.attempt.startedAt ?? 0;
    const isOld = mainPushes.every(
      ({ subject, commit, at }) =>
        told.has(subject) || at <= first - dayMs || !remote.objects.isAncestor(commit, place.sha),
    );
    return isToldChanges && (outcome === "skipped" || isOld);
  }

  #hasActed(acts: readonly Act[], from: number, to: number): boolean {
    return this.#world.acts.some(({ act, at }) => acts.includes(act) && at >= from && at <= to);
  }

  /** Called when attempts have ended that ran at the same time. */
  end(attempts: readonly Attempt[]): void {
    const holders = this.holders();
    for (const attempt of attempts) {
      if (attempt.end === undefined) this.#violate(attempt, "the step never ends");
      if (attempt.end === "crashed" || attempt.hasInternalError)
        this.#violate(attempt, "the step or its service crashed");
      if (attempt.end === "passed" || attempt.end === "failed") this.#checkOutcome(attempt, holders);
      this.#checkKept(attempt, holders);
    }
    this.#checkOnePull(attempts);
    const since = Math.min(...attempts.map(({ startedAt }) => startedAt)) - 1_000_000_000;
    for (const id of this.#held)
      if (!holders.has(id) && !this.#hasActed([...removals, "evict"], since, Number.POSITIVE_INFINITY))
        this.violations.push(`the work of ${id} was kept, and is gone`);
    const completed = this.#world.runs.filter(({ end, isChanging }) => end === "completed" && isChanging);
    this.#held = new Set(completed.flatMap(({ id }) => (holders.has(id) ? id : [])));
  }

  /** Requests of a session share a pull request, unless people have ended it, or nobody could know of it. */
  #checkOnePull(attempts: readonly Attempt[]): void {
    const { runs, gitHub, plan, attempts: all } = this.#world;
    const hasFaults = all.some((one) => one.plan.faults.length > 0 || one.stopped !== undefined);
    const hasBeside = all.some((one) => one.plan.beside !== undefined);
    const isRenewed = all.some((one) => one.plan.onRerun === "new");
    if (!plan.takesRefs || hasFaults || isRenewed) return;
    const ends = [...removals, "reopen", "open-by-hand", "delete-reply", "squash-by-title"] as const;
    if (this.#hasActed(ends, 0, Number.POSITIVE_INFINITY)) return;
    const open = new Map<string, Set<number>>();
    for (const { job, attempt } of runs) {
      const pull = gitHub.openOf(`agent/${job}`);
      const { session } = attempt;
      // A comment in its merged pull request, at the same time as the session's next run: neither knows of the other.
      const isCommented = hasBeside && runs.some((one) => one.job === job && one.attempt.session !== session);
      if (pull !== undefined && session !== undefined && !isCommented)
        open.set(session, (open.get(session) ?? new Set()).add(pull.number));
    }
    const [attempt] = attempts;
    // Of two comments at once, neither knows of the other.
    for (const [session, numbers] of open)
      if (numbers.size > 1 && attempt !== undefined && (session === "nightly" || !hasBeside))
        this.#violate(attempt, `${session} has pull requests ${[...numbers].join(" and ")} open`);
  }

  /** What an agent completed is published, kept, or in a file of the step. */
  #checkKept(attempt: Attempt, holders: ReadonlyMap<string, unknown>): void {
    const { runs, timeline } = this.#world;
    if (attempt.stopped !== undefined || attempt.plan.faults.length > 0) return;
    for (const { id, attempt: by, end, isChanging, job, startedAt } of runs) {
      if (by !== attempt || end !== "completed" || !isChanging || holders.has(id)) continue;
      if (attempt.unkept.has(job) || this.#hasActed(removals, startedAt, timeline.now)) continue;
      this.#violate(attempt, `the work of ${id} is nowhere`);
    }
  }

  #checkOutcome(attempt: Attempt, holders: ReadonlyMap<string, ReadonlySet<Holder>>): void {
    const { runs, gitHub, plan } = this.#world;
    const { outcome, place } = attempt;
    // The job has another one since.
    const isMerged = ({ toolkit }: Attempt): boolean =>
      gitHub.pulls.some(({ number, state }) => state === "merged" && toolkit.outputs["pr-number"] === String(number));
    const own = runs.filter((run) => run.attempt.place.run === place.run && run.isChanging);
    if (outcome === "") this.#violate(attempt, "the step has no outcome");
    if (outcome === "pr-created") {
      const number = Number(attempt.toolkit.outputs["pr-number"]);
      const pull = gitHub.pulls.find((one) => one.number === number);
      if (pull === undefined) {
        this.#violate(attempt, "the step names a pull request that does not exist");
        return;
      }
      const ids = [
        ...this.#idsIn(pull.head),
        ...(pull.state === "merged" ? this.#idsIn(gitHub.remote.head("main")) : []),
      ];
      const isOwn =
        own.some(({ id }) => ids.includes(id)) ||
        // Of two requests with the same prompt, what is kept of the first answers both.
        (plan.isSamePrompt && attempt.session === "nightly" && ids.length > 0) ||
        ids.some((id) => !this.#publishedBefore.has(id)) ||
        this.#world.attempts.some(
          (one) => one.index < attempt.index && one.place.run === place.run && (isSame(one, attempt) || isMerged(one)),
        );
      if (!isOwn) this.#violate(attempt, `pull request ${number} has nothing of the request`);
      this.#checkOpen(attempt, pull);
    }
    const made = runs.filter((run) => run.attempt === attempt && run.end === "completed" && run.isChanging);
    if (outcome === "no-changes" && made.some(({ id }) => holders.get(id)?.has("open")))
      this.#violate(attempt, "the step says that nothing changed, and opened a pull request");
  }

  /** What a step published is where people look. */
  #checkOpen(attempt: Attempt, { number, state }: Pull): void {
    const { timeline, runs } = this.#world;
    const hasRun = runs.some((run) => run.attempt === attempt);
    if (state !== "closed" || this.#hasActed([...removals, ...conflicts], attempt.startedAt, timeline.now)) return;
    if (hasRun || !this.#endedBefore.has(number)) this.#violate(attempt, `pull request ${number} is closed`);
  }

  /** Called when the history is over, which healthy attempts have ended. */
  finish(): void {
    const { plan, attempts, runs } = this.#world;
    const holders = this.holders();
    this.#checkTold();
    for (const attempt of attempts.slice(-2)) {
      const own = runs.filter(({ attempt: by }) => by.place.run === attempt.place.run);
      const isUnchanged = own.some(({ end, isChanging }) => end === "completed" && !isChanging);
      const isMerged = own.some(({ id }) => holders.get(id)?.has("main") || holders.get(id)?.has("merged"));
      if (["skipped", "error"].includes(attempt.outcome) && this.#isToldBefore(attempt)) continue;
      // A comment in an issue is told of the changes of a day, and there may be none.
      if (attempt.outcome === "skipped" && plan.hasChanges && attempt.place.comment?.since === "24h") continue;
      if (attempt.outcome === "no-changes" && (isUnchanged || isMerged)) continue;
      // Work that was refused by closing its pull request, or that conflicts, is only published if somebody asks once more.
      const isRefused = attempt.outcome === "failed" || attempt.outcome === "archived";
      if (isRefused && this.#hasActed([...removals, ...conflicts], 0, attempt.startedAt)) continue;
      if (attempt.outcome !== "pr-created") this.#violate(attempt, `a healthy attempt ends as ${attempt.outcome}`);
    }
    // Without refs, a run that cannot read the cache does not know of the work.
    if (!plan.hasSession || !plan.takesRefs) return;
    for (const { id, end, isChanging, attempt } of runs) {
      // Nobody need ever ask again in a thread.
      if (attempt.place.comment !== undefined) continue;
      const of = [...(holders.get(id) ?? [])];
      const isLeft =
        end === "completed" && isChanging && of.length > 0 && of.every((one) => one === "ref" || one === "cache");
      if (isLeft && !this.#hasActed([...removals, ...conflicts, "evict"], 0, Number.POSITIVE_INFINITY))
        this.#violate(attempt, `the work of ${id} is still only kept`);
    }
  }
}
