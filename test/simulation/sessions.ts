import type { CacheEntry } from "./cache.ts";
import type { GitHubRequest } from "./github.ts";
import { hasRunChangesOf } from "./history.ts";
import { firstSubmissionAt, jobOf, type Place, placesOf, seenBefore, wasTold } from "./places.ts";
import { isSubmission } from "./received.ts";
import type { Turn } from "./service.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf } from "./submissions.ts";
import { commitOf, runOfCommit } from "./workflow.ts";

/** A session continues its own job, as long as that is of use, and with no other. */
export function checkSession(history: History, index: number): string[] {
  const places = placesOf(history);
  const place = places[index];
  if (!place || !history.scenario.workflow?.hasSession) return [];
  const { run } = place;
  const violations: string[] = [];
  const created = jobsOf(places.filter(({ session, index: at }) => session === place.session && at <= index));
  // A fault of the step can keep it from GitHub for the session's pull request, although it has asked for the list of changes.
  const isBlind = run.hasInternalFault && history.scenario.attempts[index]?.internalFault?.method === "connectGitHub";
  for (const { kind, jobId } of submissionsOf(run)) {
    if (kind !== "message") continue;
    if (!created.includes(jobId)) violations.push(`a message was sent to ${jobId}, which is not a job of the session`);
    if (!isBlind && isOver(run, jobId)) violations.push(`a message was sent to ${jobId}, which is of no use`);
  }
  const first = submissionsOf(run)[0];
  const remembered = entryOf(place, places);
  if (first?.kind === "create" && remembered) {
    const jobId = jobOf(remembered) ?? "";
    if (!isOver(run, jobId) && !isLeft(run, jobId)) {
      violations.push(`a job was started, although the session can go on with ${jobId}`);
    }
  }
  violations.push(...checkEntries(history, place, places));
  return violations;
}

/** What the session remembers moves forward only, and its range only with turns that completed. */
function checkEntries(history: History, place: Place, places: readonly Place[]): string[] {
  const violations: string[] = [];
  const restore = place.run.cache.restores.find(({ isForSession }) => isForSession);
  // What the attempt could not read, or nobody could, it may replace.
  const before = entryOf(place, places);
  const isLost = restore?.result !== "found" && restore?.result !== "none";
  for (const { isForSession, storedAt, text } of place.run.cache.saves) {
    if (!isForSession || storedAt === undefined) continue;
    const entry = parse(text);
    if (before && !isLost && Number(entry.run) < Number(parse(before.text).run)) {
      violations.push(`the session goes back from run ${parse(before.text).run} to run ${entry.run}`);
    }
    const covered = entry.commit === undefined ? 0 : runOfCommit(entry.commit);
    const coveredBefore = before ? runOfCommit(parse(before.text).commit ?? commitOf(0)) : 0;
    if (before && !isLost && covered < coveredBefore) violations.push(`the range goes back to run ${covered}`);
    if (!history.scenario.workflow?.changes) continue;
    const gap = firstGap(coverage(places, place.session, storedAt), covered);
    if (gap !== undefined) violations.push(`the range moves on to run ${covered}, but run ${gap} reached nobody`);
  }
  return violations;
}

interface Entry {
  run: string;
  commit?: string;
}

function parse(text: string): Entry {
  return JSON.parse(text) as Entry;
}

/** Returns the ranges that turns of the session that completed were about: after one workflow run, up to another. */
function coverage(places: readonly Place[], session: string, by: number): { after: number; upTo: number }[] {
  return places.flatMap(({ run, session: own }) => {
    if (own !== session) return [];
    const [after = 0, upTo = 0] = comparedBy(run) ?? [];
    const turns = submissionsOf(run).flatMap(({ turn }) => turn ?? []);
    return turns.filter((turn) => isCompleted(turn, by)).map(() => ({ after, upTo }));
  });
}

function isCompleted({ endsAt, result, goneAt }: Turn, by: number): boolean {
  return endsAt <= by && goneAt > endsAt && result !== "failed";
}

/** Returns the first workflow run up to one whose commits no range has. */
function firstGap(ranges: readonly { after: number; upTo: number }[], covered: number): number | undefined {
  for (let run = 1; run <= covered; run++) {
    if (!ranges.some(({ after, upTo }) => after < run && run <= upTo)) return run;
  }
  return undefined;
}

/** Returns the ends of the range that the attempt compared last. */
function comparedBy({ gitHubRequests }: AttemptRun): [number, number] | undefined {
  const compare = gitHubRequests.findLast(({ route, data }) => route.includes("compare") && typeof data === "object");
  if (!compare) return undefined;
  const [base = "", head = ""] = String(compare.parameters.basehead).split("...");
  return [runOfCommit(base), runOfCommit(head)];
}

/** On a quiet day, or if it is unknown whether it is one, nothing is sent. On any other day, it is. */
export function checkChanges(history: History, index: number): string[] {
  const { scenario } = history;
  const run = history.attempts[index];
  if (!run || !scenario.workflow?.changes) return [];
  const violations: string[] = [];
  const sentAt = firstSubmissionAt(run);
  const comparisons = run.gitHubRequests.filter(({ route }) => /compare|commits$/.test(route) && !/pulls/.test(route));
  const isSkipped = run.runner.outputs.outcome === "skipped";
  const [after, upTo] = comparedBy(run) ?? [];
  const hasChanges = after === undefined || hasRunChangesOf(scenario, after, upTo ?? 0);
  if (sentAt !== undefined && !hasChanges) violations.push("something was sent on a quiet day");
  // What an earlier attempt may have sent is compared before that.
  const last = comparisons.at(-1);
  if (sentAt !== undefined && !(last && isAnswered(last)))
    violations.push("something was sent, although it is unknown what changed");
  if (isSkipped && hasChanges) violations.push("the run was skipped, although files changed");
  if (isSkipped && submissionsOf(run).length > 0) violations.push("the run was skipped, but the service got a request");
  return violations;
}

function isAnswered({ data }: GitHubRequest): boolean {
  return typeof data === "object";
}

/** After this many turns in a row that failed, a session leaves its job. */
const maxFailures = 2;

/** Returns whether the last that the attempt was told about a job before it sent something is that it cannot be continued. */
function isOver(run: AttemptRun, jobId: string): boolean {
  const last = seenBefore(run).findLast((seen) => seen.jobId === jobId);
  if (last === undefined || last.status === "active") return false;
  if (last.status === "archived" || last.status === "not found") return true;
  return last.link === "" || isMergedOrClosed(run);
}

/** Returns whether the attempt says which pull request the session leaves, because the last turns of its job failed. */
function isLeft({ runner }: AttemptRun, jobId: string): boolean {
  return runner.annotations.some(
    ({ level, text }) => level === "notice" && text.includes(jobId) && text.includes("It leaves https://"),
  );
}

/** A session starts another job only after so many failures, or without a pull request that is open. */
export function checkFailures(history: History, index: number): string[] {
  const places = placesOf(history);
  const place = places[index];
  if (!place || !history.scenario.workflow?.hasSession) return [];
  const left = /^The last \d+ turns of job (\S+) failed/m.exec(
    place.run.runner.annotations.map(({ text }) => text).join("\n"),
  )?.[1];
  if (left === undefined) return [];
  const turns = new Set(
    places
      .slice(0, index)
      .flatMap(({ run }) => submissionsOf(run).flatMap(({ turn }) => turn ?? []))
      .filter(({ jobId, endsAt }) => jobId === left && endsAt <= place.run.endedAt),
  );
  const failures = [...turns].filter(({ result }) => result === "failed").length;
  return failures < maxFailures ? [`the session left ${left} after ${failures} failures`] : [];
}

/** Returns whether GitHub said, after the job was read and before something was sent, that its pull request is not open. */
function isMergedOrClosed({ gitHubRequests, requests }: AttemptRun): boolean {
  const first = requests.findIndex(isSubmission);
  const before = first === -1 ? requests : requests.slice(0, first);
  const readAt = before.findLast(({ kind }) => kind === "poll")?.received?.at ?? Infinity;
  const sentAt = requests[first]?.sentAt ?? Infinity;
  const read = gitHubRequests.findLast(
    (one) => /pulls/.test(one.route) && one.sentAt >= readAt && (one.settledAt ?? Infinity) <= sentAt,
  );
  return (read?.data as { state?: string } | undefined)?.state === "closed";
}

/** Returns the entry that the session had when the attempt read it, if it could be used. */
function entryOf({ run, session }: Place, places: readonly Place[]): CacheEntry | undefined {
  const restore = run.cache.restores.find(({ isForSession }) => isForSession);
  const isReadable = restore?.result === "found" || restore?.result === "none";
  if (!isReadable) return undefined;
  const entry = restore.found ?? restore.entries.findLast(isOfSession(session, places));
  return entry?.isCorrupt ? undefined : entry;
}

function isOfSession(session: string, places: readonly Place[]): (entry: CacheEntry) => boolean {
  return ({ owner, isForSession }) => isForSession && places[owner]?.session === session;
}

/** Returns the jobs that the service named to attempts. */
function jobsOf(places: readonly Place[]): string[] {
  return places.flatMap(({ run }) => [
    ...run.requests.flatMap(({ arrivedId }) => arrivedId ?? []),
    ...(wasTold(run) ? submissionsOf(run).flatMap(({ turn }) => turn?.jobId ?? []) : []),
    ...run.requests.flatMap(({ received }) =>
      received?.kind === "response" ? received.turns.map(({ job }) => job) : [],
    ),
  ]);
}
