import { addSection } from "../changes/add-section.ts";
import { findEarlierTurn } from "../earlier-turn.ts";
import { writePrompt } from "../plan.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { earlierAttempts, runAttempt } from "../runner/environment.ts";
import type { SendingTask, Task } from "../settings.ts";
import type { AttemptMemory, EarlierAttempt } from "./attempt-memory.ts";
import type { SessionMemory } from "./session-memory.ts";
import { untilAborted } from "./until-aborted.ts";

/** What is remembered for a step in the Actions cache. */
export interface Memory {
  /** What earlier attempts left; `undefined` with `on-rerun: new`, or without a cache that can be read. */
  attempts: AttemptMemory | undefined;
  /** The last job of the session; `undefined` without one, or without a cache that can be read. */
  session: SessionMemory | undefined;
}

/** What the earlier attempts of the step started. */
export type Earlier =
  /**
   * Nothing that counts. `replaces`: the turn that this attempt takes the place of; `base`: where the first range started;
   * `unproven`: an attempt without a trace, of which GitHub does not say whether it ran the step.
   */
  | { kind: "none"; replaces?: string; base?: string | undefined; unproven?: number | undefined }
  | { kind: "found"; task: Extract<Task, { kind: "attach" }>; base: string | undefined }
  /** Nothing may be sent. */
  | { kind: "undecided"; result: RunResult };

/**
 * Finds what the earlier attempts of the step started: the service is asked first, then the cache, then GitHub's record of the
 * attempts. Never rejects.
 */
export async function findEarlier(task: SendingTask, memory: Memory, run: Run): Promise<Earlier> {
  const { log, settings, ports } = run;
  const attempt = runAttempt(ports.environment);
  let found: Promise<EarlierAttempt> | undefined;
  // Read at most once: the prompt and the decision are then made from the same answer.
  const readTrace = (): Promise<EarlierAttempt | undefined> => {
    found ??= findTrace(memory, ports.environment);
    return untilAborted(found, ports.signal);
  };
  const asked = await findEarlierTurn(run, {
    known: settings.changes ? undefined : task.prompt,
    write: async () => {
      const trace = await readTrace();
      if (!trace) return cancelledBeforeSending;
      const remembered = { lastCommit: undefined, firstBase: baseOf(trace), ownPullRequests: [] };
      return writePrompt((section) => addSection(task.prompt, section), run, remembered);
    },
  });
  if (asked.kind === "undecided") return asked;
  const trace = await readTrace();
  if (!trace) return { kind: "undecided", result: cancelledBeforeSending };
  const base = baseOf(trace);

  if (asked.kind === "turn") {
    const { jobId, turnId, status } = asked.turn;
    if (status === "failed" || status === "stopped") {
      log.rerun({ kind: "starting-over", jobId, reason: status });
      return { kind: "none", replaces: turnId, base };
    }
    log.rerun({ kind: "resuming-turn", jobId, attempt, hasOtherPrompt: asked.hasOtherPrompt });
    return { kind: "found", task: { kind: "attach", jobId, resumes: "message", turnId }, base };
  }
  if (trace.kind === "job") {
    log.rerun({ kind: "resuming", jobId: trace.jobId, attempt, earlierAttempt: trace.attempt });
    return { kind: "found", task: { kind: "attach", jobId: trace.jobId, resumes: trace.sent }, base };
  }
  // The service says that nothing was sent, which resolves a doubt, also about another prompt.
  const isResolved = asked.kind === "none" && !("jobId" in trace && trace.jobId !== undefined);
  if (trace.kind === "other-prompt" && !isResolved) return undecided(trace);
  const ofSession = await findInSession(memory.session, trace, run);
  if (ofSession) return { kind: "found", task: ofSession, base };
  if (asked.kind === "none") return { kind: "none", base };
  if (trace.kind !== "none") return undecided(trace);
  // Loaded here, because few re-runs find no trace of the attempts before them.
  const { checkRecord } = await import("../step-record.ts");
  const checked = await checkRecord(trace.silent, run);
  return checked.kind === "undecided" ? checked : { kind: "none", base, unproven: checked.unproven };
}

/** Reads the traces of the earlier attempts in the cache; without one, they left nothing. */
async function findTrace({ attempts }: Memory, environment: NodeJS.ProcessEnv): Promise<EarlierAttempt> {
  if (attempts) return attempts.find();
  return { kind: "none", silent: earlierAttempts(environment).reverse(), base: undefined };
}

function baseOf(trace: EarlierAttempt): string | undefined {
  return "base" in trace ? trace.base : undefined;
}

/** Returns the job that an earlier attempt of this step saved for the session, before it was killed. */
async function findInSession(
  session: SessionMemory | undefined,
  trace: Exclude<EarlierAttempt, { kind: "job" }>,
  run: Run,
): Promise<Extract<Task, { kind: "attach" }> | undefined> {
  const found = session && (await untilAborted(session.find(), run.ports.signal));
  const entry = found && "entry" in found ? found.entry : undefined;
  if (!entry || !session?.isOwn(entry)) return undefined;
  const attempt = runAttempt(run.ports.environment);
  // An attempt after the one that saved the entry may have sent another request.
  if ((entry.attempt ?? 0) < latestUnknown(trace, attempt)) return undefined;
  run.log.rerun({ kind: "resuming", jobId: entry.jobId, attempt, earlierAttempt: undefined });
  return { kind: "attach", jobId: entry.jobId, resumes: entry.kind };
}

/** Returns the newest of the earlier attempts that may have sent something which the trace does not name. */
function latestUnknown(trace: Exclude<EarlierAttempt, { kind: "job" }>, attempt: number): number {
  switch (trace.kind) {
    case "none":
      return trace.silent[0] ?? 0;
    case "pending":
    case "other-prompt":
      return trace.attempt;
    case "unreadable":
      return attempt - 1;
  }
}

function undecided(trace: Exclude<EarlierAttempt, { kind: "none" | "job" }>): Earlier {
  switch (trace.kind) {
    case "pending":
      return { kind: "undecided", result: { kind: "blocked", cause: "pending" } };
    case "other-prompt": {
      const { jobId, attempt } = trace;
      return { kind: "undecided", result: { kind: "blocked", cause: "other-prompt", jobId, attempt } };
    }
    case "unreadable":
      return { kind: "undecided", result: { kind: "blocked", cause: "memory", detail: trace.detail } };
  }
}
