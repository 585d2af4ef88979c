import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { FakeGitHub } from "./fake-github.ts";
import { type MainOptions, type MainRun, runMain } from "./run-main.ts";

export interface CommentOptions extends Partial<MainOptions> {
  /** The text of the comment. */
  text?: string;
  action?: string;
  author?: { login: string; type?: string };
  /** Overrides fields of the issue or pull request. */
  subject?: Record<string, unknown>;
  /** Overrides fields of the payload. */
  payload?: Record<string, unknown>;
  review?: { path: string; line: number | null; original_line?: number; in_reply_to_id?: number };
  attempt?: number;
}

/** The id of the comment that triggers the run. */
export const commentId = 77;

/** Runs the whole action at its ports, on the event of a comment. */
export async function runComment(github: FakeGitHub, options: CommentOptions): Promise<MainRun> {
  const { text = "/agent fix it", action = "created", author = { login: "writer", type: "User" }, review } = options;
  const subject = {
    number: 12,
    title: "Links are broken",
    body: "",
    html_url: "https://github.com/acme/docs/issues/12",
    ...options.subject,
  };
  const payload = {
    action,
    comment: { id: commentId, body: text, user: { ...author, id: 5 }, author_association: "OWNER", ...review },
    [review ? "pull_request" : "issue"]: subject,
    repository: { name: "docs", owner: { login: "acme" } },
    ...options.payload,
  };
  const folder = mkdtempSync(join(tmpdir(), "event-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "event.json");
  writeFileSync(file, JSON.stringify(payload));
  return runMain({
    respond: () => ({ response: { status: 500 } }),
    ...options,
    github,
    inputs: { prompt: "", "trigger-phrase": "/agent", "github-token": "ghs_token_0123456789", ...options.inputs },
    environment: {
      GITHUB_EVENT_NAME: review ? "pull_request_review_comment" : "issue_comment",
      GITHUB_EVENT_PATH: file,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "acme/docs",
      GITHUB_RUN_ID: "99",
      ...(options.attempt && { GITHUB_RUN_ATTEMPT: String(options.attempt) }),
      ...options.environment,
    },
  });
}
