import { forkAdvice } from "../../runner-kit/agent-service.ts";
import { say, type Text, trusted } from "../../runner-kit/text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import { parsePaths } from "../changes/paths.ts";
import { isClosed, isFromFork, isThreadEvent, isTriggeredBy, permissions, triggerKinds } from "../comments/event.ts";
import { hasInstruction, placeholders, unknownPlaceholders } from "../comments/prompt-template.ts";
import { isMintlify } from "../mintlify.ts";
import type { InputProblem, RunResult } from "../result.ts";
import { canRequestIdTokens } from "../runner/environment.ts";
import type { Mode, Settings, Task } from "../settings.ts";
import { parseAgent } from "./agent.ts";
import type { PromptFile } from "./prompt-file.ts";
import * as rules from "./rules.ts";

/** Every input of `action.yml`: its default, which also applies to an empty input, and its rule. */
const inputs = {
  prompt: ["", rules.anyText],
  "prompt-file": ["", rules.anyText],
  agent: ["", rules.anyText],
  "agent-options": ["", rules.anyText],
  setup: ["", rules.oneLine],
  check: ["", rules.oneLine],
  "job-id": ["", rules.identifier],
  "project-id": ["", rules.identifier],
  // Checked together with `auth`.
  "api-key": ["", rules.anyText],
  auth: ["key", rules.oneOf(rules.authMethods)],
  "base-url": ["https://api.mintlify.com", rules.baseUrl],
  wait: ["true", rules.boolean],
  "timeout-minutes": ["60", rules.positiveDecimal],
  "poll-interval-seconds": ["5", rules.positiveDecimal],
  "max-poll-interval-seconds": ["15", rules.positiveDecimal],
  "fail-on": ["failed, timed-out", rules.failOn],
  summary: ["true", rules.boolean],
  "on-rerun": ["resume", rules.oneOf(["resume", "new"])],
  "on-cancel": ["stop", rules.oneOf(["stop", "keep"])],
  base: ["", rules.baseBranch],
  "dry-run": ["false", rules.boolean],
  session: ["", rules.sessionName],
  changes: ["none", rules.oneOf(["none", "list", "diff"], "must be none, list or diff")],
  "changes-since": ["auto", rules.changesSince],
  paths: ["", parsePaths],
  "trigger-phrase": ["", rules.anyText],
  "trigger-label": ["", rules.anyText],
  "required-permission": ["write", rules.oneOf(permissions, `must be one of ${permissions.join(", ")}`)],
  "allowed-bots": ["", rules.allowedBots],
  reply: ["true", rules.boolean],
  // In action.yml, the runner fills in the defaults of these: the workflow's own token, which is only checked if it is
  // needed, and the matrix.
  "github-token": ["", rules.anyText],
  "workflow-token": ["", rules.anyText],
  "matrix-leg": ["", rules.anyText],
} as const satisfies Record<string, readonly [string, rules.Rule<unknown>]>;

export type InputName = keyof typeof inputs;
const inputNames = Object.keys(inputs) as InputName[];

/** The default of every input. */
export const inputDefaults = mapInputs((name): string => inputs[name][0]);

function mapInputs<T>(map: (name: InputName) => T): Record<InputName, T> {
  return Object.fromEntries(inputNames.map((name) => [name, map(name)])) as Record<InputName, T>;
}

type Problem = InputProblem & { input: InputName };

/** `summary` is known even if other inputs are invalid. `skipped`: the inputs do not matter, because there is nothing to do. */
export type InputsResult = { summary: boolean } & (
  | { ok: true; settings: Settings; mode: Mode }
  | { ok: false; problems: Problem[]; skipped?: Extract<RunResult, { kind: "skipped" }> }
);

/** The inputs as they are written, trimmed and with defaults. */
type RawInputs = Record<InputName, string>;
type Values = { [Name in InputName]: (typeof inputs)[Name][1] extends rules.Rule<infer T> ? T : never };

/**
 * Parses all inputs, and returns either typed values or all problems at once. `read` returns the raw value, empty if it is not
 * set; `readFile` reads the prompt from the workspace.
 */
export function parseInputs(
  read: (name: InputName) => string,
  environment: NodeJS.ProcessEnv,
  readFile: (path: string) => PromptFile,
): InputsResult {
  const { GITHUB_EVENT_NAME: eventName = "" } = environment;
  const hasIdTokens = canRequestIdTokens(environment);
  const given = mapInputs((name) => valueOrDefault(name, read(name)));
  const isGiven = (name: InputName): boolean => given[name] !== inputDefaults[name];
  const agent = isGiven("agent") ? parseAgent(given, isGiven, environment) : undefined;
  const raw: RawInputs = { ...given, ...agent?.inputs };
  const problems: Problem[] = [...(agent?.problems ?? [])];
  const add: Add = (input, problem) => {
    if (problem) problems.push({ input, problem });
  };
  const parsed = parseValues(raw, add);
  const file = raw["prompt-file"] ? readFile(raw["prompt-file"]) : undefined;
  const prompt = file && "text" in file ? file.text : raw.prompt;
  const isComment = isTriggeredBy(eventName, raw["trigger-phrase"], raw["trigger-label"]);
  const summary = parsed.summary ?? true;
  const hasTrigger = raw["trigger-phrase"] !== "" || raw["trigger-label"] !== "";
  if (hasTrigger && !isComment && (hasInstruction(prompt) || isClosed(environment)))
    return { ok: false, problems: [], skipped: { kind: "skipped", reason: "no-trigger", event: eventName }, summary };
  const isServiceKeyMissing = raw.auth === "github-oidc" ? !hasIdTokens : raw["api-key"] === "";
  const isMissing = agent ? agent.hasNoKey : isServiceKeyMissing;
  // The key is not missing by mistake, and the step must not fail for every pull request from a fork.
  if (isComment && isThreadEvent(eventName) && isMissing && isFromFork(environment)) {
    const skipped = { kind: "skipped", reason: "fork", triggerKind: triggerKinds[eventName] } as const;
    return { ok: false, problems: [], skipped, summary };
  }
  const baseUrl = URL.parse(raw["base-url"]);
  const isHosted = baseUrl !== null && isMintlify(baseUrl);
  if (!agent) checkAccess(raw, isHosted, hasIdTokens, add);
  checkPrompt(raw, file, isComment, environment, add);
  checkCombinations(raw, parsed, isHosted, isComment || prompt !== "", add);
  if (isComment) checkTemplate(raw, prompt, add);
  else if (hasInstruction(prompt))
    add(
      raw["prompt-file"] ? "prompt-file" : "prompt",
      say`uses {{ instruction }}, but without trigger-phrase and trigger-label nothing takes its place. Set one of them`,
    );
  if (isComment || agent || raw.changes !== "none") checkToken(raw, isComment, add);
  if (problems.length > 0) return { ok: false, problems, summary };

  // Without a problem, there is a value of each.
  const values = parsed as Values;
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
    onRerun: values["on-rerun"],
    onCancel: values["on-cancel"],
    base: values.base,
    dryRun: values["dry-run"],
    session: values["job-id"] === "" ? values.session : "",
    changes:
      values.changes === "none"
        ? undefined
        : { since: values["changes-since"], paths: values.paths, withPatches: values.changes === "diff" },
    githubToken: values["github-token"],
    workflowToken: values["workflow-token"] || values["github-token"],
    matrixLeg: values["matrix-leg"],
    agent: agent?.settings,
  };
  if (!isComment)
    return { ok: true, summary, settings, mode: { kind: "plain", task: taskOf(values["job-id"], prompt) } };
  const mode: Mode = {
    kind: "comment",
    phrase: values["trigger-phrase"],
    label: values["trigger-label"],
    template: prompt === "" ? undefined : prompt,
    jobId: values["job-id"],
    reply: values.reply,
    requiredPermission: values["required-permission"],
    allowedBots: values["allowed-bots"],
  };
  return { ok: true, summary, settings, mode };
}

/** Adds what is wrong with an input, if anything is. */
type Add = (input: InputName, problem: Text | undefined) => undefined;

/** Parses each value by its rule. Those with a problem are missing. */
function parseValues(raw: RawInputs, add: Add): Partial<Values> {
  const values: Partial<Record<InputName, unknown>> = {};
  for (const input of inputNames) {
    const parsed = inputs[input][1](raw[input]);
    if ("problem" in parsed) add(input, quoting(parsed.problem, raw[input]));
    else values[input] = parsed.value;
  }
  return values as Partial<Values>;
}

/** Names a wrong value beside the right ones, unless it may have credentials. */
function quoting(problem: string, value: string): Text {
  const isQuoted = /^must be(?:gin)? /.test(problem) && value !== "" && !value.includes("@");
  return isQuoted ? say`${trusted(problem)}, not ${excerpt(value, 100)}` : trusted(problem);
}

/** Checks what the service, the project and the authentication of requests are named by. */
function checkAccess(raw: RawInputs, isHosted: boolean, hasIdTokens: boolean, add: Add): undefined {
  if (raw["project-id"] === "") {
    const where = isHosted
      ? "Copy it from the API keys page of the dashboard"
      : "Set it to the project's identifier in the service";
    add(
      "project-id",
      say`is empty. ${trusted(where)}. If it is \${{ vars.NAME }}, define that variable in the repository's settings`,
    );
  }
  if (raw.auth !== "github-oidc") {
    const problem = rules.apiKeyProblem(raw["api-key"]);
    return add("api-key", problem === undefined ? undefined : trusted(problem));
  }
  if (raw["api-key"] !== "")
    add("api-key", say`cannot be used together with auth: github-oidc, which takes its place. Remove one of them`);
  if (isHosted)
    add(
      "base-url",
      say`must be the address of a service that trusts this repository: with auth: github-oidc, a token is never sent to the default base-url`,
    );
  if (!hasIdTokens)
    add(
      "auth",
      say`is github-oidc, but this job may not request a token. Add to the job: permissions: { contents: read, id-token: write }. Permissions that are not named there are none, so name all others that the job needs, too. ${trusted(forkAdvice)}`,
    );
}

/** In UTF-16 units. A longer environment variable of Windows may be cut off without an error. */
const maxPromptOnWindows = 32_767 - "INPUT_PROMPT=\0".length;

function checkPrompt(
  raw: RawInputs,
  file: PromptFile | undefined,
  isComment: boolean,
  { GITHUB_EVENT_NAME: eventName, RUNNER_OS }: NodeJS.ProcessEnv,
  add: Add,
): undefined {
  if (RUNNER_OS === "Windows" && raw.prompt.length > maxPromptOnWindows)
    return add(
      "prompt",
      say`has ${raw.prompt.length} characters. Windows passes at most ${maxPromptOnWindows} to an action: more may be cut off. Write the prompt to a file, and use prompt-file`,
    );
  if (raw.prompt && raw["prompt-file"]) return add("prompt-file", say`cannot be used together with prompt`);
  if (file && "problem" in file) return add("prompt-file", file.problem);
  if (raw.prompt || file || raw["job-id"] || isComment) return;
  const trigger = raw["trigger-phrase"]
    ? "trigger-phrase only applies to comments, issues and pull requests"
    : raw["trigger-label"] && "trigger-label only applies to issues and pull requests";
  const problem = trigger
    ? say`is empty, and ${trusted(trigger)}, not to ${eventName || "other"} events. Set prompt or prompt-file for these, or run the step only on events that it applies to`
    : say`is empty. Set prompt or prompt-file, or only job-id to wait for that job`;
  add("prompt", problem);
}

/** Checks inputs that need each other, or that cannot be used together. */
function checkCombinations(
  raw: RawInputs,
  values: Partial<Values>,
  isHosted: boolean,
  hasPrompt: boolean,
  add: Add,
): undefined {
  const { "poll-interval-seconds": minSeconds = 0, "max-poll-interval-seconds": maxSeconds = Infinity } = values;
  if (maxSeconds < minSeconds)
    add(
      "max-poll-interval-seconds",
      say`is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`,
    );
  for (const input of ["agent-options", "setup", "check"] as const)
    if (raw[input] !== "" && raw.agent === "") add(input, say`needs agent`);
  if (raw.agent !== "" && raw["job-id"] !== "" && !hasPrompt)
    add("job-id", say`needs a prompt with agent: an agent ends with its step, so that there is no job to wait for`);
  if (raw.base !== "" && isHosted)
    add("base", say`needs a service of your own (base-url): the hosted one takes no branch`);
  for (const input of ["changes-since", "paths"] as const)
    if (raw.changes === "none" && raw[input] !== inputDefaults[input])
      add(input, say`needs changes: list or changes: diff`);
}

function checkTemplate(raw: RawInputs, template: string, add: Add): undefined {
  const known = placeholders(raw.changes !== "none");
  const unknown = unknownPlaceholders(template, known).map((name) => `{{ ${name} }}`);
  if (unknown.length === 0) return;
  const problem = say`uses ${unknown.join(", ")}, but the only placeholders are ${trusted(known.join(", "))}`;
  add(raw["prompt-file"] ? "prompt-file" : "prompt", problem);
}

function checkToken(raw: RawInputs, isComment: boolean, add: Add): undefined {
  const trigger = raw["trigger-phrase"] ? "trigger-phrase" : "trigger-label";
  const user = isComment ? trigger : raw.agent ? "agent" : "changes";
  const problem =
    raw["github-token"] === ""
      ? say`is empty, but ${trusted(user)} needs it. Leave it out to use the workflow's own token`
      : say`contains characters that no token has`;
  if (!rules.tokenPattern.test(raw["github-token"])) add("github-token", problem);
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
