import { isTerminal } from "../../client/contract.ts";
import { quote } from "../../runner-kit/quotation.ts";
import { say, type Text, trusted } from "../../runner-kit/text.ts";
import { forHtml } from "../../runner-kit/untrusted.ts";
import type { Changes } from "../changes/repository.ts";
import type { PullRequest } from "../pull-request.ts";
import type { RunState } from "../run-state.ts";

/** Formats a duration in milliseconds: `4 min 12 s`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(`${minutes} min`, seconds % 60, "s");
  return withRest(`${Math.floor(minutes / 60)} h`, minutes % 60, "min");
}

function withRest(text: string, rest: number, unit: string): string {
  return rest === 0 ? text : `${text} ${rest} ${unit}`;
}

/** Formats a short delay in milliseconds, with tenths of a second below a minute: `7.4 s`. */
export function delay(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}

/** Formats the milliseconds since the start so that lines align: `04:12`, `1:04:12`. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const pad = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** Formats the length of a text: `1,234 characters`. */
export function size(text: string): string {
  const characters = [...text].length;
  // `toLocaleString` would load all of `Intl`, which takes longer than anything else in a short step.
  return `${String(characters).replace(/\B(?=(\d{3})+$)/g, ",")} ${characters === 1 ? "character" : "characters"}`;
}

/** Formats a number of things: `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Returns the word before the time that a run took. A re-run that waits for an earlier job does not know how long the work took. */
export function timeWord({ status, origin }: Pick<RunState, "status" | "origin">): "took" | "waited" | "after" {
  if (!isTerminal(status)) return "after";
  return origin === "resumed" ? "waited" : "took";
}

/** Shortens a full commit id as Git does; leaves other refs as they are. */
export function shortRef(ref: string): string {
  return /^[0-9a-f]{40}$/.test(ref) ? ref.slice(0, 7) : ref;
}

/** Describes how many files count, such as `8 of 12 files match paths`. */
function describeFiles({ files, otherFiles, isTruncated, paths }: Changes): string {
  const all = `${isTruncated ? "more than " : ""}${count(files.length + otherFiles, "file")}`;
  return paths.length === 0 ? all : `${files.length} of ${all} ${files.length === 1 ? "matches" : "match"} paths`;
}

/** Says how many commits and files changed, or that GitHub does not say so. */
export function describeCounts(changes: Changes): string {
  if (changes.isUnlisted) return "GitHub cannot compare all of this range, so not all commits and files are listed";
  return `${count(changes.commitCount, "commit")}, ${describeFiles(changes)}`;
}

/** Renders a link as HTML, for summary and reply. The address has been checked. */
export function link(url: string, text: string): string {
  return `<a href="${forHtml(url, url.length)}">${text}</a>`;
}

/** Renders the links to a job's pull request and to its page, as far as there are any. */
export function jobLinks({ pullRequest, pageUrl }: { pullRequest: PullRequest | undefined; pageUrl: string }) {
  const name = pullRequest?.number ? `Pull request ${pullRequest.number}` : "Pull request";
  return {
    pullRequest: pullRequest ? [link(pullRequest.url, name)] : [],
    page: pageUrl === "" ? [] : [link(pageUrl, "Job page")],
  };
}

/** How many lines of the agent's last message are shown; the output has them all. */
const maxLines = 60;

/** Quotes the agent's last message, which is untrusted, in Markdown; empty if there is none. */
export function quoteMessage(message: string): string {
  return message === "" ? "" : `<p>The agent's last message:</p>\n\n${quote(message, maxLines)}`;
}

/** Says how many parts of a request the agent does not get, because the page hides them. */
export function describeHidden(number: number): Text {
  return say`Left out of the request, because the page does not show it: ${trusted(count(number, "hidden part"))}, such as comments and invisible characters.`;
}
