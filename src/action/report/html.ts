import { code, forHtml } from "../../runner-kit/untrusted.ts";
import type { PullRequest } from "../pull-request.ts";
import { count } from "./format.ts";

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

/** Renders the agent's last message, which is untrusted, as a quotation in HTML, line by line; empty if there is none. */
export function quoteMessage(message: string): string {
  if (message === "") return "";
  const lines = message.split("\n");
  const shown = lines.slice(0, maxLines).map((line) => (line.trim() === "" ? "" : code(line, 1000)));
  if (lines.length > maxLines) shown.push(`and ${count(lines.length - maxLines, "more line")}`);
  return `<p>The agent's last message:</p>\n\n<blockquote>${shown.join("<br>")}</blockquote>`;
}
