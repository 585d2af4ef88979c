import { placeOf } from "./history.ts";
import type { ServiceRequest } from "./network.ts";
import { canAskGitHub, isGone, type Place, placesOf, sawEnd, wasTold } from "./places.ts";
import { entriesOf, stateOf } from "./reruns.ts";
import type { Turn } from "./service.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { doubt, submissionsOf } from "./submissions.ts";
import { isHosted } from "./workflow.ts";

/** The error of a step that a person has to decide about. */
const asksPerson =
  /ended without knowing whether the service accepted|started, cannot be read|nothing says what it started|could not leave word of a job|sent another prompt|sent several prompts/;

/** Never sends again what an earlier attempt of the same step sent, unless the docs say so; and asks nobody if it can know. */
export function checkRepeats(history: History, index: number): string[] {
  const { scenario, attempts } = history;
  const run = attempts[index];
  if (!run) return [];
  const places = placesOf(history);
  const place = places[index];
  const isComment = scenario.mode.kind === "comment";
  if (!place && !isComment) return [];
  const violations: string[] = [];
  for (const { request, turn, by } of repeatedTurns(history, index)) {
    const reason = whyNot({ history, index, request, turn, by });
    if (reason) violations.push(`a request was sent again although attempt ${by + 1} had sent it: ${reason}`);
  }
  violations.push(...(place ? checkQuestions(history, place, places) : checkCommentQuestions(history, index)));
  return violations;
}

interface Repeat {
  request: ServiceRequest;
  /** The turn of an earlier attempt, and the index of that attempt. */
  turn: Turn;
  by: number;
}

/** Returns the new turns of an attempt, with the turns of earlier attempts of the step that were still of use then. */
function repeatedTurns(history: History, index: number): Repeat[] {
  const { attempts } = history;
  const run = attempts[index];
  const places = placesOf(history);
  if (!run) return [];
  const isSame = (by: number): boolean => places.length === 0 || places[by]?.unit === places[index]?.unit;
  const earlier = attempts
    .slice(0, index)
    .flatMap((one, by) => (isSame(by) ? newTurns(one).map(({ turn }) => ({ turn, by })) : []));
  return newTurns(run).flatMap(({ request, turn }) => {
    // A turn that took the place of another one is what counts then.
    const isReplaced = ({ turn: { acceptedAt } }: (typeof earlier)[number]): boolean =>
      earlier.some((other) => other.turn.acceptedAt > acceptedAt && other.turn.acceptedAt <= turn.acceptedAt);
    const current = earlier.filter((one) => !isReplaced(one) && !isOver(one.turn, turn.acceptedAt));
    return current.map((one) => ({ ...one, request }));
  });
}

function newTurns(run: AttemptRun): { request: ServiceRequest; turn: Turn }[] {
  return submissionsOf(run).flatMap((request) =>
    request.turn && !request.isReplay ? [{ request, turn: request.turn }] : [],
  );
}

/** Returns whether a turn is of no use, so that a re-run takes its place. */
function isOver({ acceptedAt, endsAt, goneAt, result }: Turn, at: number): boolean {
  if (acceptedAt > at) return false;
  return goneAt <= at || (endsAt <= at && (result === "failed" || result === "archived"));
}

/** Returns why a request may not be sent again; `undefined` if it may. */
function whyNot({
  history,
  index,
  request,
  turn,
  by,
}: Repeat & { history: History; index: number }): string | undefined {
  const { scenario, attempts } = history;
  const [run, earlier] = [attempts[index], attempts[by]];
  if (!run || !earlier) return undefined;
  const place = placesOf(history)[index];
  const before = placesOf(history)[by];
  if (place?.execution.onRerun === "new" || run.hasInternalFault) return undefined;
  if (isGone(run, turn.jobId, request.sentAt) || sawEnd(run, turn.jobId, request.sentAt)) return undefined;
  // An attempt in between was told that it is gone, and started over.
  const between = attempts.slice(by + 1, index);
  if (between.some((one) => isGone(one, turn.jobId, Infinity) || sawEnd(one, turn.jobId))) return undefined;
  // After a doubt, the service is only asked whether it knows keys.
  if (wasTold(run, submissionsOf(run)[0]?.sentAt)) return "the service says what was sent";
  if (before?.execution.onRerun === "new") return undefined;
  if (scenario.mode.kind === "comment") {
    if (!scenario.mode.reply) return canAskGitHub(history, index) ? "GitHub says that the step ran" : undefined;
    if (run.isRemembered) return "the thread remembers it";
    if (isFoundInCache(run, by)) return "the cache remembers it";
  }
  if (canAskGitHub(history, index)) return "GitHub says that the step ran";
  if (!place || !before) return wasAnnounced(earlier) ? undefined : "no attempt had announced a doubt";
  if (["read", "none"].includes(place.cacheMode) && place.execution.cache.state !== "absent")
    return "the cache may only be read";
  if (run.cache.saves.some(({ refusedAt = Infinity }) => refusedAt <= request.sentAt))
    return "the cache may only be read";
  if (place.execution.cache.state === "absent") {
    const isSaid = run.runner.statements.some(({ text }) => text.startsWith("Re-run without a memory"));
    return isSaid ? undefined : "nothing says that there is no memory";
  }
  if (entriesOf(place, placesOf(history)).some(({ owner }) => owner === by)) return "the cache remembers it";
  return mayBeForgotten(before, place, placesOf(history)) ? undefined : "no attempt had announced a doubt";
}

/** Returns whether an attempt found in the cache what another one left there. */
function isFoundInCache({ cache }: AttemptRun, by: number): boolean {
  return cache.restores.some(({ found }) => found?.owner === by);
}

function wasAnnounced({ runner }: AttemptRun): boolean {
  return runner.statements.some(({ text }) => doubt.test(text));
}

/** Returns whether a later attempt may find nothing in the cache of an earlier one that sent something. */
function mayBeForgotten({ run, execution, index, cacheMode }: Place, later: Place, places: readonly Place[]): boolean {
  return (
    execution.cache.state === "absent" ||
    ["read", "none"].includes(cacheMode) ||
    run.hasInternalFault ||
    wasAnnounced(run) ||
    places.slice(index + 1, later.index + 1).some((one) => one.execution.cacheLoss === "evicted")
  );
}

/** A person is asked only if neither the service, the cache nor GitHub can tell. */
function checkQuestions(history: History, place: Place, places: readonly Place[]): string[] {
  const { run, number, execution } = place;
  const question = questionOf(run);
  if (!question || number === 1 || execution.onRerun === "new" || run.hasInternalFault) return [];
  // Without the changes of its first attempt, a prompt cannot be compared.
  if (run.gitHubRequests.some(({ data }) => typeof data !== "object")) return [];
  const violations: string[] = [];
  const ofRun = places.filter(({ workflowRun, index }) => workflowRun === place.workflowRun && index < place.index);
  const isMixed = ofRun.some((one) => one.execution.onRerun === "new" || one.unit !== place.unit);
  if (wasTold(run) && !isMixed && !mayHaveBeenNew(history, place, places))
    violations.push(`the service says what was sent, but a person is asked: ${question}`);
  // What cannot be read may be anything.
  if (run.cache.restores.some(({ result, found }) => (result !== "found" && result !== "none") || found?.isCorrupt))
    return violations;
  const hasBegun = ofRun.some((one) => one.step === place.step && one.run.end !== "not-started");
  if (!hasBegun && canAskGitHub(history, place.index))
    violations.push(`the step never ran, but a person is asked: ${question}`);
  const canRead = execution.cache.state !== "absent" && place.cacheMode !== "none";
  const entries = canRead ? entriesOf(place, places) : [];
  const newest = entries.reduce((last, { owner }) => Math.max(last, owner), -1);
  const isKnown = entries.some((entry) => entry.owner === newest && stateOf(entry) === "job" && !entry.isCorrupt);
  if (isKnown && !isMixed) violations.push(`the cache names a job, but a person is asked: ${question}`);
  return violations;
}

/** Returns whether an attempt left no word that may have sent something under another key, and the service names nothing. */
function mayHaveBeenNew(history: History, place: Place, places: readonly Place[]): boolean {
  const hasTurns = place.run.requests.some(
    ({ received }) => received?.kind === "response" && received.turns.length > 0,
  );
  const { execution, cacheMode, run: own } = place;
  const isReadable =
    execution.cache.state !== "absent" &&
    cacheMode !== "none" &&
    own.cache.restores.every(({ result, found }) => (result === "found" || result === "none") && !found?.isCorrupt);
  const entries = isReadable ? entriesOf(place, places) : [];
  const silent = places.filter(
    ({ unit, index, number, run }) =>
      unit === place.unit &&
      index < place.index &&
      number > 1 &&
      (run.end !== "not-started" || !canAskGitHub(history, place.index)) &&
      !entries.some(({ owner }) => owner === index),
  );
  return !hasTurns && silent.length > 0;
}

function checkCommentQuestions(history: History, index: number): string[] {
  const { scenario, attempts } = history;
  const run = attempts[index];
  const question = run && questionOf(run);
  if (!question || placeOf(scenario, index).number === 1 || run.hasInternalFault) return [];
  const violations: string[] = [];
  if (wasTold(run)) violations.push(`the service says what was sent, but a person is asked: ${question}`);
  const hasBegun = attempts.slice(0, index).some(({ end }) => end !== "not-started") || isOutOfTime(run);
  if (!hasBegun && canAskGitHub(history, index) && run.gitHubRequests.every(({ data }) => typeof data === "object")) {
    violations.push(`the step never ran, but a person is asked: ${question}`);
  }
  return violations;
}

/** Returns whether the time was over before the thread could be read. */
function isOutOfTime({ runner }: AttemptRun): boolean {
  return runner.annotations.some(({ text }) => text.includes("timeout-minutes has passed"));
}

function questionOf({ runner }: AttemptRun): string | undefined {
  return runner.annotations.find(({ level, text }) => level === "error" && asksPerson.test(text))?.text;
}

/** Returns whether the service tells what was sent, and every request reaches it with its key. */
export function announces({ scenario }: History): boolean {
  return scenario.service === "announces" && !isHosted(scenario);
}
