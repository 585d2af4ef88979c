import type { CacheEntry } from "./cache.ts";
import type { GitHubRequest } from "./github.ts";
import { hasRunChanges, placeOf } from "./history.ts";
import { firstSubmissionAt, jobOf, type Place, placesOf, seenBefore } from "./places.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { submissionsOf } from "./submissions.ts";
import { commitOf } from "./workflow.ts";

/** A session continues its own job, as long as that is of use, and with no other. */
export function checkSession(history: History, index: number): string[] {
  const places = placesOf(history);
  const place = places[index];
  if (!place || !history.scenario.workflow?.hasSession) return [];
  const { run } = place;
  const violations: string[] = [];
  const created = jobsOf(places.filter(({ session, index: at }) => session === place.session && at <= index));
  for (const { kind, jobId } of submissionsOf(run)) {
    if (kind !== "message") continue;
    if (!created.includes(jobId)) violations.push(`a message was sent to ${jobId}, which is not a job of the session`);
    if (isOver(run, jobId)) violations.push(`a message was sent to ${jobId}, which is of no use`);
  }
  const first = submissionsOf(run)[0];
  const remembered = entryOf(place, places);
  if (first?.kind === "create" && remembered) {
    const jobId = jobOf(remembered) ?? "";
    if (!isOver(run, jobId)) violations.push(`a job was started, although the session can go on with ${jobId}`);
  }
  return violations;
}

/** The changes of a session start after its last run, as long as it remembers that. */
function checkRange(history: History, index: number): string[] {
  const { scenario } = history;
  const places = placesOf(history);
  const place = places[index];
  // What it could not read once, it may have replaced by an entry that does not know it.
  const isLost = ({ execution, run }: Place): boolean =>
    execution.cacheLoss !== undefined || run.cache.restores.some(({ result }) => result === "unusable");
  if (!place || places.slice(0, index + 1).some(isLost)) return [];
  const { run, session } = place;
  const compare = run.gitHubRequests.find(({ route }) => route.includes("compare"));
  if (!compare) return [];
  const isOther = ({ owner, isForSession }: CacheEntry): boolean =>
    isForSession && places[owner]?.session === session && placeOf(scenario, owner).run !== placeOf(scenario, index).run;
  const last = run.cache.restores.find(({ isForSession }) => isForSession)?.entries.findLast(isOther);
  const expected = commitOf(last ? placeOf(scenario, last.owner).run : 0);
  const [base] = String(compare.parameters.basehead).split("...");
  return base === expected ? [] : [`the changes start at ${base}, but should start at ${expected}`];
}

/** On a quiet day, or if it is unknown whether it is one, nothing is sent. On any other day, it is. */
export function checkChanges(history: History, index: number): string[] {
  const { scenario } = history;
  const run = history.attempts[index];
  if (!run || !scenario.workflow?.changes) return [];
  const violations = checkRange(history, index);
  const sentAt = firstSubmissionAt(run);
  const hasChanges = hasRunChanges(scenario, index);
  const comparisons = run.gitHubRequests.filter(({ route }) => /compare|commits$/.test(route) && !/pulls/.test(route));
  const isSkipped = run.runner.outputs.outcome === "skipped";
  if (sentAt !== undefined && !hasChanges) violations.push("something was sent on a quiet day");
  if (sentAt !== undefined && !(comparisons.length > 0 && comparisons.every(isAnswered)))
    violations.push("something was sent, although it is unknown what changed");
  if (isSkipped && hasChanges) violations.push("the run was skipped, although files changed");
  if (isSkipped && run.cache.restores.every(({ isForSession, result }) => isForSession || result === "none")) {
    if (run.requests.length > 0) violations.push("the run was skipped, but the service got a request");
  }
  return violations;
}

function isAnswered({ data }: GitHubRequest): boolean {
  return typeof data === "object";
}

/** Returns whether the last that the attempt was told about a job before it sent something is that it cannot be continued. */
function isOver(run: AttemptRun, jobId: string): boolean {
  const last = seenBefore(run).findLast((seen) => seen.jobId === jobId);
  if (last?.status !== "completed") return last !== undefined && last.status !== "active";
  return last.link === "" || isMergedOrClosed(run);
}

/** Returns whether GitHub said, after the job was read and before something was sent, that its pull request is not open. */
function isMergedOrClosed({ gitHubRequests, requests }: AttemptRun): boolean {
  const first = requests.findIndex(({ kind }) => kind !== "poll");
  const readAt = requests.at(first === -1 ? -1 : first - 1)?.received?.at ?? Infinity;
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
  const entry = restore.entries.findLast(
    ({ owner, isForSession }) => isForSession && places[owner]?.session === session,
  );
  return entry?.isCorrupt ? undefined : entry;
}

function jobsOf(places: readonly Place[]): string[] {
  return places.flatMap(({ run }) => run.requests.flatMap(({ arrivedId }) => arrivedId ?? []));
}
