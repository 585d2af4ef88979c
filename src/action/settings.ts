import type { AgentSettings } from "../runner-kit/agent-service.ts";
import type { PathPatterns } from "../runner-kit/path-patterns.ts";
import type { Since } from "./changes/since.ts";
import type { permissions } from "./comments/event.ts";
import type { AuthMethod } from "./inputs/rules.ts";
import type { FailReason } from "./outcome.ts";

/** What the step is asked to do. `attach` only waits for a job. */
export type Task =
  /** `sections`: what comes beside the prompt; default: the service does not take any. `base`: the branch that the job starts from; `replaces`: the request of an earlier run attempt that this one takes the place of, because its turn failed. */
  | {
      kind: "create";
      prompt: string;
      sections?: readonly string[] | undefined;
      base?: string | undefined;
      replaces?: string | undefined;
    }
  | {
      kind: "message";
      jobId: string;
      prompt: string;
      sections?: readonly string[] | undefined;
      replaces?: string | undefined;
    }
  /**
   * `resumes`: what an earlier run attempt of this step sent, which made the job run; `wasSeen`: at work on that, so that the job's state is
   * no older; `turnId`: as which turn, if known.
   */
  | { kind: "attach"; jobId: string; resumes?: "create" | "message"; wasSeen?: boolean | undefined; turnId?: string };

/** Returns all that an agent is told by a task. */
export const promptOf = ({ prompt, sections = [] }: Pick<SendingTask, "prompt" | "sections">): string =>
  [prompt, ...sections].join("\n\n");

/** A task that sends something, so that a re-run must not repeat it. */
export type SendingTask = Exclude<Task, { kind: "attach" }>;

export interface Settings {
  projectId: string;
  /** Empty with `github-oidc`. */
  apiKey: string;
  auth: AuthMethod;
  baseUrl: URL;
  wait: boolean;
  timeoutMs: number;
  intervals: { minMs: number; maxMs: number };
  failOn: ReadonlySet<FailReason>;
  /** Whether a re-run waits for the job of an earlier attempt, or starts another one. */
  onRerun: "resume" | "new";
  /** The branch that a new job starts from: a name, `pull-request` for the event's pull request, or empty for the project's own. */
  base: string;
  /** Whether the turn that this step sent is stopped when the step is cancelled, or keeps running. */
  onCancel: "stop" | "keep";
  /** Whether everything is done but to send the request, and to write to GitHub. */
  dryRun: boolean;
  /** The name under which the job is remembered for later workflow runs, or empty, as with a job that is named. */
  session: string;
  /** What the prompt says about changes of the repository; `undefined` for nothing. */
  changes: ChangesSettings | undefined;
  /** For the workflow's repository. An agent has its own, which is another one for another repository. */
  githubToken: string;
  /** The workflow's own token, which has the permissions of its job. Default: `githubToken`. */
  workflowToken: string;
  /** Tells the legs of a matrix apart. */
  matrixLeg: string;
  /** The agent that runs with the step; `undefined` if a service runs it. */
  agent: AgentSettings | undefined;
}

export interface ChangesSettings {
  since: Since;
  /** `undefined` if all files count. */
  paths: PathPatterns | undefined;
  withPatches: boolean;
}

/** Comment mode: the event of an issue or pull request decides what to do, if anything. */
export interface CommentMode {
  /** The trigger phrase and the name of the trigger label; one of them may be empty. */
  phrase: string;
  label: string;
  requiredPermission: (typeof permissions)[number];
  /** Logins of bots that may start jobs, in lower case. */
  allowedBots: ReadonlySet<string>;
  /** The prompt template. Default: the instruction and its place. */
  template: string | undefined;
  /** A job that takes precedence over the one that the thread remembers, or empty. */
  jobId: string;
  reply: boolean;
}

/** What decides what is sent: the workflow's inputs, or an event of an issue or pull request. */
export type Mode = { kind: "plain"; task: Task } | ({ kind: "comment" } & CommentMode);
