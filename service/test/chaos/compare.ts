import { type AgentRuns, changeOf } from "./agent.ts";
import type { JobRecord } from "./client.ts";
import type { LostTime } from "./faults.ts";
import type { PushedBranch, PushedCommit } from "./pushed-state.ts";
import type { StoredJob, StoredPullRequest, StoredState, StoredTurn } from "./stored-state.ts";
import type { SentJob, Workload } from "./workload.ts";

/** Everything that has to agree when all turns have ended. */
export interface EndState {
  sent: readonly SentJob[];
  stored: StoredState;
  /** By name. */
  pushed: ReadonlyMap<string, PushedBranch>;
  /** See `Workload`. */
  emptyJobs: Workload["emptyJobs"];
  /** What the API shows, by id. */
  shown: ReadonlyMap<string, JobRecord>;
  runs: AgentRuns;
  /** When the database lost what it had committed. */
  lost: readonly LostTime[];
  wrongPolls: Workload["wrongPolls"];
}

/** What was accepted in a time that the database lost, and is not stored: the one thing that a lost time may lose. */
export interface LostRequests {
  prompts: ReadonlySet<string>;
  /** The ids of the jobs whose creates are among them. */
  jobs: ReadonlySet<string>;
}

/** Returns the requests that were lost with what the database lost. */
export function lostRequests({ sent, stored, lost }: Pick<EndState, "sent" | "stored" | "lost">): LostRequests {
  const prompts = new Set<string>();
  const jobs = new Set<string>();
  const isStored = new Set(stored.turns.map(({ prompt }) => prompt));
  for (const { id, sent: requests } of sent)
    for (const [index, { prompt, submission, at }] of requests.entries()) {
      const wasLost = lost.some(({ from, to }) => at >= from && at <= to + answerMs);
      if (submission.acceptance !== "accepted" || isStored.has(prompt) || !wasLost) continue;
      prompts.add(prompt);
      if (index === 0 && id !== undefined) jobs.add(id);
    }
  return { prompts, jobs };
}

/** An answer can reach its client, which has much to do, after the database was killed. */
const answerMs = 1000;

/** The specification: "Rate limits". */
const hourlyLimit = 100;
const hourMs = 3_600_000;

/** Returns everything that does not agree. */
export function compare(end: EndState): string[] {
  const { sent, stored, pushed, emptyJobs, shown, runs, wrongPolls } = end;
  const lost = lostRequests(end);
  const turnsByJob = Map.groupBy(stored.turns, ({ job }) => job);
  const pullsByJob = Map.groupBy(stored.pullRequests, ({ job }) => job);
  const branchesOfJobs = new Set(stored.jobs.map(({ id }) => `agent/${id}`));
  return [
    ...compareSent(sent, stored, lost),
    ...stored.jobs.flatMap((job) => {
      const turns = turnsByJob.get(job.id) ?? [];
      const branch = pushed.get(`agent/${job.id}`);
      return [
        ...compareTurns(job, turns, branch, lost, end.lost.length > 0),
        ...comparePullRequest(job, turns, branch, pullsByJob.get(job.id) ?? [], shown.get(job.id)),
      ];
    }),
    ...compareEmpty(emptyJobs, turnsByJob, lost),
    ...[...pushed.keys()]
      .filter((name) => !branchesOfJobs.has(name) && !lost.jobs.has(name.replace("agent/", "")))
      .map((name) => `${name} has no job`),
    ...wrongPolls.filter(({ job }) => !lost.jobs.has(job)).map(({ text }) => text),
    ...stored.turns
      .filter(({ state, prompt }) => state === "completed" && !runs.ended.has(prompt))
      .map(({ job, id }) => `${job}: turn ${id} is completed, and no agent has done it`),
    ...runs.beside.map((prompt) => `two agents ran for "${prompt}" at the same time`),
    ...compareLimits(stored),
    ...(stored.queued > 0 ? [`${stored.queued} turns are in the queue, although all have ended`] : []),
  ];
}

/** What was accepted is stored once, in its order; what was rejected is not stored. */
function compareSent(sent: readonly SentJob[], stored: StoredState, lost: LostRequests): string[] {
  const wrong: string[] = [];
  const byPrompt = Map.groupBy(stored.turns, ({ prompt }) => prompt);
  const known = new Set(stored.jobs.map(({ id }) => id));
  for (const { id, sent: requests } of sent) {
    if (id !== undefined && !known.has(id) && !lost.jobs.has(id)) wrong.push(`${id} was accepted and is not stored`);
    let last = 0;
    for (const { prompt, submission } of requests) {
      const turns = byPrompt.get(prompt) ?? [];
      byPrompt.delete(prompt);
      const { acceptance } = submission;
      if (turns.length > 1) wrong.push(`"${prompt}" is stored ${turns.length} times (${acceptance})`);
      if (acceptance === "accepted" && turns.length === 0 && !lost.prompts.has(prompt))
        wrong.push(`"${prompt}" was accepted and is not stored`);
      if (acceptance === "rejected" && turns.length > 0) wrong.push(`"${prompt}" was rejected and is stored`);
      for (const turn of turns) {
        if (id !== undefined && turn.job !== id)
          wrong.push(`"${prompt}" is stored as a turn of ${turn.job}, not of ${id}`);
        if (turn.id <= last) wrong.push(`"${prompt}" is stored before the turn that was accepted before it`);
        last = turn.id;
      }
    }
  }
  for (const prompt of byPrompt.keys()) wrong.push(`"${prompt}" is stored and was never sent`);
  return wrong;
}

/** Each turn has ended, and each completed one that changed something has its one commit, in the order of the turns. */
function compareTurns(
  job: StoredJob,
  turns: readonly StoredTurn[],
  branch: PushedBranch | undefined,
  lost: LostRequests,
  hasLost: boolean,
): string[] {
  const wrong: string[] = [];
  for (const { id, state, lease } of turns) {
    if (state !== "completed" && state !== "failed") wrong.push(`${job.id}: turn ${id} is ${state}`);
    if (lease !== null) wrong.push(`${job.id}: turn ${id} has a lease`);
  }
  const last = turns.at(-1);
  if (job.state !== last?.state) wrong.push(`${job.id} is ${job.state}, its last turn is ${last?.state}`);
  const own = (branch?.commits ?? []).filter((commit) => isStored(commit, turns));
  for (const { commit, subject } of branch?.commits.filter((one) => !own.includes(one)) ?? [])
    if (!lost.prompts.has(subject)) wrong.push(`${job.id}: ${commit} is of a turn that is not stored`);
  const pushed = new Set(own.map(({ turn }) => turn));
  const completed = turns.filter(({ id, state, prompt }) => {
    const change = changeOf(prompt);
    return state === "completed" && (change === "always" || (change === "perhaps" && pushed.has(id)));
  });
  // A turn whose record was lost comes after those that were pushed since.
  const ordered = (ids: number[]): string => (hasLost ? ids.sort((one, other) => one - other) : ids).join(", ");
  const expected = ordered(completed.map(({ id }) => id));
  const commits = ordered(own.map(({ turn }) => turn));
  if (commits !== expected)
    wrong.push(`${job.id}: turns ${expected} have changed something, commits are of turns ${commits}`);
  if (branch?.commits.some((commit) => commit.job !== job.id)) wrong.push(`${job.id} has a commit of another job`);
  const prompts = (branch?.commits ?? []).map(({ subject }) => subject).join("\n");
  const lines = (branch?.lines ?? []).join("\n");
  if (lines !== prompts) wrong.push(`${job.id}: its branch has the lines "${lines}", expected "${prompts}"`);
  return wrong;
}

/** Returns whether the store knows the turn of a commit. */
function isStored({ identity }: PushedCommit, turns: readonly StoredTurn[]): boolean {
  return turns.some((turn) => turn.identity === identity);
}

/** A job without a pull request can be completed only if the turns failed, or were lost, that always change something. */
function compareEmpty(
  emptyJobs: Workload["emptyJobs"],
  turnsByJob: ReadonlyMap<string, readonly StoredTurn[]>,
  lost: LostRequests,
): string[] {
  const hasFailed = (job: string) => turnsByJob.get(job)?.some(({ state }) => state === "failed") ?? false;
  return [...emptyJobs]
    .filter(([job, prompts]) => !hasFailed(job) && !prompts.every((prompt) => lost.prompts.has(prompt)))
    .map(([job]) => `${job} was completed without a pull request`);
}

/** A job with a commit has one pull request, which shows its branch, and the API links it. */
function comparePullRequest(
  job: StoredJob,
  turns: readonly StoredTurn[],
  branch: PushedBranch | undefined,
  pulls: readonly StoredPullRequest[],
  shown: JobRecord | undefined,
): string[] {
  const wrong: string[] = [];
  if (shown?.status !== job.state) wrong.push(`${job.id} is ${job.state}, the API says ${shown?.status}`);
  if (shown?.prLink !== job.pullRequest)
    wrong.push(`${job.id}: the API links ${shown?.prLink}, not ${job.pullRequest}`);
  const last = branch?.commits.findLast((commit) => isStored(commit, turns));
  const expected = last === undefined ? 0 : 1;
  if (pulls.length !== expected) wrong.push(`${job.id} has ${pulls.length} pull requests, expected ${expected}`);
  if (branch === undefined || last === undefined) return wrong;
  // What a lost turn has pushed on top of it counts as somebody's.
  const heads = [last.commit, branch.head];
  if (!heads.includes(job.head ?? ""))
    wrong.push(`${job.id}: its head is ${job.head}, that of its branch ${branch.head}`);
  for (const { number, head } of pulls) {
    if (!job.pullRequest?.endsWith(`/pull/${number}`)) wrong.push(`${job.id} links ${job.pullRequest}, not ${number}`);
    if (!heads.includes(head))
      wrong.push(`${job.id}: pull request ${number} shows ${head}, its branch is ${branch.head}`);
  }
  return wrong;
}

/** Each turn counts as what it was, and no project has more of a kind in any hour than the limit allows. */
function compareLimits({ jobs, turns }: StoredState): string[] {
  const wrong: string[] = [];
  const projectOf = new Map(jobs.map(({ id, project }) => [id, project]));
  const created = new Set<string>();
  for (const { id, job, acceptedAs, acceptedAt } of turns) {
    const expected = created.has(job) ? "message" : "create";
    created.add(job);
    if (acceptedAs !== expected) wrong.push(`${job}: turn ${id} counts as ${acceptedAs}, expected ${expected}`);
    if (acceptedAt === null) wrong.push(`${job}: turn ${id} does not count`);
  }
  for (const [use, counted] of Map.groupBy(turns, (turn) => `${turn.acceptedAs}s of ${projectOf.get(turn.job)}`)) {
    const times = counted.map(({ acceptedAt }) => acceptedAt ?? 0).sort((one, other) => one - other);
    if (times.some((at, index) => (times[index + hourlyLimit] ?? Number.POSITIVE_INFINITY) - at < hourMs))
      wrong.push(`more than ${hourlyLimit} ${use} were accepted in an hour`);
  }
  return wrong;
}
