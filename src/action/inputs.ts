import * as z from "zod/mini";
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

/** Outcomes that `fail-on` may name. */
export const failableOutcomes = ["failed", "archived", "timed-out", "no-changes"] as const;
export type FailableOutcome = (typeof failableOutcomes)[number];

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

/** A schema rule from a function that names the problem with a value, if there is one. */
const rule = (problemWith: (value: string) => string | undefined) =>
  z.check<string>((context) => {
    const message = problemWith(context.value);
    if (message) context.issues.push({ code: "custom", message, input: context.value, continue: false });
  });

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  True: true,
  TRUE: true,
  false: false,
  False: false,
  FALSE: false,
};

/** YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
const boolean = z.pipe(
  z.string().check(rule((value) => (value in booleans ? undefined : "must be true or false"))),
  z.transform((value) => booleans[value] === true),
);

const positiveDecimal = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number.isFinite(Number(value))
          ? undefined
          : "must be a plain decimal number above 0, such as 5 or 0.5",
      ),
    ),
  z.transform(Number),
);

const pathSegment = rule((value) =>
  value === "." || value === ".." ? `must not be ${value}, which would change the address of the request` : undefined,
);

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function baseUrlProblem(value: string): string | undefined {
  if (!URL.canParse(value)) return "must be an absolute URL, such as https://api.mintlify.com";
  const url = new URL(value);
  if (url.username || url.password) return "must not hold credentials; the key belongs in api-key";
  if (/[?#]/.test(value)) return "must not hold a query or a fragment";
  if (url.protocol === "https:" || (url.protocol === "http:" && loopbackHost.test(url.hostname))) return undefined;
  return "must begin with https:// (http:// is for a loopback host such as localhost alone): the key would be sent in the clear";
}

function apiKeyProblem(value: string): string | undefined {
  if (value === "") {
    return (
      "is empty. Set it from a secret: api-key: $" +
      "{{ secrets.NAME }}. Check the secret's name; in runs for pull requests from forks secrets are always empty, " +
      "and runs started by Dependabot see Dependabot's secrets alone"
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    return "holds a line break, a space or another character that no API key has. Paste the key into the secret again";
  }
  const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
  for (const [prefix, kind] of Object.entries(otherKind)) {
    if (value.startsWith(prefix)) return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
  }
  return undefined;
}

const failOn = z.pipe(
  z.string().check(
    rule((value) => {
      const names = listOf(value);
      const known: readonly string[] = failableOutcomes;
      const isValid = value === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
      return isValid
        ? undefined
        : `must list any of ${failableOutcomes.join(", ")}, separated by commas, or be none alone`;
    }),
  ),
  z.transform((value) => new Set(failableOutcomes.filter((outcome) => listOf(value).includes(outcome)))),
);

function listOf(value: string): string[] {
  return value.split(",").map((name) => name.trim());
}

const schema = z.object({
  prompt: z.string(),
  "prompt-file": z.string(),
  "job-id": z.string().check(pathSegment),
  "project-id": z.string().check(
    rule((value) => (value ? undefined : "is empty. Copy it from the API keys page of the dashboard")),
    pathSegment,
  ),
  "api-key": z.string().check(rule(apiKeyProblem)),
  "base-url": z.pipe(
    z.string().check(rule(baseUrlProblem)),
    z.transform((value) => new URL(value)),
  ),
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
