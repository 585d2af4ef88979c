import type { Acceptance } from "../../client/errors.ts";
import type { SentTurn } from "../../client/step-lookup.ts";
import { isForgetful } from "../../runner-kit/cache.ts";
import { nothingRemembered, type PromptSource, promptApart, writePrompt } from "../plan.ts";
import {
  AgentError,
  agentFailed,
  type BlockedResult,
  cancelledWhileLooking,
  type RerunAction,
  type RerunEffect,
  type RunResult,
} from "../result.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import { type Answer, askService } from "./ask-service.ts";
import {
  type Decision,
  decide,
  type EarlierAttempt,
  type EarlierTurn,
  type Evidence,
  type StepRecord,
  type Word,
} from "./decide.ts";
import type { SessionMemory } from "./session.ts";
import { untilAborted } from "./wait.ts";
import { type CachedWords, type ReadWords, strengthOf } from "./words.ts";

/** What a comment's thread says about earlier attempts. */
export type ThreadWords =
  | { kind: "unreadable" }
  /** The reply, last written by the newest attempt that sent something. */
  | { kind: "reply"; attempt: number; word: Word; laterRun?: Evidence["laterRun"] }
  /**
   * There is no reply. `proof`: no earlier attempt reacted, so nothing was sent; `doubt`: one reacted, or none could leave anything;
   * `open`: no evidence.
   */
  | { kind: "none"; silence: "proof" | "doubt" | "open" };

/** Returns the evidence of a first attempt, or one that ignores earlier ones. */
export function noEvidence({ ports }: Run): Evidence {
  const keepsWords = !isForgetful(ports.environment);
  return { service: "mute", hadAnnounced: false, attempts: [], record: "unknown", over: new Set(), keepsWords };
}

/** The answers of the service and the cache. */
export interface Replies {
  words: ReadWords;
  answer: Answer;
  service: Evidence["service"];
}

/** Returns why nothing may be sent. @param replies - default: nobody was asked */
export function blockedBy(
  { do: _, ...reason }: Extract<Decision, { do: "refuse" }>,
  { words, answer }: Partial<Replies> = {},
): BlockedResult {
  if (reason.cause === "service")
    return { kind: "blocked", cause: "service", error: answer?.kind === "unreadable" ? answer.error : undefined };
  if (reason.cause !== "unreadable") return { kind: "blocked", ...reason };
  if (words?.error === undefined) return { kind: "blocked", cause: "thread" };
  return { kind: "blocked", cause: "memory", detail: words.error };
}

/**
 * Reads what earlier attempts sent from the service, and their words from the cache, before anything else. Returns a result if nothing may
 * be sent.
 *
 * @param fill - returns the prompt with a section on changes
 */
export async function askBefore(
  source: PromptSource & { memory: { cache: CachedWords | undefined } },
  run: Run,
): Promise<Replies | RunResult> {
  const { signal } = run.ports;
  const asked = ask(source, source.memory.cache, run).catch((error: unknown) => {
    // Asking an own agent's service may start it.
    if (error instanceof AgentError) return agentFailed(error);
    throw error;
  });
  const replies = await untilAborted(asked, signal);
  return replies && !signal.aborted ? replies : cancelledWhileLooking;
}

async function ask(source: PromptSource, cache: CachedWords | undefined, run: Run): Promise<Replies | RunResult> {
  let read: Promise<ReadWords> | undefined;
  // Read at most once, so that the prompt and the decision use the same words.
  const readWords = (): Promise<ReadWords> => {
    read ??= cache?.read() ?? Promise.resolve(noWords(run));
    return read;
  };
  const answer = await askService(run, async () => (await readWords()).hadAnnounced);
  const words = await readWords();
  if (answer.kind !== "announced") return { words, answer, service: answer.kind };
  const { turns } = answer.announcement;
  const [newest, ...older] = turns;
  if (!newest) return { words, answer, service: "nothing" };
  const isOnly = older.length === 0;
  const isWhole = (run.settings.changes || source.readThread) && !run.state.features?.has("sections");
  // The prompt depends on other people's text. In a thread, each comment is a step of its own.
  const isNamed = words.attempts.some(({ word }) => isJob(word) && !word.hasOtherPrompt && word.jobId === newest.jobId);
  if (isWhole && isOnly && (source.readThread || isNamed)) return { words, answer, service: turnOf(newest, false) };
  const firstBase = words.base;
  const written = isWhole
    ? await writePrompt(source, run, { ...nothingRemembered, firstBase })
    : { whole: promptApart(source, run) };
  if ("kind" in written && !isOnly) return written;
  const same = "kind" in written ? undefined : run.key.find(written.whole, turns);
  if (same) return { words, answer, service: turnOf(same, false) };
  if (isOnly) return { words, answer, service: turnOf(newest, true) };
  return { words, answer, service: { several: [...new Set(turns.map(({ jobId }) => jobId))] } };
}

function noWords({ ports }: Run): ReadWords {
  const newest = runAttempt(ports.environment) - 1;
  const attempts = Array.from({ length: newest }, (_, index) => ({ attempt: newest - index, word: undefined }));
  return { attempts, base: undefined, covers: undefined, hadAnnounced: undefined, error: undefined };
}

function turnOf(
  { jobId, turnId, request, status, isKept, isUnfinished }: SentTurn,
  hasOtherPrompt: boolean,
): EarlierTurn {
  return {
    jobId,
    turnId,
    request,
    hasOtherPrompt,
    isKept,
    isUnfinished,
    over: status === "failed" || status === "stopped" ? status : undefined,
  };
}

/** Returns the evidence after a job that was waited for turned out to be unusable. */
export function withoutJob(evidence: Evidence, jobId: string): Evidence {
  const { service, over } = evidence;
  const isTurn = typeof service === "object" && "turnId" in service;
  return {
    ...evidence,
    service: isTurn ? { ...service, over: service.over ?? "archived" } : service,
    over: new Set([...over, jobId]),
  };
}

/**
 * Combines the evidence about earlier attempts. Never rejects.
 *
 * @param session - `undefined` if it cannot be read
 * @param readThread - reads a comment's thread
 */
export async function gather(
  { words, answer, service }: Replies,
  session: SessionMemory | undefined,
  readThread: (() => Promise<ThreadWords>) | undefined,
  run: Run,
): Promise<Evidence> {
  const thread = await readThread?.();
  const found = session && (await untilAborted(session.find(), run.ports.signal));
  const entry = found && "entry" in found ? found.entry : undefined;
  let { attempts } = words;
  if (entry && session?.isOwn(entry))
    attempts = withWord(attempts, entry.attempt, { kind: "job", jobId: entry.jobId, sent: entry.kind });
  if (thread) attempts = withThread(attempts, thread);
  const none = noEvidence(run);
  const turns = answer.kind === "announced" ? answer.announcement.turns : [];
  return {
    ...none,
    service,
    hadAnnounced: words.hadAnnounced === true || run.settings.agent !== undefined,
    // An own agent's service has the step's key for every attempt.
    attempts: run.settings.agent ? noWords(run).attempts : attempts,
    over: new Set(turns.map((turn) => turn.jobId)),
    keepsWords: none.keepsWords && !(thread?.kind === "none" && thread.silence === "doubt"),
    laterRun: thread?.kind === "reply" ? thread.laterRun : entry && session?.laterRun(entry),
  };
}

/** Adds another source's word on an attempt; the stronger word counts. */
function withWord(attempts: readonly EarlierAttempt[], attempt: number, word: Word): EarlierAttempt[] {
  return attempts.map((one) =>
    one.attempt === attempt && strengthOf(word) > strengthOf(one.word) ? { attempt, word } : one,
  );
}

/** An attempt writes the reply before it sends anything, so the reply outlives all earlier words. */
function withThread(attempts: readonly EarlierAttempt[], thread: ThreadWords): EarlierAttempt[] {
  const fill = (word: EarlierAttempt["word"]) =>
    attempts.map((one) => (one.word === undefined ? { ...one, word } : one));
  switch (thread.kind) {
    case "unreadable":
      return fill("unreadable");
    case "none":
      // An attempt whose reaction was rejected may have continued, with a word in the cache.
      return thread.silence === "proof"
        ? attempts.map((one) => (typeof one.word === "object" ? one : { ...one, word: { kind: "nothing sent" } }))
        : [...attempts];
    case "reply": {
      const newer = fill({ kind: "nothing sent" }).filter(({ attempt }) => attempt > thread.attempt);
      const cached = attempts.find(({ attempt }) => attempt === thread.attempt)?.word;
      // The reply says "nothing sent" only if that is true of earlier attempts, too.
      const isDoubt = thread.word.kind === "about to send" && !isJob(cached);
      const word = isDoubt || strengthOf(thread.word) > strengthOf(cached) ? thread.word : cached;
      return [...newer, { attempt: thread.attempt, word }];
    }
  }
}

export function isJob(word: Word | "unreadable" | undefined): word is Extract<Word, { kind: "job" }> {
  return typeof word === "object" && word.kind === "job";
}

/** The evidence that this attempt leaves. */
export interface Left {
  /** Every word that a later attempt may find. */
  words: readonly (Word | undefined)[];
  keepsWords: boolean;
  /** Whether the service has the request that was sent or waited for: if it can be asked, it names the turn. */
  acceptance: Acceptance;
}

/** Most harmful first. */
const actions: readonly RerunAction[] = ["repeats", "stops", "resumes"];
const actionOf: Readonly<Record<Decision["do"], RerunAction>> = { wait: "resumes", send: "repeats", refuse: "stops" };

/** Returns the worst that a re-run would do, based on the evidence that this attempt leaves. */
export function rerunEffect(
  evidence: Evidence,
  { words, keepsWords, acceptance }: Left,
  { settings, key, state, ports }: Run,
): RerunEffect {
  const attempt = runAttempt(ports.environment);
  if (settings.onRerun === "new" || !key.isLasting) return { usable: "repeats", over: "repeats" };
  const turn = {
    jobId: state.jobId,
    turnId: "",
    over: undefined,
    request: "",
    hasOtherPrompt: false,
    isKept: false,
    isUnfinished: false,
  };
  const before = evidence.service === "mute" && (state.features ?? settings.agent) ? "nothing" : evidence.service;
  const isKnown = state.features !== undefined && state.jobId !== "" && acceptance !== "rejected";
  const services = isKnown ? (acceptance === "unknown" ? [turn, before] : [turn]) : [before];
  const left = settings.agent ? [undefined] : words;
  const isProven = evidence.record === "not started" && left.every(Boolean);
  const records: StepRecord[] = isProven ? ["not started"] : ["unknown", { ran: attempt }];
  const effect = (isOver: boolean): RerunAction => {
    const decisions = left.flatMap((word) =>
      services.flatMap((service) =>
        records.map((record) => {
          const attempts = [{ attempt, word }, ...evidence.attempts];
          const next = { ...evidence, attempts, keepsWords, service, record };
          return decide(isOver ? withoutJob(next, state.jobId) : next);
        }),
      ),
    );
    const found = decisions.map((decision) => actionOf[decision.do]);
    return actions.find((action) => found.includes(action)) ?? "repeats";
  };
  return { usable: effect(false), over: effect(true) };
}
