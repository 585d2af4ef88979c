import { forHtml } from "../../runner-kit/untrusted.ts";
import type { PullRequest } from "../pull-request.ts";

/** Renders the link to a pull request as HTML, for summary and reply. */
export function pullRequestLink({ url, number }: PullRequest): string {
  return `<a href="${forHtml(url, url.length)}">${number ? `Pull request ${number}` : "Pull request"}</a>`;
}
