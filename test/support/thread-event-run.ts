import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeGitHub } from "./fake-github.ts";
import { example } from "./payload.ts";
import { type MainOptions, type MainRun, runMain } from "./run-main.ts";
import { temporaryFolder } from "./step.ts";
import { completes } from "./thread.ts";

export interface ThreadEventOptions extends Partial<MainOptions> {
  /** Fields of the issue or pull request. */
  subject?: Record<string, unknown>;
  /** Who opened it. */
  user?: { login: string; type?: string };
  /** Who caused the event. */
  sender?: { login: string; type?: string };
  /** Fields of the review, or of the comment of a review. */
  review?: Record<string, unknown>;
  /** The name of the label. */
  label?: string;
  /** Other fields of the payload. */
  payload?: Record<string, unknown>;
  attempt?: number;
}

/** The id of the workflow run. */
export const runId = 99;

/** Returns one of GitHub's example payloads for issue or pull request 12, which a writer of acme/docs opened and labeled. */
export function threadPayload(name: string, action: string, options: ThreadEventOptions = {}): Record<string, unknown> {
  const writer = { login: "writer", type: "User" };
  const { subject, user = writer, sender = writer, label, review } = options;
  // GitHub has the same payload for both.
  const payload = example(name === "pull_request_target" ? "pull_request" : name, action);
  const about = (payload.issue ?? payload.pull_request) as { user: object; body: unknown };
  const url = `https://github.com/acme/docs/${name === "issues" ? "issues" : "pull"}/12`;
  Object.assign(about, { number: 12, title: "Links are broken", body: "", html_url: url }, subject);
  const part = (payload.review ?? payload.comment) as { user: object } | undefined;
  if (part) Object.assign(part, review, { user: { ...part.user, ...user } });
  else about.user = { ...about.user, ...user };
  payload.sender = { ...(payload.sender as object), ...sender };
  Object.assign(payload.repository as object, { name: "docs", owner: { login: "acme" } });
  if (label !== undefined) payload.label = { ...(payload.label as object), name: label };
  return { ...payload, ...options.payload };
}

/** Runs the whole action at its ports on an event of an issue or pull request. */
export function runThreadEvent(
  github: FakeGitHub,
  name: string,
  action: string,
  options: ThreadEventOptions = {},
): Promise<MainRun> {
  const file = join(temporaryFolder(), "event.json");
  writeFileSync(file, JSON.stringify(threadPayload(name, action, options)));
  return runMain({
    respond: completes,
    ...options,
    github,
    inputs: {
      prompt: "",
      "trigger-phrase": "/agent",
      "trigger-label": "Docs please",
      "github-token": "ghs_token_0123456789",
      ...options.inputs,
    },
    environment: {
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: file,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "acme/docs",
      GITHUB_RUN_ID: String(runId),
      ...(options.attempt && { GITHUB_RUN_ATTEMPT: String(options.attempt) }),
      ...options.environment,
    },
  });
}

/** The prompts that were sent to the service. */
export function promptsOf({ requests }: MainRun): string[] {
  return requests.filter(({ method }) => method === "POST").map(({ body }) => (body as { prompt: string }).prompt);
}

/** Returns these prompts without what the thread says. */
export const requestsOf = (run: MainRun): string[] =>
  promptsOf(run).map((prompt) => prompt.replace(/\n\nThe text between the two lines of tildes is what .*/s, ""));
