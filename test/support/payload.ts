import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

interface Example {
  name: string;
  examples: Record<string, unknown>[];
}

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as Example[];

/** Returns a copy of one of GitHub's example payloads, for a test to change. */
export function example(name: string, action: string): Record<string, unknown> {
  const found = examples.find((one) => one.name === name)?.examples.find((one) => one.action === action);
  if (!found) throw new Error(`no example of ${name} ${action}`);
  return structuredClone(found);
}

export interface Comment {
  id: number;
  text: string;
  author: { login: string; type?: string };
  owner?: string;
  repo?: string;
  number?: number;
  title?: string;
  action?: string;
  review?: { path: string; line: number; in_reply_to_id?: number };
  /** When it was made. */
  at?: string;
  /** Fields of the issue or pull request. */
  subject?: Record<string, unknown>;
}

/** Returns the environment that the runner sets for a comment event, and writes the payload to a file in `folder`. */
export function commentEnvironment(folder: string, apiUrl: string, comment: Comment): Record<string, string> {
  const { owner = "acme", repo = "docs", number = 1, title = "Links are broken", action = "created", review } = comment;
  const name = review ? "pull_request_review_comment" : "issue_comment";
  const payload = example(name, action);
  const made = comment.at !== undefined && { created_at: comment.at };
  Object.assign(payload.comment as object, { id: comment.id, body: comment.text, ...made, ...review });
  Object.assign((payload.comment as { user: object }).user, { type: "User" }, comment.author);
  Object.assign(payload[review ? "pull_request" : "issue"] as object, {
    number,
    title,
    html_url: `${apiUrl}/${owner}/${repo}/issues/${number}`,
    ...comment.subject,
  });
  Object.assign(payload.repository as object, { name: repo, owner: { login: owner } });
  const file = join(folder, "event.json");
  writeFileSync(file, JSON.stringify(payload));
  return {
    GITHUB_EVENT_NAME: name,
    GITHUB_EVENT_PATH: file,
    GITHUB_API_URL: apiUrl,
    GITHUB_SERVER_URL: "https://github.example",
    GITHUB_REPOSITORY: `${owner}/${repo}`,
    GITHUB_RUN_ID: "99",
    GITHUB_RUN_ATTEMPT: "1",
  };
}

/** The inputs of comment mode. */
export const commentInputs = { "trigger-phrase": "/agent", "github-token": "bot_token_0123456789", prompt: "" };
