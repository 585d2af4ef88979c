import type { Acceptance } from "../../client/errors.ts";
import type { SentTurn } from "../../client/step-lookup.ts";
import { isForgetful } from "../../runner-kit/cache.ts";
import { nothingRemembered, type PromptSource, promptApart, writePrompt } from "../plan.ts";
import {
  AgentError,
  agentFailed,
  cancelledBeforeSending,
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

/** What the thread of a comment says of the earlier attempts. */
export type ThreadWords =
  | { kind: "unreadable" }
  /** The reply, which the newest attempt that sent something has written last. */
  | { kind: "reply"; attempt: number; word: Word }
  /**
   * There is no reply. `proof`: no earlier attempt came as far as to react, so that nothing was sent; `doubt`: one had, or none could
   * leave anything; `open`: it says nothing.
   */
  | { kind: "none"; silence: "proof" | "doubt" | "open" };

/** Returns the evidence of an attempt that has none before it, or does not care. */
export function noEvidence({ ports }: Run): Evidence {
  const keepsWords = !isForgetful(ports.environment);
  return { service: "mute", hadAnnounced: false, attempts: [], record: "unknown", over: new Set(), keepsWords };
}

/** What the service and the cache say. */
export interface Replies {
  words: ReadWords;
  answer: Answer;
  service: Evidence["service"];
}

/**
 * Asks the service what the earlier attempts of the step sent, and reads their words in the cache, before anything else. Returns a
 * result if nothing may be sent.
 *
 * @param fill - returns the prompt with a section on changes
 */
export async function askBefore(
  source: PromptSource & { memory: { cache: CachedWords | undefined } },
  run: Run,
): Promise<Replies | RunResult> {
  const { signal } = run.ports;
  const asked = ask(source, source.memory.cache, run).catch((error: unknown) => {
    // What asks its service may start it.
    if (error instanceof AgentError) return agentFailed(error);
    throw error;
  });
  const replies = await untilAborted(asked, signal);
  return replies && !signal.aborted ? replies : cancelledBeforeSending;
}

async function ask(source: PromptSource, cache: CachedWords | undefined, run: Run): Promise<Replies | RunResult> {
  let read: Promise<ReadWords> | undefined;
  // Read at most once: the prompt and the decision are then made from the same words.
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
  // The prompt depends on what others write, and there is nothing to choose from.
  if (isWhole && isOnly) return { words, answer, service: turnOf(newest, false) };
  const firstBase = words.base;
  const written = isWhole
    ? await writePrompt(source, run, { ...nothingRemembered, firstBase })
    : { whole: promptApart(source, run) };
  if ("kind" in written) return written;
  const same = run.key.find(written.whole, turns);
  if (same) return { words, answer, service: turnOf(same, false) };
  if (isOnly) return { words, answer, service: turnOf(newest, true) };
  return { words, answer, service: { several: [...new Set(turns.map(({ jobId }) => jobId))] } };
}

function noWords({ ports }: Run): ReadWords {
  const newest = runAttempt(ports.environment) - 1;
  const attempts = Array.from({ length: newest }, (_, index) => ({ attempt: newest - index, word: undefined }));
  return { attempts, base: undefined, hadAnnounced: undefined, error: undefined };
}

function turnOf({ jobId, turnId, status, isKept, isUnfinished }: SentTurn, hasOtherPrompt: boolean): EarlierTurn {
  return {
    jobId,
    turnId,
    hasOtherPrompt,
    isKept,
    isUnfinished,
    over: status === "failed" || status === "stopped" ? status : undefined,
  };
}

/** Returns the evidence once a job that was waited for turned out to be of no use. */
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
 * Puts together what all places say of the earlier attempts. Never rejects.
 *
 * @param session - `undefined` if there is none that can be read
 * @param readThread - reads the thread of a comment
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
    // Its service is asked for all of them: it has the step's key in each attempt.
    attempts: run.settings.agent ? noWords(run).attempts : attempts,
    over: new Set(turns.map((turn) => turn.jobId)),
    keepsWords: none.keepsWords && !(thread?.kind === "none" && thread.silence === "doubt"),
    laterRun: entry && session?.laterRun(entry),
  };
}

/** Adds what another place says of an attempt: the stronger word counts. */
function withWord(attempts: readonly EarlierAttempt[], attempt: number, word: Word): EarlierAttempt[] {
  return attempts.map((one) =>
    one.attempt === attempt && strengthOf(word) > strengthOf(one.word) ? { attempt, word } : one,
  );
}

/** An attempt that sends something writes the reply first, so that the reply outlives all words before it. */
function withThread(attempts: readonly EarlierAttempt[], thread: ThreadWords): EarlierAttempt[] {
  const fill = (word: EarlierAttempt["word"]) =>
    attempts.map((one) => (one.word === undefined ? { ...one, word } : one));
  switch (thread.kind) {
    case "unreadable":
      return fill("unreadable");
    case "none":
      // An attempt whose reaction was refused may have gone on, with a word in the cache.
      return thread.silence === "proof"
        ? attempts.map((one) => (typeof one.word === "object" ? one : { ...one, word: { kind: "nothing sent" } }))
        : [...attempts];
    case "reply": {
      const newer = fill({ kind: "nothing sent" }).filter(({ attempt }) => attempt > thread.attempt);
      const cached = attempts.find(({ attempt }) => attempt === thread.attempt)?.word;
      // The reply says that nothing was sent only if that holds for the attempts before, too.
      const isDoubt = thread.word.kind === "about to send" && !isJob(cached);
      const word = isDoubt || strengthOf(thread.word) > strengthOf(cached) ? thread.word : cached;
      return [...newer, { attempt: thread.attempt, word }];
    }
  }
}

/** Returns whether a word names a job. */
export function isJob(word: Word | "unreadable" | undefined): word is Extract<Word, { kind: "job" }> {
  return typeof word === "object" && word.kind === "job";
}

/** What this attempt leaves. */
export interface Left {
  /** Every word that a later attempt may find. */
  words: readonly (Word | undefined)[];
  keepsWords: boolean;
  /** Whether the service has what the step sent, or waits for: then it names the turn, if it can be asked. */
  acceptance: Acceptance;
}

/** From the most harmful to the least. */
const actions: readonly RerunAction[] = ["repeats", "stops", "resumes"];
const actionOf: Readonly<Record<Decision["do"], RerunAction>> = { wait: "resumes", send: "repeats", refuse: "stops" };

/** Returns what a re-run does: what is decided on the evidence that this attempt leaves, at the worst. */
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
