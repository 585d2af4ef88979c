import type { SkipReason } from "../comments/trigger.ts";
import { outcomes } from "../outcome.ts";
import type { BlockedResult } from "../result.ts";
import { checkService, type ResultContext } from "./advice.ts";
import type { Message } from "./message.ts";
import { say, sentences, type Text } from "./text.ts";

/** Describes why a comment starts nothing. That is not an error, so there is nothing to do. */
export function describeSkip(reason: SkipReason): Message {
  return { title: outcomes.skipped.title, what: skipReasons[reason], next: [] };
}

const skipReasons: Readonly<Record<SkipReason, Text>> = {
  "no-trigger": say`The comment is not new or does not begin with the trigger phrase. Nothing was started.`,
  "no-instruction": say`The trigger phrase is not followed by an instruction. Nothing was started.`,
  "not-permitted": say`The author of the comment does not have the required permission. Nothing was started.`,
  bot: say`The author of the comment is a bot that is not listed in allowed-bots. Nothing was started.`,
  edited: say`The comment was edited, and only new comments are handled. Nothing was started.`,
};

/** Describes what the step could not find out before starting something. */
export function describeBlocked(result: BlockedResult, context: ResultContext): Message {
  const title = "Nothing was started";
  switch (result.cause) {
    case "event":
      return {
        title,
        what: say`The payload of the ${result.detail} event cannot be read, so nothing was started.`,
        next: say`Use trigger-phrase on issue_comment and pull_request_review_comment. If this was one of them, report a bug with the log of a run with step debug logging.`,
      };
    case "permission":
      return {
        title,
        what: say`The permission of the comment's author cannot be read (${result.detail}), so nothing was started.`,
        next: say`Check that github-token is valid for the repository, then comment again.`,
      };
    case "thread":
      return {
        title,
        what: say`This is a re-run, and the thread that says what the first run started cannot be read. This run sent nothing; a job may be running.`,
        next: say`See the log of the first run for the job's id, or comment again to start a new job.`,
      };
    case "pending":
      return {
        title: "Job may have been started",
        what: say`This is a re-run. An earlier attempt ended while it was sending the request for this comment, so a job may have been started. This run sent nothing.`,
        next: sentences(checkService(context), say`To start another job, comment again.`),
      };
    case "time":
      return {
        title,
        what: say`GitHub took so long that no time was left to start a job, so nothing was started.`,
        next: say`Comment again, or raise timeout-minutes.`,
      };
    case "prompt":
      return {
        title,
        what: say`The prompt is empty after its template was filled in, so nothing was started.`,
        next: say`Use {{ instruction }} in the template.`,
      };
  }
}
