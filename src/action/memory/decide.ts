/** What an attempt leaves for later ones about its request. */
export type Word =
  | { kind: "nothing sent" }
  | { kind: "about to send"; hasOtherPrompt?: boolean }
  /** It started the job, sent it a message, or waited for it. A message whose end was seen is waited for like a create. */
  | { kind: "job"; jobId: string; sent: "create" | "message"; hasOtherPrompt?: boolean };

/** An earlier attempt of the step. */
export interface EarlierAttempt {
  attempt: number;
  /** `undefined`: it left none. `unreadable`: it may have left one. */
  word: Word | "unreadable" | undefined;
}

/** The turn that the service says an earlier attempt sent. */
export interface EarlierTurn {
  jobId: string;
  turnId: string;
  /** Why it is of no use, or its job is. `ignored`: because of `on-rerun: new`. */
  over: "failed" | "stopped" | "archived" | "ignored" | undefined;
  hasOtherPrompt: boolean;
  /** Whether its work is kept: what is sent to its job publishes that first. */
  isKept: boolean;
  /** Whether it is kept unfinished: the agent of what is sent to its job begins in it. */
  isUnfinished: boolean;
}

/** What GitHub says about the attempts without a word: whether they ran the step, and which was the newest that did. */
export type StepRecord = "not started" | "unknown" | { ran: number };

/** All that is known about the earlier attempts of the step. */
export interface Evidence {
  /**
   * What the service says that it was sent under the step. `mute`: it cannot be asked; `unreadable`: it may be one that can be;
   * `several`: turns, none with this prompt.
   */
  service: "mute" | "unreadable" | "nothing" | { several: readonly string[] } | EarlierTurn;
  /** Whether it had announced to an earlier attempt that it can be asked. */
  hadAnnounced: boolean;
  /** The newest first. */
  attempts: readonly EarlierAttempt[];
  record: StepRecord;
  /** The jobs that were found to be of no use: failed, archived or gone. */
  over: ReadonlySet<string>;
  /** Whether an attempt would have left a word if it had sent something, as far as this one can tell. */
  keepsWords: boolean;
  /** The later run of the session that last sent something, and to which job. */
  laterRun?: { run: string; jobId: string } | undefined;
}

/**
 * Why nothing is sent. `unrecorded`: an attempt ran the step, by GitHub's record, and nothing says what it sent; `unknown`: nor could
 * GitHub be asked; `pending`: an attempt was about to send something, and whether it did is unknown.
 */
export type Reason =
  | { cause: "several-turns"; jobIds: readonly string[] }
  | { cause: "service" }
  | { cause: "unreadable" }
  | { cause: "pending" }
  | { cause: "other-prompt"; jobId: string | undefined; attempt: number }
  | { cause: "unrecorded" | "unknown"; attempt: number }
  | { cause: "later-run"; run: string; jobId: string };

export type Decision =
  /** `besides`, `unproven`: a newer attempt, of which nothing says what it sent, and that ran the step, or may have run it. */
  | { do: "wait"; jobId: string; sent: "create" | "message"; attempt: number; besides?: number; unproven?: number }
  | { do: "wait"; jobId: string; sent: "message"; turnId: string; hasOtherPrompt: boolean }
  /**
   * `to`: the job whose work is kept; default: as planned. `publishes`: whether that is to be published, and not to be gone on with.
   * `replaces`: the turn that it takes the place of; `unproven`: an attempt that may have run the step.
   */
  | { do: "send"; to?: string; publishes?: boolean; replaces?: string; unproven?: number }
  | ({ do: "refuse" } & Reason);

/**
 * Decides what an attempt does: wait for what an earlier one sent, send, or nothing. A word counts until a newer attempt leaves
 * one; the silence of a newer attempt outranks it.
 */
export function decide(evidence: Evidence): Decision {
  const { service, record, hadAnnounced, keepsWords, laterRun } = evidence;
  const turn = typeof service === "object" && "turnId" in service ? service : undefined;
  if (typeof service === "object" && "several" in service)
    return refuse({ cause: "several-turns", jobIds: service.several });
  if (turn && turn.over === undefined) {
    const { jobId, turnId, hasOtherPrompt } = turn;
    return { do: "wait", jobId, sent: "message", turnId, hasOtherPrompt };
  }
  const { found, silent } = newestWord(evidence);
  const [newest] = silent;
  // Without an announcement before, an attempt's word is as good as the service's.
  const isOpen = newest !== undefined && record !== "not started";
  if (service === "unreadable" && (hadAnnounced || isOpen)) return refuse({ cause: "service" });
  if (found?.word === "unreadable") return refuse({ cause: "unreadable" });
  if (found && found.word.kind !== "nothing sent") {
    const { word, attempt } = found;
    const jobId = word.kind === "job" ? word.jobId : undefined;
    if (word.hasOtherPrompt) return refuse({ cause: "other-prompt", jobId, attempt });
    if (jobId === undefined || word.kind !== "job") return refuse({ cause: "pending" });
    if (laterRun?.jobId === jobId) return refuse({ cause: "later-run", ...laterRun });
    const wait = { do: "wait", jobId, sent: word.sent, attempt } as const;
    if (!isOpen) return wait;
    return record === "unknown" ? { ...wait, unproven: newest } : { ...wait, besides: record.ran };
  }
  const hasWork = turn?.over === "failed" && (turn.isKept || turn.isUnfinished);
  const replaces = turn && {
    replaces: turn.turnId,
    ...(hasWork && { to: turn.jobId, ...(turn.isKept && { publishes: true }) }),
  };
  if (!isOpen) return { do: "send", ...replaces };
  if (record !== "unknown") return refuse({ cause: "unrecorded", attempt: record.ran });
  return keepsWords ? { do: "send", ...replaces, unproven: newest } : refuse({ cause: "unknown", attempt: newest });
}

/** Decides, and asks GitHub for its record only if the answer depends on it. */
export async function decideWith(
  evidence: Evidence,
  readRecord: (attempts: readonly number[]) => Promise<StepRecord>,
): Promise<{ decision: Decision; record: StepRecord }> {
  const { silent } = newestWord(evidence);
  const [newest = 0] = silent;
  const records: StepRecord[] = ["not started", "unknown", { ran: newest }];
  const answers = new Set(records.map((record) => JSON.stringify(decide({ ...evidence, record }))));
  const record = answers.size === 1 ? evidence.record : await readRecord(silent);
  return { decision: decide({ ...evidence, record }), record };
}

/**
 * Returns the newest word that counts, and the attempts after it that left none and may have sent something. A job that is of no
 * use ends the search: what came before it was decided when it was started.
 */
function newestWord({ service, attempts, over }: Evidence): {
  found: { attempt: number; word: Word | "unreadable" } | undefined;
  silent: number[];
} {
  const hasAnswered = service === "nothing" || (typeof service === "object" && "turnId" in service);
  const silent: number[] = [];
  for (const { attempt, word } of attempts) {
    // The service names what an attempt has sent, or has its key when it arrives, and then starts nothing for this one's.
    // It answers for its caller, so a job that an attempt created under another key is known by the word only.
    if (hasAnswered && !(typeof word === "object" && word.kind === "job" && word.sent === "create")) continue;
    if (word === undefined) {
      silent.push(attempt);
      continue;
    }
    if (word === "unreadable") return { found: { attempt, word }, silent };
    if (word.kind === "nothing sent") continue;
    if (word.kind === "job" && over.has(word.jobId)) break;
    return { found: { attempt, word }, silent };
  }
  return { found: undefined, silent };
}

function refuse(reason: Reason): Decision {
  return { do: "refuse", ...reason };
}
