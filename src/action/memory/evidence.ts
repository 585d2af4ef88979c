import type { RequestError } from "../../client/errors.ts";
import type { SentTurn } from "../../client/step-lookup.ts";
import { isForgetful } from "../../runner-kit/cache.ts";
import type { RerunAction, RerunEffect, RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { earlierAttempts, runAttempt } from "../runner/environment.ts";
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
import { untilAborted } from "./until-aborted.ts";
import type { CachedWords, ReadWords } from "./words.ts";

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

/** The places where words are kept; each is `undefined` if there is none that can be read. */
export interface Places {
  cache: CachedWords | undefined;
  session: SessionMemory | undefined;
  /** Reads the thread of a comment. */
  readThread: (() => Promise<ThreadWords>) | undefined;
}

/** Evidence, and what else was found with it. */
export interface Found {
  evidence: Evidence;
  /** Where the range of changes started that an earlier attempt compared. */
  base: string | undefined;
  /** Why the cache or the service cannot be read, for people. */
  cacheError: string | undefined;
  serviceError: RequestError | undefined;
}

/** Returns the evidence of an attempt that has none before it, or does not care. */
export function noEvidence({ ports }: Run): Found {
  const evidence: Evidence = {
    service: "mute",
    hadAnnounced: false,
    attempts: [],
    record: "unknown",
    over: new Set(),
    keepsWords: !isForgetful(ports.environment),
    mayBeNew: false,
  };
  return { evidence, base: undefined, cacheError: undefined, serviceError: undefined };
}

/** The question to the service, which comes first. */
export interface Question {
  /** The prompt; `undefined` if it depends on what changed. */
  prompt: string | undefined;
  /** Writes it, or returns why nothing may be sent. */
  write: (firstBase: string | undefined) => Promise<{ prompt: string } | RunResult>;
  cache: CachedWords | undefined;
}

/** What the service and the cache say. */
export interface Replies {
  words: ReadWords;
  answer: Answer;
  service: Evidence["service"];
}

/**
 * Asks the service what the earlier attempts of the step sent, and reads their words in the cache. Returns a result if nothing
 * may be sent.
 */
export async function askFirst({ prompt, write, cache }: Question, run: Run): Promise<Replies | RunResult> {
  const { environment } = run.ports;
  const silent = earlierAttempts(environment).toReversed();
  let read: Promise<ReadWords> | undefined;
  // Read at most once: the prompt and the decision are then made from the same words.
  const readWords = (): Promise<ReadWords> => {
    read ??=
      cache?.read() ??
      Promise.resolve({
        attempts: silent.map((attempt) => ({ attempt, word: undefined })),
        base: undefined,
        hadAnnounced: undefined,
        error: undefined,
      });
    return read;
  };
  const answer = await askService(run, async () => (await readWords()).hadAnnounced);
  if (answer.kind !== "announced") return { words: await readWords(), answer, service: answer.kind };
  const { turns } = answer.announcement;
  const [newest] = turns;
  if (!newest) return { words: await readWords(), answer, service: "nothing" };
  const words = await readWords();
  const isOnly = turns.length === 1;
  if (prompt === undefined && isOnly) return { words, answer, service: turnOf(newest, false) };
  const written = prompt === undefined ? await write(words.base) : { prompt };
  if ("kind" in written) return written;
  const same = run.key.find(written.prompt, turns);
  if (same) return { words, answer, service: turnOf(same, false) };
  if (isOnly) return { words, answer, service: turnOf(newest, true) };
  return { words, answer, service: { several: [...new Set(turns.map(({ jobId }) => jobId))] } };
}

function turnOf({ jobId, turnId, status }: SentTurn, hasOtherPrompt: boolean): EarlierTurn {
  return { jobId, turnId, hasOtherPrompt, over: status === "failed" || status === "stopped" ? status : undefined };
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

/** Puts together what all places say of the earlier attempts. Never rejects. */
export async function gather({ words, answer, service }: Replies, places: Places, run: Run): Promise<Found> {
  const { session, readThread } = places;
  const thread = await readThread?.();
  const entry = session && (await untilAborted(session.find(), run.ports.signal));
  const ownEntry = entry && "entry" in entry && entry.entry && session?.isOwn(entry.entry) ? entry.entry : undefined;
  let { attempts } = words;
  if (ownEntry) {
    const { attempt, jobId, kind: sent } = ownEntry;
    attempts = withWord(attempts, attempt, { kind: "job", jobId, sent });
  }
  if (thread) attempts = withThread(attempts, thread);
  const none = noEvidence(run);
  const turns = answer.kind === "announced" ? answer.announcement.turns : [];
  return {
    evidence: {
      ...none.evidence,
      service,
      hadAnnounced: words.hadAnnounced === true,
      attempts,
      over: new Set(turns.map((turn) => turn.jobId)),
      keepsWords: none.evidence.keepsWords && !(thread?.kind === "none" && thread.silence === "doubt"),
      mayBeNew: readThread === undefined,
      laterRun: session?.laterRun(entry),
    },
    base: words.base,
    cacheError: words.error,
    serviceError: answer.kind === "unreadable" ? answer.error : undefined,
  };
}

const strength: Readonly<Record<Word["kind"], number>> = { "about to send": 1, "nothing sent": 2, job: 3 };

function strengthOf(word: Word | "unreadable" | undefined): number {
  return word === undefined || word === "unreadable" ? 0 : strength[word.kind];
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
      return thread.silence === "proof"
        ? attempts.map(({ attempt }) => ({ attempt, word: { kind: "nothing sent" } }))
        : [...attempts];
    case "reply": {
      const newer = fill({ kind: "nothing sent" }).filter(({ attempt }) => attempt > thread.attempt);
      const cached = attempts.find(({ attempt }) => attempt === thread.attempt)?.word;
      // The reply says that nothing was sent only if that holds for the attempts before, too.
      const isDoubt = thread.word.kind === "about to send" && strengthOf(cached) < strength.job;
      const [own] = isDoubt
        ? [thread]
        : withWord([{ attempt: thread.attempt, word: cached }], thread.attempt, thread.word);
      // A word that the cache has of a newer attempt that named a job ends the search.
      return newer.some(({ word }) => typeof word === "object" && word.kind === "job")
        ? newer
        : [...newer, ...(own ? [{ attempt: own.attempt, word: own.word }] : [])];
    }
  }
}

/** What this attempt leaves. */
export interface Left {
  /** Every word that a later attempt may find, and what the service may say. */
  words: readonly (Word | undefined)[];
  services: readonly Evidence["service"][];
  keepsWords: boolean;
}

/** From the most harmful to the least. */
const actions: readonly RerunAction[] = ["repeats", "stops", "resumes"];
const actionOf: Readonly<Record<Decision["do"], RerunAction>> = { wait: "resumes", send: "repeats", refuse: "stops" };

/** Returns what a re-run does: what is decided on the evidence that this attempt leaves, at the worst. */
export function rerunEffect(evidence: Evidence, left: Left, { settings, key, state, ports }: Run): RerunEffect {
  const attempt = runAttempt(ports.environment);
  if (settings.onRerun === "new" || !key.isLasting) return { usable: "repeats", over: "repeats" };
  const isProven = evidence.record === "not started" && left.words.every(Boolean);
  const records: StepRecord[] = isProven ? ["not started"] : ["unknown", { ran: attempt }];
  const effect = (isOver: boolean): RerunAction => {
    const decisions = left.words.flatMap((word) => {
      const attempts = [{ attempt, word }, ...evidence.attempts];
      const known = { ...evidence, attempts, keepsWords: left.keepsWords };
      return left.services.flatMap((service) =>
        records.map((record) => {
          const next = { ...known, service, record };
          return decide(isOver ? withoutJob(next, state.jobId) : next);
        }),
      );
    });
    const found = decisions.map((decision) => actionOf[decision.do]);
    return actions.find((action) => found.includes(action)) ?? "repeats";
  };
  return { usable: effect(false), over: effect(true) };
}
