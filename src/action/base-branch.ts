import * as z from "zod/mini";
import { messageOf } from "../client/errors.ts";
import { plain, say } from "../runner-kit/text.ts";
import { isThreadEvent } from "./comments/event.ts";
import { askService } from "./memory/ask-service.ts";
import { cancelledBeforeSending, type RunResult } from "./result.ts";
import { connectRepository, type Run } from "./run.ts";
import { findJob } from "./run-job.ts";
import { RunState } from "./run-state.ts";
import { readEvent } from "./runner/environment.ts";
import { parse } from "./runner/read-repository.ts";

const repository = z.object({ id: z.int() });
/** The head's repository is `null` if it was deleted. */
const pullRequest = z.object({
  number: z.int(),
  state: z.string(),
  head: z.object({ ref: z.string(), repo: z.nullable(repository) }),
  base: z.object({ ref: z.string(), repo: repository }),
});
const payload = z.object({
  pull_request: z.optional(pullRequest),
  issue: z.optional(z.object({ number: z.int(), pull_request: z.optional(z.unknown()) })),
});

/** The branch of a job, as this repository's agent job service names it, with a prefix that can be another one. */
const jobBranch = /^(.*)(job_[0-9a-f-]{36})$/;

/** Finds the branch for the input `base`, which the service must announce; or why nothing is sent. Never rejects. */
export async function findBase(run: Run): Promise<{ base: string | undefined } | RunResult> {
  const { base } = run.settings;
  if (base === "") return { base: undefined };
  const found = base === "pull-request" ? await branchOfEvent(run) : { base };
  if ("kind" in found || found.base === undefined) return found;
  // A dry run sends nothing to the service, so it trusts that it takes one.
  if (run.settings.dryRun) return found;
  const answer = await askService(run);
  if (run.ports.signal.aborted) return cancelledBeforeSending;
  if (run.state.features?.has("base")) return found;
  return { kind: "blocked", cause: "no-base", error: answer.kind === "unreadable" ? answer.error : undefined };
}

/** Returns the job whose own pull request the event is about, which its branch names; or why nothing is sent. Never rejects. */
export async function findOwnJob(run: Run): Promise<{ jobId: string | undefined } | RunResult> {
  const pull = await pullRequestOfEvent(run);
  if (pull && "kind" in pull) return pull;
  const [ref = "", prefix, jobId] =
    (pull && pull.head.repo?.id === pull.base.repo.id && jobBranch.exec(pull.head.ref)) || [];
  if (jobId === undefined || prefix === "agent/") return { jobId };
  // A person can have copied a job's branch under another name.
  const state = await readState(jobId, run);
  return "kind" in state ? state : { jobId: state.ref === ref ? jobId : undefined };
}

/** Reads what a job's record says, if there is one, without changing what is known of this run's job; or why nothing is sent. */
export async function readState(jobId: string, run: Run): Promise<RunState | RunResult> {
  const state = new RunState();
  state.startedAt = run.state.startedAt;
  const found = await findJob(jobId, { ...run, state });
  return typeof found === "object" ? found : state;
}

async function branchOfEvent(run: Run): Promise<{ base: string | undefined } | RunResult> {
  const pull = await pullRequestOfEvent(run);
  if (!pull || "kind" in pull) return pull ?? { base: undefined };
  const { number, state, head, base } = pull;
  if (state === "closed") {
    run.state.startNote = say`Pull request #${number} is merged or closed, so that the work is for the branch ${base.ref}, which it was for.`;
    run.log.line(plain(run.state.startNote));
    return { base: base.ref };
  }
  const isOwn = head.repo?.id === base.repo.id;
  return isOwn ? { base: head.ref } : { kind: "skipped", reason: "fork", triggerKind: "pull request", isBase: true };
}

/** Reads the pull request that the event is about; `undefined` if there is none. */
async function pullRequestOfEvent(run: Run): Promise<z.infer<typeof pullRequest> | RunResult | undefined> {
  const { environment, signal } = run.ports;
  try {
    const { GITHUB_EVENT_NAME: name = "" } = environment;
    if (!isThreadEvent(name)) return undefined;
    const { issue, pull_request: named } = parse(payload, readEvent(environment), `the payload of ${name}`);
    if (named === undefined && issue?.pull_request === undefined) return undefined;
    const read = async (number = 0) =>
      (await connectRepository(run)).get("pulls/{pull_number}", pullRequest, { pull_number: number });
    return named ?? (await read(issue?.number));
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "base", detail: messageOf(error) };
  }
}
