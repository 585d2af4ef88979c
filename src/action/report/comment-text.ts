import { outcomes } from "../outcome.ts";
import type { BlockedResult, SkipReason } from "../result.ts";
import { checkService, howToStartAnother, type ResultContext } from "./advice.ts";
import { shortRef } from "./changes-text.ts";
import { count } from "./format.ts";
import { joinSentences, type Message, say, type Text, trusted } from "./text.ts";

/** Describes why the step starts nothing. That is not an error, so there is nothing to do. */
export function describeSkip(reason: SkipReason, { state }: ResultContext): Message {
  if (reason !== "nothing-new") return { title: outcomes.skipped.title, what: skipReasons[reason], next: [] };
  const { base = "", otherFiles = 0 } = state.changes ?? {};
  const others =
    otherFiles > 0 ? say` ${trusted(count(otherFiles, "other file"))} changed, which paths leaves out.` : [];
  return {
    title: "Nothing new",
    what: [...say`No file that counts has changed since ${shortRef(base)}. Nothing was started.`, ...others],
    next: [],
  };
}

const skipReasons: Readonly<Record<Exclude<SkipReason, "nothing-new">, Text>> = {
  "no-trigger": say`The comment is not new or does not begin with the trigger phrase. Nothing was started.`,
  "no-instruction": say`The trigger phrase is not followed by an instruction. Nothing was started.`,
  "not-permitted": say`The author of the comment does not have the required permission. Nothing was started.`,
  bot: say`The author of the comment is a bot that is not listed in allowed-bots. Nothing was started.`,
  edited: say`The comment was edited, and only new comments are handled. Nothing was started.`,
};

/** Describes what the step could not find out before starting something. */
export function describeBlocked(result: BlockedResult, context: ResultContext): Message {
  switch (result.cause) {
    case "event":
      return {
        title: "Cannot read the event",
        what: say`The payload of the ${result.detail} event cannot be read, so nothing was started.`,
        next: say`Use trigger-phrase on issue_comment and pull_request_review_comment. If this was one of them, report a bug with the log of a run with step debug logging.`,
      };
    case "permission":
      return {
        title: "Cannot check the permission",
        what: say`The permission of the comment's author cannot be read (${result.detail}), so nothing was started.`,
        next: say`Check that github-token can read the repository, then re-run the workflow run.`,
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
