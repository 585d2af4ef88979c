import { cacheAccess, hasCacheService, isForgetful } from "../../runner-kit/cache.ts";
import { addSection } from "../changes/add-section.ts";
import { findStart, type PlannedTask, planTasks, runFirstFound, writePrompt } from "../plan.ts";
import { acceptanceOf, type RerunEffect, type RunResult } from "../result.ts";
import { type Execution, openConnection, type Run } from "../run.ts";
import { runJob } from "../run-job.ts";
import { isOnTag, runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import { stopOwnTurn } from "../stop-turn.ts";
import { AttemptMemory } from "./attempt-memory.ts";
import { BackgroundSaves } from "./background-saves.ts";
import { type Earlier, findEarlier, type Memory } from "./find-earlier.ts";
import { resume } from "./resume.ts";
import { planSession } from "./session.ts";
import { SessionMemory, type SessionUpdate } from "./session-memory.ts";

/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is gone, which is what a re-run asks for.
 */
export async function runWithMemory(task: SendingTask, run: Run): Promise<Execution> {
  const { state, log, settings, ports } = run;
  const start = await findStart(run);
  if ("kind" in start) return { result: start };
  const memory = await openMemory(task, run, start.base);
  const isWritable = cacheAccess(ports.environment) === "write";
  let firstBase: string | undefined;
  const base = (): string | undefined => firstBase ?? state.changes?.base;
  const onFailure = (error: unknown, isInTime: boolean): void => log.rerun({ kind: "not-saved", error, isInTime });
  const writable = isWritable ? memory : { attempts: undefined, session: undefined };
  const saves = new BackgroundSaves({ ...ports, ...writable, base, onFailure });

  const isRerun = runAttempt(ports.environment) > 1 && settings.onRerun === "resume";
  let earlier: Earlier = isRerun ? await findEarlier(task, memory, run) : { kind: "none" };
  if (earlier.kind === "undecided") {
    await saves.withdraw(task.kind);
    return { result: earlier.result, rerun: "stops" };
  }
  if (earlier.kind === "found") {
    const resumed = earlier.task;
    const result = await resume(resumed, run);
    firstBase = earlier.base;
    if (result) {
      // The earlier attempt may have been killed before it saved the job for the session.
      const update = updateOf(result, resumed.resumes ?? "create", run, base());
      await saves.finish(update && { ...update, isResumed: true });
      return { result, task: resumed, rerun: "resumes" };
    }
    state.forgetJob();
    const { turnId } = resumed;
    earlier = { kind: "none", base: earlier.base, ...(turnId !== undefined && { replaces: turnId }) };
  }
  firstBase = earlier.base;
  if (!isWritable) sayWhatIsForgotten(run);
  else if (settings.session !== "" && isOnTag(ports.environment)) log.sessionOnTag();

  const plan = memory.session
    ? await planSession(memory.session, task, earlier, run)
    : await planAlone(task, earlier, start.base, run);
  if (!Array.isArray(plan)) {
    await saves.withdraw(task.kind);
    return { result: plan };
  }
  return runAndRemember(plan, saves, run, { base, unproven: earlier.unproven });
}

async function openMemory(task: SendingTask, run: Run, base: string | undefined): Promise<Memory> {
  const { onRerun, session } = run.settings;
  if (!hasCacheService(run.ports.environment)) return { attempts: undefined, session: undefined };
  const cache = await run.ports.connectCache();
  return {
    attempts: onRerun === "resume" ? new AttemptMemory(cache, task, run) : undefined,
    session: session === "" ? undefined : new SessionMemory(cache, run, base),
  };
}

/** Plans what a step without a session sends. */
async function planAlone(
  task: SendingTask,
  { base: firstBase, replaces }: Extract<Earlier, { kind: "none" }>,
  base: string | undefined,
  run: Run,
): Promise<PlannedTask[] | RunResult> {
  const remembered = { lastCommit: undefined, firstBase, ownPullRequests: [] };
  const written = await writePrompt((section) => addSection(task.prompt, section), run, remembered);
  if ("kind" in written) return written;
  return planTasks(written.prompt, task.kind === "message" ? { jobId: task.jobId } : undefined, { replaces, base });
}

/** Runs a plan, and saves what it is about to send, and what it has sent while the job runs. */
async function runAndRemember(
  plan: readonly PlannedTask[],
  saves: BackgroundSaves,
  run: Run,
  { base, unproven }: { base: () => string | undefined; unproven: number | undefined },
): Promise<Execution> {
  const { state, log, ports } = run;
  let hasJob = false;
  const { task, result: ended } = await runFirstFound(
    plan,
    run,
    async (each) => {
      // A service that can be asked knows what it was sent.
      if (state.features === undefined) {
        openConnection(run);
        await saves.announce(each.kind);
      }
      // The earlier attempt could not leave a trace either.
      if (saves.isReadOnly && unproven !== undefined) return { kind: "blocked", cause: "unknown", attempt: unproven };
      const onAbort = (): void => saves.doubt(each.kind);
      ports.signal.addEventListener("abort", onAbort, { once: true });
      const onJobId = (jobId: string): void => {
        hasJob = true;
        saves.begin(each.kind, jobId);
      };
      return runJob(each, run, { onJobId }).finally(() => ports.signal.removeEventListener("abort", onAbort));
    },
    (each, _next, reason, leaves) => {
      if (each.kind !== "message") return;
      const { jobId } = each;
      log.rerun({ kind: "starting-over", jobId, reason });
      if (reason === "rejected" && leaves) {
        log.session({ kind: "rejected", jobId, pullRequest: leaves }, run.settings.session);
      }
    },
  );
  if (acceptanceOf(ended) === "rejected" || (ended.kind === "blocked" && ended.cause === "unknown")) {
    await saves.withdraw(task.kind);
    return { result: ended, task, rerun: effectOfNothing(saves, run) };
  }
  // The job of a message in doubt is not remembered: its state would say nothing about the message.
  saves.doubt(task.kind);
  // After a signal, both have the same two seconds.
  const [result] = await Promise.all([
    stopOwnTurn(task, ended, run),
    saves.finish(hasJob ? updateOf(ended, task.kind, run, base()) : undefined),
  ]);
  return { result, task, rerun: rerunEffect(saves, run) };
}

/** Returns the effect on a re-run if nothing was started: one that cannot be told of that sends nothing. */
function effectOfNothing(saves: BackgroundSaves, { settings, state, ports }: Run): RerunEffect {
  const mayResume = settings.onRerun === "resume" && state.features === undefined;
  return mayResume && keepsNothing(saves, ports) ? "stops" : "repeats";
}

/** Returns whether the cache keeps nothing of this attempt, as the runner or a refused save has said. */
function keepsNothing(saves: BackgroundSaves, { environment }: Run["ports"]): boolean {
  return saves.isReadOnly || isForgetful(environment);
}

/** Returns the effect that the saved entries have on a re-run. */
function rerunEffect(saves: BackgroundSaves, { settings, state, key, ports }: Run): RerunEffect {
  if (settings.onRerun === "new" || !key.isLasting) return "repeats";
  if (state.features !== undefined || saves.isRemembered) return "resumes";
  if (saves.isAnnounced) return "stops";
  // Then GitHub's record of this attempt decides, and without that nothing is sent.
  return keepsNothing(saves, ports) ? "stops" : "repeats";
}

/** Returns the update for the session at the end; `undefined` if there is no job. */
function updateOf(
  result: RunResult,
  sent: SendingTask["kind"],
  { state }: Run,
  base: string | undefined,
): SessionUpdate | undefined {
  if (state.jobId === "") return undefined;
  const isProven = result.kind === "done" && !state.isUnproven;
  const end = isProven ? (result.status === "completed" ? "completed" : "failed") : undefined;
  return { jobId: state.jobId, sent, isResumed: false, pullRequest: state.pullRequest, end, base };
}

/** Says what a later attempt, or the next run of the session, will not know. */
function sayWhatIsForgotten({ log, settings, state, ports }: Run): void {
  const access = cacheAccess(ports.environment);
  const isKnown = settings.onRerun === "new" || state.features !== undefined;
  // Without any cache, only a re-run has something to say: what it can know of the attempts before it.
  const forgetsAttempt = !isKnown && (access !== "absent" || runAttempt(ports.environment) > 1);
  log.forgets({ access, forgetsAttempt, session: settings.session });
}
