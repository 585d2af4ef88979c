import * as z from "zod/mini";
import type { AccessRules } from "../comments/permission.ts";
import { placeholders, unknownPlaceholders } from "../comments/prompt-template.ts";
import { own, say, type Text } from "../report/text.ts";
import {
  allowedBots,
  apiKey,
  baseUrl,
  boolean,
  type FailableOutcome,
  failOn,
  githubToken,
  identifier,
  positiveDecimal,
  projectId,
  requiredPermission,
} from "./rules.ts";

/** Every input of `action.yml` with its default, which an empty input means too. */
export const inputDefaults = {
  prompt: "",
  "prompt-file": "",
  "job-id": "",
  "project-id": "",
  "api-key": "",
  "base-url": "https://api.mintlify.com",
  wait: "true",
  "timeout-minutes": "60",
  "poll-interval-seconds": "5",
  "max-poll-interval-seconds": "15",
  "fail-on": "failed, timed-out",
  summary: "true",
  "trigger-phrase": "",
  "required-permission": "write",
  "allowed-bots": "",
  reply: "true",
  // In action.yml the workflow's own token, which the runner fills in.
  "github-token": "",
} as const;

export type InputName = keyof typeof inputDefaults;

/** What the step is to do: the three ways in. */
export type Task =
  | { kind: "create"; prompt: string }
  | { kind: "message"; jobId: string; prompt: string }
  | { kind: "attach"; jobId: string };

/** What holds whatever the step is to do. */
export interface Settings {
  projectId: string;
  apiKey: string;
  baseUrl: URL;
  wait: boolean;
  timeoutMs: number;
  intervals: { minMs: number; maxMs: number };
  failOn: ReadonlySet<FailableOutcome>;
  summary: boolean;
}

export interface Inputs extends Settings {
  task: Task;
}

/** Comment mode: the comment of the event decides what is to be done, and whether. */
export interface CommentMode extends AccessRules {
  phrase: string;
  /** The prompt to fill in; without one, the instruction and where it was given. */
  template: string | undefined;
  /** A job that wins over the one that the thread remembers, or empty. */
  jobId: string;
  reply: boolean;
  token: string;
}

/** What is wrong with an input and how to mend it; never quotes the value of `api-key`. */
export interface InputProblem {
  input: InputName;
  /** Goes on where "the input …" begins. */
  problem: Text;
}

/** `summary` is known even where other inputs are refused. */
export type InputsResult =
  | { ok: true; settings: Settings; mode: { kind: "task"; task: Task } | ({ kind: "comment" } & CommentMode) }
  | { ok: false; problems: InputProblem[]; summary: boolean };

const schema = z.object({
  prompt: z.string(),
  "prompt-file": z.string(),
  "job-id": identifier,
  "project-id": projectId,
  "api-key": apiKey,
  "base-url": baseUrl,
  wait: boolean,
  "timeout-minutes": positiveDecimal,
  "poll-interval-seconds": positiveDecimal,
  "max-poll-interval-seconds": positiveDecimal,
  "fail-on": failOn,
  summary: boolean,
  "trigger-phrase": z.string(),
  "required-permission": requiredPermission,
  "allowed-bots": allowedBots,
  reply: boolean,
  "github-token": githubToken,
} satisfies Record<InputName, z.ZodMiniType>);

/** What became of reading the prompt file. */
export type PromptFile = { text: string } | { problem: Text };

/** Where the inputs come from. */
export interface InputSource {
  /** The raw value of an input, empty where it is not set. */
  read: (name: InputName) => string;
  /** The prompt in a file of the workspace. */
  readPromptFile: (path: string) => PromptFile;
  /** The event is a comment, so that a trigger phrase means something. */
  isCommentEvent: boolean;
}

type RawInputs = Record<InputName, string>;

/** All inputs as typed values, or all that is wrong with them. */
export function parseInputs({ read, readPromptFile, isCommentEvent }: InputSource): InputsResult {
  const names = Object.keys(inputDefaults) as InputName[];
  const raw = Object.fromEntries(names.map((name) => [name, valueOrDefault(name, read(name))])) as RawInputs;
  const parsed = schema.safeParse(raw);
  const file = raw["prompt-file"] ? readPromptFile(raw["prompt-file"]) : undefined;
  const prompt = file && "text" in file ? file.text : raw.prompt;
  const isComment = isCommentEvent && raw["trigger-phrase"] !== "";
  const problems: InputProblem[] = [
    ...(parsed.error?.issues ?? []).map((issue) => ({
      input: issue.path[0] as InputName,
      problem: own(issue.message),
    })),
    ...promptProblems(raw, file, isComment),
    ...intervalProblems(raw),
    ...(isComment ? commentProblems(raw, prompt) : []),
  ];
  if (!parsed.success || problems.length > 0) {
    return { ok: false, problems, summary: boolean.safeParse(raw.summary).data ?? true };
  }

  const values = parsed.data;
  const settings: Settings = {
    projectId: values["project-id"],
    apiKey: values["api-key"],
    baseUrl: values["base-url"],
    wait: values.wait,
    timeoutMs: values["timeout-minutes"] * 60_000,
    intervals: {
      minMs: values["poll-interval-seconds"] * 1000,
      maxMs: values["max-poll-interval-seconds"] * 1000,
    },
    failOn: values["fail-on"],
    summary: values.summary,
  };
  if (!isComment) return { ok: true, settings, mode: { kind: "task", task: taskOf(values["job-id"], prompt) } };
  return {
    ok: true,
    settings,
    mode: {
      kind: "comment",
      phrase: values["trigger-phrase"],
      template: prompt === "" ? undefined : prompt,
      jobId: values["job-id"],
      reply: values.reply,
      token: values["github-token"],
      requiredPermission: values["required-permission"],
      allowedBots: values["allowed-bots"],
    },
  };
}

function promptProblems(raw: RawInputs, file: PromptFile | undefined, isComment: boolean): InputProblem[] {
  if (raw.prompt && raw["prompt-file"]) {
    return [{ input: "prompt-file", problem: say`cannot be given together with prompt` }];
  }
  if (file && "problem" in file) return [{ input: "prompt-file", problem: file.problem }];
  if (raw.prompt || file || raw["job-id"] || isComment) return [];
  const problem = say`is empty. Give prompt or prompt-file, or a job-id alone to wait for that job`;
  return [{ input: "prompt", problem }];
}

function intervalProblems(raw: RawInputs): InputProblem[] {
  const minSeconds = positiveDecimal.safeParse(raw["poll-interval-seconds"]).data ?? 0;
  const maxSeconds = positiveDecimal.safeParse(raw["max-poll-interval-seconds"]).data ?? Number.POSITIVE_INFINITY;
  if (maxSeconds >= minSeconds) return [];
  const problem = say`is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`;
  return [{ input: "max-poll-interval-seconds", problem }];
}

function commentProblems(raw: RawInputs, template: string): InputProblem[] {
  const problems: InputProblem[] = [];
  const unknown = unknownPlaceholders(template);
  if (unknown.length > 0) {
    problems.push({
      input: raw["prompt-file"] ? "prompt-file" : "prompt",
      problem: say`names ${unknown.map((name) => `{{ ${name} }}`).join(", ")}, but a template knows only ${own(placeholders.join(", "))}`,
    });
  }
  if (raw["github-token"] === "") {
    const problem = say`is empty, but a trigger-phrase needs it. Leave it out for the workflow's own token`;
    problems.push({ input: "github-token", problem });
  }
  return problems;
}

/** White space around a value means nothing, but a prompt is sent as it was written. */
function valueOrDefault(name: InputName, value: string): string {
  const trimmed = value.trim();
  if (trimmed === "") return inputDefaults[name];
  return name === "prompt" ? value : trimmed;
}

function taskOf(jobId: string, prompt: string): Task {
  if (!jobId) return { kind: "create", prompt };
  return prompt ? { kind: "message", jobId, prompt } : { kind: "attach", jobId };
}
