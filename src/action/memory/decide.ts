import type { HeadBefore } from "../pull-request.ts";

/** What an attempt records about its request, for later attempts. */
export type Word =
  | { kind: "nothing sent"; hasOtherPrompt?: boolean | undefined }
  | { kind: "about to send"; hasOtherPrompt?: boolean }
  /** It started the job, sent it a message, or waited for it. */
  | {
      kind: "job";
      jobId: string;
      sent: "create" | "message";
      /** At work on the message, or to end, so that its state is no older. */
      wasSeen?: boolean | undefined;
      /** To complete, so that it fulfills the request, whatever later ones do to it. */
      isDone?: boolean | undefined;
      /** Whether it could not be told what that changed. */
      isUnproven?: boolean | undefined;
      /** Whether it changed nothing; only if it was seen to complete. */
      isUnchanged?: boolean | undefined;
      /** The pull request that it had then; default: none. */
      pullRequest?: string | undefined;
      /** Only an answer that is no record has named it: if there is no such job, another one may have been started. */
      isDoubtful?: boolean | undefined;
      before?: HeadBefore | undefined;
      hasOtherPrompt?: boolean;
    };

export type JobWord = Extract<Word, { kind: "job" }>;

/** An earlier attempt of the step. */
export interface EarlierAttempt {
  attempt: number;
  /** `undefined`: it left none. `unreadable`: it may have left one. */
  word: Word | "unreadable" | undefined;
}

/** An earlier attempt's turn, according to the service. */
export interface EarlierTurn {
  jobId: string;
  turnId: string;
  /** What its key says of it. */
  request: string;
  /** Why the turn or its job is unusable. `ignored`: because of `on-rerun: new`. */
  over: "failed" | "stopped" | "archived" | "ignored" | undefined;
  hasOtherPrompt: boolean;
  /** Whether its work is kept: the job's next request publishes it first. */
  isKept: boolean;
  /** Whether unfinished work is kept: the job's next agent starts from it. */
  isUnfinished: boolean;
}

/** GitHub's record of the attempts without a word: whether any ran the step, and the newest that did. */
export type StepRecord = "not started" | "unknown" | { ran: number };

/** Everything known about the earlier attempts of the step. */
export interface Evidence {
  /**
   * What was sent under the step, according to the service. `mute`: it cannot be asked; `unreadable`: perhaps it can; `several`: turns,
   * none with this prompt.
   */
  service: "mute" | "unreadable" | "nothing" | { several: readonly string[] } | EarlierTurn;
  /** Whether it had announced to an earlier attempt that it can be asked. */
  hadAnnounced: boolean;
  /** Newest first. */
  attempts: readonly EarlierAttempt[];
  record: StepRecord;
  /** Unusable jobs: failed, archived or gone. */
  over: ReadonlySet<string>;
  /** Whether an attempt would have left a word after sending something, as far as this one can tell. */
  keepsWords: boolean;
  /** The later run of the session or request of the thread that last sent something, and its job; `run`: in a session. */
  laterRun?: { run?: string; jobId?: string | undefined } | undefined;
}

/**
 * Why nothing is sent. `unrecorded`: GitHub recorded that an attempt ran the step, but not what it sent; `unknown`: GitHub could not be
 * asked either; `pending`: an attempt was about to send something, and it is unknown whether it did.
 */
export type Reason =
  | { cause: "several-turns"; jobIds: readonly string[] }
  | { cause: "service" }
  | { cause: "unreadable" }
  | { cause: "pending" }
  | { cause: "other-prompt"; jobId: string | undefined; attempt: number | undefined }
  | { cause: "unrecorded" | "unknown"; attempt: number }
  | { cause: "later-run"; run: string | undefined; jobId: string };

export type Decision =
  /** `besides`, `unproven`: a newer attempt without a word that ran the step, or may have run it. */
  | ({ do: "wait"; attempt: number; besides?: number; unproven?: number } & Omit<JobWord, "kind" | "hasOtherPrompt">)
  | { do: "wait"; jobId: string; sent: "message"; turnId: string }
  /**
   * `to`: the job with kept work; default: as planned. `publishes`: whether that work is published rather than continued. `replaces`: the
   * request of the turn that this one replaces; `unproven`: an attempt that may have run the step.
   */
  | { do: "send"; to?: string; publishes?: boolean; replaces?: string; unproven?: number }
  | ({ do: "refuse" } & Reason);

/**
 * Decides whether an attempt waits for an earlier request, sends its own, or does neither. A word counts until a newer attempt leaves one;
 * a newer attempt's silence outranks it.
 */
export function decide(evidence: Evidence): Decision {
  const { service, record, hadAnnounced, keepsWords, laterRun } = evidence;
  const { found, silent, other, asked } = newestWord(evidence);
  // Then another call of a reusable workflow, which has the same step, sent what has another prompt.
  const isOthers = asked.length === 0 || record === "not started";
  if (other && !isOthers) return refuse(other);
  const own = typeof service === "object" && "turnId" in service ? service : undefined;
  const turn = own?.hasOtherPrompt && isOthers ? undefined : own;
  if (turn && turn.over === undefined) return { do: "wait", jobId: turn.jobId, sent: "message", turnId: turn.turnId };
  const [newest] = silent;
  // If the service never announced itself, an attempt's word is as good as its answer.
  const isOpen = newest !== undefined && record !== "not started";
  if (service === "unreadable" && (hadAnnounced || isOpen)) return refuse({ cause: "service" });
  if (found?.word === "unreadable") return refuse({ cause: "unreadable" });
  if (found && found.word.kind !== "nothing sent") {
    const { word, attempt } = found;
    if (word.kind !== "job") return refuse({ cause: "pending" });
    const { jobId } = word;
    if (laterRun?.jobId === jobId) return refuse({ cause: "later-run", run: laterRun.run, jobId });
    const { kind: _, hasOtherPrompt: __, ...known } = word;
    const wait = { do: "wait", ...known, attempt } as const;
    if (!isOpen) return wait;
    return record === "unknown" ? { ...wait, unproven: newest } : { ...wait, besides: record.ran };
  }
  const hasWork = turn?.over === "failed" && (turn.isKept || turn.isUnfinished);
  const replaces = turn && {
    replaces: turn.request,
    ...(hasWork && { to: turn.jobId, ...(turn.isKept && { publishes: true }) }),
  };
  if (!isOpen) return { do: "send", ...replaces };
  if (record !== "unknown") return refuse({ cause: "unrecorded", attempt: record.ran });
  return keepsWords ? { do: "send", ...replaces, unproven: newest } : refuse({ cause: "unknown", attempt: newest });
}

/** Decides, and asks GitHub for its record only if the decision depends on it. */
export async function decideWith(
  evidence: Evidence,
  readRecord: (attempts: readonly number[]) => Promise<StepRecord>,
): Promise<{ decision: Decision; record: StepRecord }> {
  const { asked } = newestWord(evidence);
  const [newest = 0] = asked;
  const records: StepRecord[] = ["not started", "unknown", { ran: newest }];
  const answers = new Set(records.map((record) => JSON.stringify(decide({ ...evidence, record }))));
  const record = answers.size === 1 ? evidence.record : await readRecord(asked);
  return { decision: decide({ ...evidence, record }), record };
}

/**
 * Returns the newest word that counts, and newer attempts without one that may have sent something. The search ends at an unusable job:
 * starting it settled everything before it.
 */
function newestWord({ service, attempts, over }: Evidence): {
  found: { attempt: number; word: Word | "unreadable" } | undefined;
  silent: number[];
  /** What was sent with another prompt, by this step or by another one of the same name. */
  other: Reason | undefined;
  /** The attempts of which GitHub's record may change the decision. */
  asked: number[];
} {
  const turns = typeof service === "object" ? service : undefined;
  const hasAnswered = service === "nothing" || turns !== undefined;
  let other = turns && otherOf(turns);
  const silent: number[] = [];
  const covered: number[] = [];
  const end = (found?: { attempt: number; word: Word | "unreadable" }) => {
    const isForeign = turns && ("several" in turns || turns.hasOtherPrompt);
    return { found, silent, other, asked: isForeign ? [...silent, ...covered].sort((a, b) => b - a) : silent };
  };
  for (const { attempt, word } of attempts) {
    if (typeof word === "object" && word.kind === "nothing sent") {
      // It may be the word of another step of the same name.
      if (word.hasOtherPrompt) covered.push(attempt);
      continue;
    }
    // The service names each attempt's turn, or knows its key when the request arrives, and then starts nothing under this one's. It
    // answers per caller, so a job created under another key is known only from its word.
    if (hasAnswered && !(typeof word === "object" && word.kind === "job" && word.sent === "create")) {
      covered.push(attempt);
      continue;
    }
    if (word === undefined) silent.push(attempt);
    else if (word === "unreadable") return end({ attempt, word });
    else if (word.kind === "job" && over.has(word.jobId)) {
      if (!word.hasOtherPrompt) break;
      covered.push(attempt);
    } else if (!word.hasOtherPrompt) return end({ attempt, word });
    else {
      silent.push(attempt);
      other ??= { cause: "other-prompt", jobId: word.kind === "job" ? word.jobId : undefined, attempt };
    }
  }
  return end();
}

function otherOf(service: Exclude<Evidence["service"], string>): Reason | undefined {
  if ("several" in service) return { cause: "several-turns", jobIds: service.several };
  if (!service.hasOtherPrompt || service.over !== undefined) return undefined;
  return { cause: "other-prompt", jobId: service.jobId, attempt: undefined };
}

function refuse(reason: Reason): Decision {
  return { do: "refuse", ...reason };
}
