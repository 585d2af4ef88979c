import { joinSentences, type Message, say, type Text, trusted } from "../../runner-kit/text.ts";
import { outcomes } from "../outcome.ts";
import type { BlockedResult, RunResult, TriggerKind } from "../result.ts";
import { checkService, howToStartAnother, type ResultContext } from "./advice.ts";
import { shortRef } from "./changes-text.ts";
import { count } from "./format.ts";
import { failureReason } from "./request-failure.ts";

type Skip = Extract<RunResult, { kind: "skipped" }>;

/** Describes why the step starts nothing. That is not an error. */
export function describeSkip(result: Skip, context: ResultContext): Message {
  const { state } = context;
  if (result.reason === "dry-run") {
    const { plan } = result;
    const told =
      "kind" in plan ? joinSentences(say`It would send nothing, and fail.`, describeBlocked(plan, context).what) : plan;
    return { title: "Dry run", what: joinSentences(say`Nothing was sent.`, told), next: [] };
  }
  if (result.reason !== "nothing-new") return describeCommentSkip(result, state.author);
  const { base = "", otherFiles = 0 } = state.changes ?? {};
  const others =
    otherFiles > 0 ? say` ${trusted(count(otherFiles, "other file"))} changed, which paths leaves out.` : [];
  return {
    title: "Nothing new",
    what: [...say`No file that counts has changed since ${shortRef(base)}. Nothing was started.`, ...others],
    next: [],
  };
}

function describeCommentSkip(result: Exclude<Skip, { reason: "nothing-new" | "dry-run" }>, login: string): Message {
  const { triggerKind } = result;
  const because = (what: Text, next: Text = []): Message => ({
    title: outcomes.skipped.title,
    what: joinSentences(what, say`Nothing was started.`),
    next,
  });
  const { author } = people[triggerKind];
  switch (result.reason) {
    case "no-trigger": {
      const { handledBy } = result;
      if (handledBy === undefined) return because(noTrigger[triggerKind]);
      return because(
        triggerKind === "comment"
          ? say`The comment is a part of a review, which the event ${trusted(handledBy)} handles as one request.`
          : say`The review is a single comment, which the event ${trusted(handledBy)} handles.`,
        say`If the workflow does not run on ${trusted(handledBy)} yet, add it to the workflow's events.`,
      );
    }
    case "no-instruction":
      return because(say`The trigger phrase is not followed by an instruction.`);
    case "not-permitted":
      return because(
        say`${trusted(author)}, ${login}, has the permission ${trusted(result.has)} in this repository, and required-permission is ${trusted(result.needs)}.`,
      );
    case "bot":
      return because(say`${trusted(author)}, ${login}, is a bot that is not listed in allowed-bots.`);
    case "edited":
      return because(say`The ${trusted(triggerKind)} was edited, and only new ${trusted(triggerKind)}s are handled.`);
    case "command":
      return because(say`The ${trusted(triggerKind)} is a command, which is answered in a reply.`);
    case "fork":
      if (result.isBase) {
        return because(
          say`The pull request is from a fork, or its branch was deleted, and the work would start from that branch.`,
        );
      }
      return because(
        say`The pull request is from a fork, and GitHub gives this event no secrets there.`,
        triggerKind === "comment" || triggerKind === "review"
          ? say`To ask in pull requests from forks, comment in their conversation: issue_comment has secrets.`
          : say`Use pull_request_target instead of pull_request: it has secrets, and is safe as long as no step checks out the pull request.`,
      );
  }
}

const noTrigger: Readonly<Record<TriggerKind, Text>> = {
  comment: say`The comment is not new or does not begin with the trigger phrase.`,
  review: say`The review is not new, or neither its text nor one of its comments begins with the trigger phrase.`,
  issue: say`Only a new issue with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
  "pull request": say`Only a new pull request with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
  label: say`The label that was set is not the trigger label.`,
};

/** Who asks, at the start of a sentence and in the middle of one. */
const people: Readonly<Record<TriggerKind, { author: string; ofAuthor: string }>> = {
  comment: { author: "The author of the comment", ofAuthor: "of the comment's author" },
  review: { author: "The reviewer", ofAuthor: "of the reviewer" },
  issue: { author: "The author of the issue", ofAuthor: "of the issue's author" },
  "pull request": { author: "The author of the pull request", ofAuthor: "of the pull request's author" },
  label: { author: "The account that set the label", ofAuthor: "of the account that set the label" },
};

/** Describes why nothing was sent. */
export function describeBlocked(result: BlockedResult, context: ResultContext): Message {
  switch (result.cause) {
    case "event":
      return {
        title: "Cannot read the event",
        what: say`The payload of the ${result.detail} event cannot be read, so nothing was started.`,
        next: say`Report this bug with the log of a run with step debug logging.`,
      };
    case "permission":
      return {
        title: "Cannot check the permission",
        what: say`The permission ${trusted(people[result.triggerKind].ofAuthor)} cannot be read (${result.detail}), so nothing was started.`,
        next: say`Check that github-token can read the repository, then re-run the workflow run.`,
      };
    case "review":
      return {
        title: "Cannot read the review",
        what: say`The review cannot be read (${result.detail}), so nothing was started.`,
        next: say`Check that github-token can read pull requests, then re-run the workflow run.`,
      };
    case "thread":
      return {
        title: "Cannot read the thread",
        what: say`The thread, which says what an earlier attempt of this workflow run started, cannot be read. This run sent nothing; a job may be running.`,
        next: joinSentences(
          say`Re-run this workflow run, or see the log of the earlier attempt for the job's id.`,
          howToStartAnother(context),
        ),
      };
    case "pending":
      return {
        title: "Job may have been started",
        what: say`An earlier attempt of this workflow run ended without knowing whether the service accepted its request, so a job may have been started. This run sent nothing.`,
        next: joinSentences(checkService(context), howToStartAnother(context)),
      };
    case "memory":
      return {
        title: "Cannot read what an earlier attempt started",
        what: say`This is a re-run, and the Actions cache, which says what an earlier attempt of this workflow run started, cannot be read (${result.detail}). This run sent nothing; an earlier attempt may have started a job.`,
        next: joinSentences(say`Re-run the workflow run.`, howToStartAnother(context)),
      };
    case "unrecorded":
      return {
        title: "Earlier attempt may have started a job",
        what: say`This is a re-run. By GitHub's record, attempt ${result.attempt} of this workflow run ran this step, but nothing says what it started. This run sent nothing; a job may be running.`,
        next: joinSentences(
          say`See the log of that attempt for the job's id, and run the action with job-id to wait for it.`,
          checkService(context),
          howToStartAnother(context),
        ),
      };
    case "service":
      return {
        title: "Cannot ask the service what was sent",
        what: say`This is a re-run, and the service did not say what an earlier attempt of this workflow run sent (${result.error ? failureReason(result.error, context.settings?.baseUrl.href) : say`it did not announce itself`}). This run sent nothing; a job may be running.`,
        next: joinSentences(say`Re-run the workflow run when the service responds again.`, howToStartAnother(context)),
      };
    case "later-run":
      return {
        title: "A later run has continued the job",
        what: say`This is a re-run. Run ${result.run}, a later one of the session, has sent its own prompt to job ${result.jobId} since, so that what the job shows is that run's result. This run sent nothing.`,
        next: say`Nothing has to be done: see that run. To send the prompt again, start a new run of the workflow.`,
      };
    case "unwitnessed":
      return {
        title: "Cannot leave word of a request",
        what: say`GitHub answered neither the reaction nor the reply, so that a re-run could not have known of a job. This run sent nothing.`,
        next: say`Re-run the workflow run: it continues like a first run.`,
      };
    case "unknown":
      return {
        title: "Earlier attempt may have started a job",
        what: say`This is a re-run, and attempt ${result.attempt} could not leave word of a job. Whether it ran this step could not be read from GitHub. This run sent nothing; a job may be running.`,
        next: joinSentences(
          say`To let the action ask GitHub, give the job permissions: actions: read. Otherwise see the log of that attempt for the job's id.`,
          checkService(context),
          howToStartAnother(context),
        ),
      };
    case "several-turns":
      return {
        title: "Earlier attempts had other prompts",
        what: say`Earlier attempts of this workflow run sent several prompts, and none of them is that of this one (jobs ${result.jobIds.join(", ")}). This run sent nothing.`,
        next: joinSentences(
          say`To wait for one of these jobs, run the action with its job-id and no prompt.`,
          howToStartAnother(context),
        ),
      };
    case "replayed":
      return {
        title: "Request was sent before",
        what: say`The service had received the same request under the name of this step before, as job ${result.jobId}, so it started nothing. Another step of this workflow run sent it: GitHub gives both the same name, as it does if a reusable workflow is called twice.`,
        next: say`Give the steps different prompts, or different names of jobs, and start a new run of the workflow. To wait for that job, run the action with job-id ${result.jobId} and no prompt.`,
      };
    case "no-base":
      return {
        title: "The service takes no base",
        what: say`The service does not announce that a job can start from another branch. Nothing was started.`,
        next: say`Update the service, or remove base.`,
      };
    case "base":
      return {
        title: "Cannot read the pull request",
        what: say`The branch of the pull request cannot be read (${result.detail}), so nothing was started.`,
        next: say`Check that github-token can read pull requests, then re-run the workflow run.`,
      };
    case "range-behind":
      return {
        title: "Changes were covered by a later run",
        what: say`The range of changes ends with ${shortRef(result.head)}, which is behind its start ${shortRef(result.base)}: a later run has covered these changes. Nothing was started.`,
        next: say`Nothing has to be done. To send changes again, start a new run of the workflow with changes-since.`,
      };
    case "changes":
      return {
        title: "Cannot read what changed",
        what: say`GitHub could not be asked what changed (${result.detail}), so nothing was started.`,
        next: say`Check changes-since, and that github-token can read the repository (contents: read), then re-run the workflow run.`,
      };
    case "session":
      return {
        title: "Cannot read the session",
        what: say`The Actions cache, which says what the last job of the session is, cannot be read (${result.detail}). This run sent nothing.`,
        next: say`Re-run the workflow run. To start a new job regardless, run it without session.`,
      };
    case "other-prompt": {
      const job = result.jobId === undefined ? say`a job` : say`job ${result.jobId}`;
      return {
        title: "Earlier attempt had another prompt",
        what: say`Attempt ${result.attempt} of this workflow run sent another prompt, for ${job}. This run sent nothing.`,
        next: joinSentences(
          result.jobId === undefined
            ? checkService(context)
            : say`To wait for that job, run the action with job-id ${result.jobId} and no prompt.`,
          howToStartAnother(context),
        ),
      };
    }
    case "time":
      return {
        title: "No time left to start a job",
        what: say`GitHub took so long that no time was left to start a job, so nothing was started.`,
        next: say`Re-run the workflow run, or raise timeout-minutes.`,
      };
    case "prompt":
      return {
        title: "Empty prompt",
        what: say`The template produced an empty prompt, so nothing was started.`,
        next: context.comment
          ? say`Use {{ instruction }} in the template.`
          : say`Add words to the prompt besides {{ changes }}, which is empty if there is nothing to compare.`,
      };
  }
}
