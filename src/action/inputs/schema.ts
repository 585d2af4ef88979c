import { say, type Text, trusted } from "../../runner-kit/text.ts";
import { isThreadEvent, isTriggeredBy, triggerKindOf } from "../comments/event.ts";
import { placeholders, unknownPlaceholders } from "../comments/prompt-template.ts";
import { isMintlify } from "../mintlify.ts";
import type { InputProblem, RunResult } from "../result.ts";
import type { Mode, Settings, Task } from "../settings.ts";
import {
  allowedBots,
  anyText,
  apiKeyProblem,
  auth,
  baseBranch,
  baseUrl,
  boolean,
  changesDetail,
  changesSince,
  failOn,
  identifier,
  onCancel,
  onRerun,
  pathPatterns,
  positiveDecimal,
  type Rule,
  requiredPermission,
  sessionName,
} from "./rules.ts";

/** Every input of `action.yml` with its default, which also applies to an empty input. */
export const inputDefaults = {
  prompt: "",
  "prompt-file": "",
  "job-id": "",
  "project-id": "",
  "api-key": "",
  auth: "key",
  "base-url": "https://api.mintlify.com",
  wait: "true",
  "timeout-minutes": "60",
  "poll-interval-seconds": "5",
  "max-poll-interval-seconds": "15",
  "fail-on": "failed, timed-out",
  summary: "true",
  "on-rerun": "resume",
  "on-cancel": "stop",
  base: "",
  "dry-run": "false",
  session: "",
  changes: "none",
  "changes-since": "auto",
  paths: "",
  "trigger-phrase": "",
  "trigger-label": "",
  "required-permission": "write",
  "allowed-bots": "",
  reply: "true",
  // In action.yml, the runner fills in the defaults of these two: the workflow's own token, and the matrix.
  "github-token": "",
  "matrix-leg": "",
} as const;

export type InputName = keyof typeof inputDefaults;
const inputNames = Object.keys(inputDefaults) as InputName[];

/** A problem with an input that exists. */
interface Problem extends InputProblem {
  input: InputName;
}

/** `summary` is known even if other inputs are invalid. `skipped`: the inputs do not matter, because there is nothing to do. */
export type InputsResult =
  | { ok: true; settings: Settings; mode: Mode }
  | { ok: false; problems: Problem[]; skipped?: Extract<RunResult, { kind: "skipped" }>; summary: boolean };

/** The rule of every input. */
const rules = {
  prompt: anyText,
  "prompt-file": anyText,
  "job-id": identifier,
  "project-id": identifier,
  // Checked together with `auth`.
  "api-key": anyText,
  auth,
  "base-url": baseUrl,
  wait: boolean,
  "timeout-minutes": positiveDecimal,
  "poll-interval-seconds": positiveDecimal,
  "max-poll-interval-seconds": positiveDecimal,
  "fail-on": failOn,
  summary: boolean,
  "on-rerun": onRerun,
  "on-cancel": onCancel,
  base: baseBranch,
  "dry-run": boolean,
  session: sessionName,
  changes: changesDetail,
  "changes-since": changesSince,
  paths: pathPatterns,
  "trigger-phrase": anyText,
  "trigger-label": anyText,
  "required-permission": requiredPermission,
  "allowed-bots": allowedBots,
  reply: boolean,
  // Only checked if it is needed.
  "github-token": anyText,
  "matrix-leg": anyText,
} satisfies Record<InputName, Rule<unknown>>;

/** The prompt file's text, or why it cannot be used. */
export type PromptFile = { text: string } | { problem: Text };

/** The source of the inputs. */
export interface InputSource {
  /** Returns the raw value of an input; empty if it is not set. */
  read: (name: InputName) => string;
  /** Reads the prompt from a file in the workspace. */
  readPromptFile: (path: string) => PromptFile;
  /** The event that triggered the workflow. */
  eventName: string;
  /** Returns whether the event is about a pull request from a fork, so that secrets are empty. */
  isFromFork: () => boolean;
  /** Whether the job may request OIDC tokens. */
  canRequestIdTokens: boolean;
  /** Whether the runner is one of Windows. */
  isWindows: boolean;
}

type RawInputs = Record<InputName, string>;

/** Parses all inputs, and returns either typed values or all problems at once. */
export function parseInputs(source: InputSource): InputsResult {
  const { read, readPromptFile, eventName, isFromFork, canRequestIdTokens, isWindows } = source;
  const raw = Object.fromEntries(inputNames.map((name) => [name, valueOrDefault(name, read(name))])) as RawInputs;
  const parsed = parseValues(rules, raw);
  const file = raw["prompt-file"] ? readPromptFile(raw["prompt-file"]) : undefined;
  const prompt = file && "text" in file ? file.text : raw.prompt;
  const triggers = (["trigger-phrase", "trigger-label"] as const).filter((name) => raw[name] !== "");
  const isComment = isTriggeredBy(eventName, triggers);
  const summary = parsed.values.summary ?? true;
  const isMissing = raw.auth === "github-oidc" ? !canRequestIdTokens : raw["api-key"] === "";
  // The key is not missing by mistake, and the step must not fail for every pull request from a fork.
  if (isComment && isThreadEvent(eventName) && isMissing && isFromFork()) {
    const skipped = { kind: "skipped", reason: "fork", triggerKind: triggerKindOf(eventName) } as const;
    return { ok: false, problems: [], skipped, summary };
  }
  const problems: Problem[] = [
    ...projectProblems(raw),
    ...(raw.auth === "github-oidc" ? idTokenProblems(raw, canRequestIdTokens) : keyProblems(raw)),
    ...parsed.problems,
    ...promptProblems(raw, file, { eventName, isComment, isWindows }),
    ...intervalProblems(parsed.values),
    ...sessionProblems(raw),
    ...baseProblems(raw),
    ...changesProblems(raw),
    ...(isComment ? commentProblems(raw, prompt) : []),
    ...(isComment || raw.changes !== "none" ? tokenProblems(raw, isComment) : []),
  ];
  const { values } = parsed;
  if (problems.length > 0 || !isComplete(values)) return { ok: false, problems, summary };

  const settings: Settings = {
    projectId: values["project-id"],
    apiKey: values["api-key"],
    auth: values.auth,
    baseUrl: values["base-url"],
    wait: values.wait,
    timeoutMs: values["timeout-minutes"] * 60_000,
    intervals: {
      minMs: values["poll-interval-seconds"] * 1000,
      maxMs: values["max-poll-interval-seconds"] * 1000,
    },
    failOn: values["fail-on"],
    summary: values.summary,
    onRerun: values["on-rerun"],
    onCancel: values["on-cancel"],
    base: values.base,
    dryRun: values["dry-run"],
    session: values.session,
    changes:
      values.changes === "none"
        ? undefined
        : { since: values["changes-since"], paths: values.paths, withPatches: values.changes === "diff" },
    githubToken: values["github-token"],
    matrixLeg: values["matrix-leg"],
  };
  if (!isComment) return { ok: true, settings, mode: { kind: "plain", task: taskOf(values["job-id"], prompt) } };
  return {
    ok: true,
    settings,
    mode: {
      kind: "comment",
      phrase: values["trigger-phrase"],
      label: values["trigger-label"],
      template: prompt === "" ? undefined : prompt,
      jobId: values["job-id"],
      reply: values.reply,
      requiredPermission: values["required-permission"],
      allowedBots: values["allowed-bots"],
    },
  };
}

/** Parses each value by its rule. `values` lacks those with a problem. */
function parseValues<T extends Record<InputName, unknown>>(
  rules: { [Name in keyof T & InputName]: Rule<T[Name]> },
  raw: RawInputs,
): { values: Partial<T>; problems: Problem[] } {
  const values: Partial<T> = {};
  const problems: Problem[] = [];
  for (const input of inputNames) {
    const parsed = rules[input](raw[input]);
    if ("problem" in parsed) problems.push({ input, problem: trusted(parsed.problem) });
    else values[input] = parsed.value;
  }
  return { values, problems };
}

function isComplete<T extends Record<InputName, unknown>>(values: Partial<T>): values is T {
  return inputNames.every((name) => name in values);
}

function projectProblems(raw: RawInputs): Problem[] {
  if (raw["project-id"] !== "") return [];
  const baseUrl = URL.parse(raw["base-url"]);
  const problem =
    baseUrl && isMintlify(baseUrl)
      ? say`is empty. Copy it from the API keys page of the dashboard`
      : say`is empty. Set it to the project's identifier in the service`;
  return [{ input: "project-id", problem }];
}

function keyProblems(raw: RawInputs): Problem[] {
  const problem = apiKeyProblem(raw["api-key"]);
  return problem === undefined ? [] : [{ input: "api-key", problem: trusted(problem) }];
}

function idTokenProblems(raw: RawInputs, canRequestIdTokens: boolean): Problem[] {
  const problems: Problem[] = [];
  if (raw["api-key"] !== "") {
    const problem = say`cannot be used together with auth: github-oidc, which takes its place. Remove one of them`;
    problems.push({ input: "api-key", problem });
  }
  const baseUrl = URL.parse(raw["base-url"]);
  if (baseUrl && isMintlify(baseUrl)) {
    const problem = say`must be the address of a service that trusts this repository: with auth: github-oidc, a token is never sent to the default base-url`;
    problems.push({ input: "base-url", problem });
  }
  if (!canRequestIdTokens) {
    const problem = say`is github-oidc, but this job may not request a token. Add to the job: permissions: { contents: read, id-token: write }. Permissions that are not named there are none, so name all others that the job needs, too. Runs for pull requests from forks never get a token`;
    problems.push({ input: "auth", problem });
  }
  return problems;
}

/**
 * In UTF-16 units. An environment variable of Windows has at most 32,767, with its name and what separates it. Longer ones may
 * be cut off without an error.
 */
const maxPromptOnWindows = 32_767 - "INPUT_PROMPT=\0".length;

function promptProblems(
  raw: RawInputs,
  file: PromptFile | undefined,
  { eventName, isComment, isWindows }: Pick<InputSource, "eventName" | "isWindows"> & { isComment: boolean },
): Problem[] {
  if (isWindows && raw.prompt.length > maxPromptOnWindows) {
    const problem = say`has ${raw.prompt.length} characters. Windows passes at most ${maxPromptOnWindows} to an action: more may be cut off. Write the prompt to a file, and use prompt-file`;
    return [{ input: "prompt", problem }];
  }
  if (raw.prompt && raw["prompt-file"]) {
    return [{ input: "prompt-file", problem: say`cannot be used together with prompt` }];
  }
  if (file && "problem" in file) return [{ input: "prompt-file", problem: file.problem }];
  if (raw.prompt || file || raw["job-id"] || isComment) return [];
  const trigger = raw["trigger-phrase"]
    ? "trigger-phrase only applies to comments, issues and pull requests"
    : raw["trigger-label"] && "trigger-label only applies to issues and pull requests";
  const problem = trigger
    ? say`is empty, and ${trusted(trigger)}, not to ${eventName || "other"} events. Set prompt or prompt-file for these, or run the step only on events that it applies to`
    : say`is empty. Set prompt or prompt-file, or only job-id to wait for that job`;
  return [{ input: "prompt", problem }];
}

function intervalProblems(values: Partial<Record<InputName, unknown>>): Problem[] {
  const { "poll-interval-seconds": minSeconds, "max-poll-interval-seconds": maxSeconds } = values;
  if (typeof minSeconds !== "number" || typeof maxSeconds !== "number" || maxSeconds >= minSeconds) return [];
  const problem = say`is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`;
  return [{ input: "max-poll-interval-seconds", problem }];
}

function sessionProblems(raw: RawInputs): Problem[] {
  if (raw.session === "" || raw["job-id"] === "") return [];
  return [{ input: "session", problem: say`cannot be used together with job-id` }];
}

function baseProblems(raw: RawInputs): Problem[] {
  const baseUrl = URL.parse(raw["base-url"]);
  if (raw.base === "" || !baseUrl || !isMintlify(baseUrl)) return [];
  return [{ input: "base", problem: say`needs a service of your own (base-url): the hosted one takes no branch` }];
}

function changesProblems(raw: RawInputs): Problem[] {
  if (raw.changes !== "none") return [];
  const names = (["changes-since", "paths"] as const).filter((name) => raw[name] !== inputDefaults[name]);
  return names.map((input) => ({ input, problem: say`needs changes: list or changes: diff` }));
}

function commentProblems(raw: RawInputs, template: string): Problem[] {
  const problems: Problem[] = [];
  const known = placeholders(raw.changes !== "none");
  const unknown = unknownPlaceholders(template, known);
  if (unknown.length > 0) {
    problems.push({
      input: raw["prompt-file"] ? "prompt-file" : "prompt",
      problem: say`uses ${unknown.map((name) => `{{ ${name} }}`).join(", ")}, but the only placeholders are ${trusted(known.join(", "))}`,
    });
  }
  return problems;
}

function tokenProblems(raw: RawInputs, isComment: boolean): Problem[] {
  const user = !isComment ? "changes" : raw["trigger-phrase"] ? "trigger-phrase" : "trigger-label";
  const problem =
    raw["github-token"] === ""
      ? say`is empty, but ${trusted(user)} needs it. Leave it out to use the workflow's own token`
      : say`contains characters that no token has`;
  return /^[\x21-\x7e]+$/.test(raw["github-token"]) ? [] : [{ input: "github-token", problem }];
}

/** Trims every value except a prompt, which is sent as written. An empty value means the default. */
function valueOrDefault(name: InputName, value: string): string {
  const trimmed = value.trim();
  if (trimmed === "") return inputDefaults[name];
  return name === "prompt" ? value : trimmed;
}

function taskOf(jobId: string, prompt: string): Task {
  if (!jobId) return { kind: "create", prompt };
  return prompt ? { kind: "message", jobId, prompt } : { kind: "attach", jobId };
}
