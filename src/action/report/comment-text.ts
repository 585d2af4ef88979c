import type { SkipReason } from "../comments/trigger.ts";
import type { NoAdmission } from "../outcome.ts";
import type { Message } from "./message.ts";
import { say, type Text } from "./text.ts";

/** A comment that is not acted on: no fault, so there is nothing to be done. */
export function describeSkip(reason: SkipReason): Message {
  return { title: "Skipped", what: skips[reason], next: [] };
}

/** Why a comment is not acted on: no fault, so nothing is to be done. */
const skips: Readonly<Record<SkipReason, Text>> = {
  "no-trigger": say`The comment does not begin with the trigger phrase, or is no new one. Nothing was started.`,
  "no-instruction": say`There is no instruction behind the trigger phrase. Nothing was started.`,
  "not-permitted": say`The comment's author has less than the required permission. Nothing was started.`,
  bot: say`The comment's author is a bot that allowed-bots does not list. Nothing was started.`,
  edited: say`The comment was edited; only new comments are acted on. Nothing was started.`,
};

/** Why it could not be told whether the comment may start something, or what. */
export function describeNoAdmission(why: NoAdmission, detail: string): Message {
  const title = "Nothing was started";
  switch (why) {
    case "event":
      return {
        title,
        what: say`The payload of the event ${detail} cannot be read, so nothing was started.`,
        next: say`Use trigger-phrase on issue_comment and pull_request_review_comment, and report this if it was one.`,
      };
    case "permission":
      return {
        title,
        what: say`The permission of the comment's author cannot be read (${detail}), so nothing was started.`,
        next: say`Check that github-token is valid for the repository, then comment again.`,
      };
    case "thread":
      return {
        title,
        what: say`On this re-run GitHub does not tell what the first run has started. This run has sent nothing; a job may be running.`,
        next: say`See the log of the first run for the job's id, or comment again to start anew.`,
      };
    case "time":
      return {
        title,
        what: say`GitHub took so long that no time was left to start a job in, so nothing was started.`,
        next: say`Comment again, or raise timeout-minutes.`,
      };
    case "prompt":
      return {
        title,
        what: say`The prompt is empty once its template is filled in, so nothing was started.`,
        next: say`Let the template name {{ instruction }}.`,
      };
  }
}
