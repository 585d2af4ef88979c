import { capitalized, joinSentences, type Message, message, say, type Text, trusted } from "../../runner-kit/text.ts";
import type { BlockedResult, SkippedResult, TriggerKind } from "../result.ts";
import { count, duration, shortRef } from "./format.ts";
import { addressOf, checkService, howToStartAnother, howToTakeUp, type ResultContext, reportBug } from "./message.ts";
import { explainRequestFailure, failureReason } from "./request-failure.ts";

/** As long as that is open, what has another prompt may be this step's, or of another call of a reusable workflow. */
const mayHaveRun = say`This run sent nothing, because GitHub does not say that this step has not run before (permissions: actions: read).`;

const sentAlready = "If this prompt is needed, too";

/** Describes why the step starts nothing. That is not an error. */
export function describeSkip(result: SkippedResult, context: ResultContext): Message {
  if (result.reason === "dry-run") {
    const { plan } = result;
    const told =
      "kind" in plan ? joinSentences(say`It would send nothing, and fail.`, describeBlocked(plan, context).what) : plan;
    return { title: "Dry run", what: joinSentences(say`Nothing was sent.`, told), next: [] };
  }
  if (result.reason === "nothing-new") {
    const { base = "", otherFiles = 0 } = context.state.changes ?? {};
    const others = say`${trusted(count(otherFiles, "other file"))} changed, which paths leaves out.`;
    const what = say`No file that counts has changed since ${shortRef(base)}. Nothing was started.`;
    return { title: "Nothing new", what: joinSentences(what, otherFiles > 0 ? others : []), next: [] };
  }
  if (result.reason === "own-change") {
    const what = say`The event is about a commit of an agent, which starts no other agent. Nothing was started.`;
    return {
      title: "Skipped",
      what,
      next: say`To ask for more, comment in its pull request, or run the workflow by hand, if it has workflow_dispatch.`,
    };
  }
  if ("event" in result)
    return message`
      Skipped
      By the event ${result.event}, nobody can ask with this step's trigger-phrase or trigger-label. Nothing was started.
      To start a job on each such event, use a step for it without trigger-phrase, trigger-label and {{ instruction }}.`;
  const [why, next = []] = whySkipped(result, context.state.author);
  return { title: "Skipped", what: joinSentences(why, [...capitalized(nothingSent(context)), "."]), next };
}

/** Says that nothing was started, as far as the run knows. */
export function nothingSent({ state }: ResultContext): Text {
  return state.mayHaveEarlier
    ? say`this run sent nothing, but an earlier attempt of it may have started a job`
    : say`nothing was started`;
}

/** Returns why an event asks for nothing, and what to do about it. */
function whySkipped(
  result: Extract<SkippedResult, { triggerKind: TriggerKind }>,
  login: string,
): [why: Text, next?: Text] {
  const { triggerKind } = result;
  const asker = askerOf(triggerKind);
  const isComment = triggerKind === "comment";
  switch (result.reason) {
    case "no-trigger": {
      if (result.handledBy === undefined) return [noTrigger[triggerKind]];
      const handler = trusted(result.handledBy);
      return [
        isComment
          ? say`The comment is a part of a review, which the event ${handler} handles as one request.`
          : say`The review is a single comment, which the event ${handler} handles.`,
        say`If the workflow does not run on ${handler} yet, add it to the workflow's events.`,
      ];
    }
    case "no-instruction":
      return [say`The trigger phrase is not followed by an instruction.`];
    case "not-permitted":
      return [
        say`The ${asker}, ${login}, has the permission ${trusted(result.has)} in this repository, and required-permission is ${trusted(result.needs)}.`,
      ];
    case "bot":
      return [say`The ${asker}, ${login}, is a bot that is not listed in allowed-bots.`];
    case "edited":
      return [say`The ${trusted(triggerKind)} was edited, and only new ${trusted(triggerKind)}s are handled.`];
    case "withdrawn":
      return [
        triggerKind === "label"
          ? say`The label was taken off, or the issue was closed, before this step began.`
          : say`The ${trusted(triggerKind)} was deleted or hidden, or no longer has the trigger phrase.`,
      ];
    case "command":
      return [say`The ${trusted(triggerKind)} is a command, which is answered in a reply.`];
    case "fork":
      if (result.isBase)
        return [
          say`The pull request is from a fork, or its branch was deleted, and the work would start from that branch.`,
        ];
      return [
        say`The pull request is from a fork, and GitHub gives this event no secrets there.`,
        isComment || triggerKind === "review"
          ? say`To ask in pull requests from forks, comment in their conversation: issue_comment has secrets.`
          : say`Use pull_request_target instead of pull_request: it has secrets, and is safe as long as no step checks out the pull request.`,
      ];
  }
}

const noTrigger: Readonly<Record<TriggerKind, Text>> = {
  comment: say`The comment is not new or does not begin with the trigger phrase.`,
  review: say`The review is not new, or neither its text nor one of its comments begins with the trigger phrase.`,
  issue: say`Only a new issue with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
  "pull request": say`Only a new pull request with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
  label: say`The label that was set is not the trigger label.`,
};

/** Names who asks, without an article. */
function askerOf(triggerKind: TriggerKind): Text {
  if (triggerKind === "review") return say`reviewer`;
  return triggerKind === "label" ? say`account that set the label` : say`author of the ${trusted(triggerKind)}`;
}

/** Describes why nothing was sent. */
export function describeBlocked(result: BlockedResult, context: ResultContext): Message {
  const describe = blocked[result.cause] as (result: BlockedResult, context: ResultContext) => Message;
  return describe(result, context);
}

/** What to do about what GitHub refuses for any request, by its words, before it is asked again. */
const gitHubAdvice: readonly [words: RegExp, advice: string][] = [
  [/rate limit/i, "Wait until the limit is over, at most an hour."],
  [/was archived so/i, "Remove this workflow, or unarchive the repository."],
  [/SAML enforcement/, "Authorize github-token for single sign-on (SSO) in the organization."],
  [/IP allow list/i, "Add the runner's address to the organization's IP allow list, or use a runner that is on it."],
  [/Bad credentials/i, "github-token has ended or was revoked: a GitHub App's lives for an hour. Make a new one."],
];

/**
 * What to do about a failed request to GitHub. A re-run uses the workflow file of its run, so that a new permission has no effect on it;
 * and in a thread, it may find nothing that says that this run sent nothing.
 */
function adviceOnGitHub(permission: string, detail: string, { comment }: ResultContext): Text {
  const [, advice] = gitHubAdvice.find(([words]) => words.test(detail)) ?? [];
  const again = trusted(comment ? "Then ask again in the thread." : "Then re-run the workflow run.");
  if (advice !== undefined) return joinSentences(trusted(advice), again);
  if (comment) return say`If the token may not ${trusted(permission)}, change that. ${again}`;
  return say`If the token may not ${trusted(permission)}, change that and start a new run: a re-run keeps this run's workflow file. Otherwise, re-run the workflow run.`;
}

type Blocked<Cause> = Extract<BlockedResult, { cause: Cause }>;

const blocked: {
  [Cause in BlockedResult["cause"]]: (result: Blocked<Cause>, context: ResultContext) => Message;
} = {
  event: ({ detail }) => message`
    Cannot read the event
    The payload of the ${detail} event cannot be read, so nothing was started.
    ${reportBug}`,
  permission: ({ triggerKind, detail }, context) => message`
    Cannot check the permission
    The permission of the ${askerOf(triggerKind)} cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read the repository (contents: read)", detail, context)}`,
  review: ({ detail }, context) => message`
    Cannot read the review
    The review cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read pull requests (pull-requests: read)", detail, context)}`,
  request: ({ triggerKind, detail }, context) => message`
    Cannot read the request again
    Whether the ${trusted(triggerKind)} still asks cannot be read (${detail}), so nothing was started.
    ${adviceOnGitHub("read the thread (issues: read, pull-requests: read)", detail, context)}`,
  thread: ({ detail }, context) =>
    detail === undefined
      ? message`
    Cannot read the thread
    The thread, which says what an earlier attempt of this workflow run started, cannot be read. This run sent nothing; a job may be running.
    Re-run this workflow run, unless the token may not read the thread. See the log of the earlier attempt for the job's id. ${howToStartAnother(context)}`
      : message`
    Cannot read the thread
    The thread, which may name a job to continue, cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read the thread (issues: read, pull-requests: read)", detail, context)}`,
  pending: (_, context) => message`
    Job may have been started
    An earlier attempt of this workflow run ended without knowing whether the service accepted its request, so a job may have been started. This run sent nothing.
    ${checkService(context)} ${howToStartAnother(context)}`,
  memory: ({ detail }, context) => message`
    Cannot read what an earlier attempt started
    This is a re-run, and the Actions cache, which says what an earlier attempt of this workflow run started, cannot be read (${detail}). This run sent nothing; an earlier attempt may have started a job.
    Re-run the workflow run. ${howToStartAnother(context)}`,
  unrecorded: ({ attempt }, context) => message`
    Earlier attempt may have started a job
    This is a re-run. By GitHub's record, attempt ${attempt} of this workflow run ran this step, but nothing says what it started. This run sent nothing; a job may be running.
    See the log of that attempt for the job's id, and run the action with job-id to wait for it. ${checkService(context)} ${howToStartAnother(context)}`,
  unknown: ({ attempt }, context) => message`
    Earlier attempt may have started a job
    This is a re-run, and attempt ${attempt} could not leave word of a job. Whether it ran this step could not be read from GitHub. This run sent nothing; a job may be running.
    To let the action ask GitHub in later runs, give the job permissions: actions: read. See the log of that attempt for the job's id. ${checkService(context)} ${howToStartAnother(context)}`,
  service: ({ error }, context) => message`
    Cannot ask the service what was sent
    This is a re-run, and the service did not say what an earlier attempt of this workflow run sent (${error ? failureReason(error, addressOf(context.settings)) : say`it did not announce itself`}). This run sent nothing; a job may be running.
    Re-run the workflow run when the service responds again. ${howToStartAnother(context)}`,
  "later-run": ({ run, jobId }) => message`
    A later run has continued the job
    This is a re-run. ${run === undefined ? say`A later run of this thread` : say`Run ${run}, a later one of the session,`} has sent its own prompt to job ${jobId} since, so that what the job shows is that run's result. This run sent nothing.
    ${run === undefined ? say`Nothing has to be done: see its reply. To send the prompt again, ask again in the thread` : say`Nothing has to be done: see that run. To send the prompt again, start a new run of the workflow`}.`,
  unwitnessed: (_, context) => message`
    Cannot leave word of a request
    GitHub took neither the reaction nor the reply, so that a re-run could not have known of a job. This run sent nothing.
    ${adviceOnGitHub("write to the thread (issues: write, pull-requests: write)", "", context)} Or set reply: false, which writes nothing.`,
  "several-turns": ({ jobIds }, context) => message`
    Earlier attempts had other prompts
    Earlier attempts of this workflow run sent several prompts, and none of them is this one (jobs ${jobIds.join(", ")}). ${mayHaveRun}
    ${howToTakeUp("one of these jobs", say`its job-id`, context)} ${howToStartAnother(context, sentAlready)}`,
  "other-prompt": ({ jobId, attempt }, context) => message`
    Earlier attempt had another prompt
    ${attempt === undefined ? say`An earlier attempt` : say`Attempt ${attempt}`} of this workflow run sent another prompt, for ${jobId === undefined ? say`a job` : say`job ${jobId}`}. ${mayHaveRun}
    ${jobId === undefined ? checkService(context) : howToTakeUp("that job", say`job-id ${jobId}`, context)} ${howToStartAnother(context, jobId && sentAlready)}`,
  replayed: ({ jobId }, context) => message`
    Request was sent before
    The service had received the same request under the name of this step before, as job ${jobId}, so it started nothing. Another step of this workflow run sent it: GitHub gives both the same name, as it does if a reusable workflow is called twice.
    Give the steps different prompts or sessions, and start a new run of the workflow. ${howToTakeUp("that job", say`job-id ${jobId}`, context)}`,
  "no-base": ({ error }, context) =>
    error === undefined
      ? message`
    The service takes no base
    The service does not announce that a job can start from another branch, so ${nothingSent(context)}.
    Update the service, or remove base.`
      : message`
    Cannot ask the service for base
    Whether a job can start from another branch is unknown, so ${nothingSent(context)}. ${explainRequestFailure("create", error, context).what}
    ${explainRequestFailure("create", error, context).next}`,
  base: ({ detail }, context) => message`
    Cannot read the pull request
    The branch of the pull request cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read pull requests (pull-requests: read)", detail, context)}`,
  head: ({ branch, detail }, context) => message`
    Cannot read the newest commit
    The newest commit of ${branch} cannot be read (${detail}). If an agent made it, it must not start another one, so nothing was started.
    ${adviceOnGitHub("read the repository (contents: read)", detail, context)}`,
  "range-behind": ({ base, head, since }) =>
    since !== undefined
      ? message`
    Nothing to compare
    The range of changes begins with ${shortRef(since)}, the value of changes-since, which is ahead of this run's commit, ${shortRef(head)}. Nothing was started.
    Let changes-since name an earlier commit, and start a new run: a re-run keeps this run's workflow file.`
      : message`
    Changes were covered by another run
    The range of changes ends with ${shortRef(head)}, and another run has covered all up to ${shortRef(base)}. Nothing was started.
    Nothing has to be done. To send changes again, start a new run of the workflow with changes-since.`,
  changes: ({ detail }, context) => message`
    Cannot read what changed
    GitHub could not be asked what changed (${detail}), so nothing was started.
    Check changes-since. ${adviceOnGitHub("read the repository (contents: read)", detail, context)}`,
  session: ({ detail }) => message`
    Cannot read the session
    The Actions cache, which says what the last job of the session is, cannot be read (${detail}). This run sent nothing.
    Re-run the workflow run. A run without session would start a new job, with a pull request of its own.`,
  "session-job": ({ jobId, error, forMs }, { settings, comment }) => {
    const where = trusted(comment ? "thread" : "session");
    return message`
      Cannot read the ${where}'s job
      For ${trusted(duration(forMs))}, ${jobId === undefined ? say`the last job of the ${where}` : say`the state of job ${jobId}, the last of the ${where},`} could not be read: ${failureReason(error, addressOf(settings))}. This run sent nothing.
      Re-run the workflow run when the service responds again. ${comment ? [] : say`A run without session would start a new job, with a pull request of its own.`}`;
  },
  "session-busy": ({ jobId, latest }) => message`
    Another run works for the session
    Another workflow run ${jobId === undefined ? say`is about to begin for the session` : say`works on job ${jobId} of the session`}, until ${trusted(latest)} UTC at most, and the time of this step ended first. This run sent nothing, because both would be paid for the same changes.
    Re-run the workflow run when the other one has ended, or raise timeout-minutes and start a new run. To have one run wait for the other without using a runner, give the workflow a concurrency group.`,
  time: () => message`
    No time left to start a job
    What came before took so long that no time was left to start a job, so nothing was started.
    Re-run the workflow run, or raise timeout-minutes and start a new run.`,
  prompt: (_, { comment }) => message`
    Empty prompt
    The template produced an empty prompt, so nothing was started.
    ${comment ? say`Use {{ instruction }} in the template.` : say`Add words to the prompt besides {{ changes }}, which is empty if there is nothing to compare.`}`,
};
