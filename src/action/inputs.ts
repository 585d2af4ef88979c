import * as z from "zod/mini";
import {
  apiKey,
  baseUrl,
  boolean,
  type FailableOutcome,
  failOn,
  identifier,
  positiveDecimal,
  projectId,
} from "./input-rules.ts";
import { own, say, type Text } from "./report/text.ts";

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
} as const;

export type InputName = keyof typeof inputDefaults;

/** What the step is to do: the three ways in. */
export type Task =
  | { kind: "create"; prompt: string }
  | { kind: "message"; jobId: string; prompt: string }
  | { kind: "attach"; jobId: string };

export interface Inputs {
  task: Task;
  projectId: string;
  apiKey: string;
  baseUrl: URL;
  wait: boolean;
  timeoutMs: number;
  intervals: { minMs: number; maxMs: number };
  failOn: ReadonlySet<FailableOutcome>;
  summary: boolean;
}

/** What is wrong with an input and how to mend it; never quotes the value of `api-key`. */
export interface InputProblem {
  input: InputName;
  /** Goes on where "the input …" begins. */
  problem: Text;
}

/** `summary` is known even where other inputs are refused. */
export type InputsResult = { ok: true; inputs: Inputs } | { ok: false; problems: InputProblem[]; summary: boolean };

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
} satisfies Record<InputName, z.ZodMiniType>);

/** What became of reading the prompt file. */
export type PromptFile = { text: string } | { problem: Text };

/**
 * All inputs as one typed value, or all that is wrong with them.
 *
 * @param read - the raw value of an input, empty where it is not set
 * @param readPromptFile - the prompt in a file of the workspace
 */
export function parseInputs(
  read: (name: InputName) => string,
  readPromptFile: (path: string) => PromptFile,
): InputsResult {
  const names = Object.keys(inputDefaults) as InputName[];
  const raw = Object.fromEntries(names.map((name) => [name, valueOrDefault(name, read(name))]));
  const parsed = schema.safeParse(raw);
  const problems: InputProblem[] = (parsed.error?.issues ?? []).map((issue) => ({
    input: issue.path[0] as InputName,
    problem: own(issue.message),
  }));

  const prompt = raw.prompt ?? "";
  const promptFile = raw["prompt-file"] ?? "";
  const file = promptFile ? readPromptFile(promptFile) : undefined;
  if (prompt && promptFile) problems.push({ input: "prompt-file", problem: say`cannot be given together with prompt` });
  else if (file && "problem" in file) problems.push({ input: "prompt-file", problem: file.problem });
  else if (!prompt && !file && !raw["job-id"]) {
    problems.push({
      input: "prompt",
      problem: say`is empty. Give prompt or prompt-file, or a job-id alone to wait for that job`,
    });
  }

  const minSeconds = positiveDecimal.safeParse(raw["poll-interval-seconds"]).data ?? 0;
  const maxSeconds = positiveDecimal.safeParse(raw["max-poll-interval-seconds"]).data ?? Number.POSITIVE_INFINITY;
  if (maxSeconds < minSeconds) {
    problems.push({
      input: "max-poll-interval-seconds",
      problem: say`is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`,
    });
  }

  if (!parsed.success || problems.length > 0) {
    return { ok: false, problems, summary: boolean.safeParse(raw.summary).data ?? true };
  }
  const values = parsed.data;
  return {
    ok: true,
    inputs: {
      task: taskOf(values["job-id"], file && "text" in file ? file.text : prompt),
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
    },
  };
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
