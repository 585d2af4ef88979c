import { type Credentials, keyCredentials } from "../client/credentials.ts";
import { isFromFork } from "./comments/fork.ts";
import { maskSecret } from "./inputs/mask-secret.ts";
import { readPromptFile } from "./inputs/prompt-file.ts";
import { type InputsResult, parseInputs } from "./inputs/schema.ts";
import { passes } from "./outcome.ts";
import { outputsOf } from "./outputs.ts";
import { runPlain } from "./plain-mode.ts";
import { RunLog } from "./report/log.ts";
import { describeResult } from "./report/result-text.ts";
import { renderSummary } from "./report/summary.ts";
import { outcomeOf } from "./result.ts";
import type { Execution, Run, RunPorts } from "./run.ts";
import { RunState } from "./run-state.ts";
import { canRequestIdTokens, isWindows } from "./runner/environment.ts";
import { readEventFile } from "./runner/event-file.ts";
import { missingCertificates } from "./runner/extra-certificates.ts";
import type { IdTokenPorts } from "./runner/id-token.ts";
import type { Toolkit } from "./runner/toolkit.ts";
import type { Mode, Settings } from "./settings.ts";
import { StepKey } from "./step-key.ts";

/** Everything that the action needs from outside. */
export interface Ports extends RunPorts {
  toolkit: Toolkit;
  /** Returns credentials that are OIDC tokens of the workflow run; only called with `auth: github-oidc`. */
  connectIdTokens: (audience: string, ports: IdTokenPorts) => Promise<Credentials>;
}

/** What a re-run does if nothing is remembered. */
const repeats = { usable: "repeats", over: "repeats" } as const;

/** Runs the step and returns whether it passes. Whatever happens, all outputs are set and the log has the outcome. */
export async function main(ports: Ports): Promise<boolean> {
  const { toolkit, clock, environment } = ports;
  const log = new RunLog(toolkit);
  const state = new RunState();
  for (const name of ["api-key", "github-token"]) maskSecret(toolkit.input(name), toolkit);
  // If the process is killed before it can report a result, the outcome is an error.
  trySetOutputs(outputsOf("error", state, clock.now()), toolkit);
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") log.tlsIsNotVerified();
  const certificates = missingCertificates(environment);
  if (certificates !== undefined) log.certificatesAreMissing(certificates);

  const { inputs, execution } = await runStep(ports, state, log);
  const settings = inputs?.ok ? inputs.settings : undefined;
  const wantsSummary = inputs === undefined || (inputs.ok ? inputs.settings.summary : inputs.summary);
  const comment = inputs?.ok && inputs.mode.kind === "comment" ? inputs.mode : undefined;
  const { result, task, rerun = repeats, finish } = execution;

  const now = clock.now();
  const elapsedMs = state.elapsedMs(now);
  const outcome = outcomeOf(result, state);
  const hasPassed = passes(outcome, settings?.failOn ?? new Set());
  const message = describeResult(result, { settings, task, state, rerun, comment });
  const skipReason = result.kind === "skipped" ? result.reason : "";
  const outputsError = trySetOutputs(outputsOf(outcome, state, now, skipReason), toolkit);
  log.ended(outcome, message, hasPassed, state, elapsedMs);
  if (outputsError) log.outputsNotWritten(outputsError);
  if (wantsSummary) {
    const { projectId = "", session = "" } = settings ?? {};
    await writeSummary(renderSummary({ outcome, message, state, projectId, session, task, elapsedMs }), toolkit, log);
  }
  await finish?.({ outcome, message, elapsedMs });
  if (result.kind === "invalid-inputs") {
    const { rememberInvalidInputs } = await import("./memory/words.ts");
    await rememberInvalidInputs(toolkit.input("matrix-leg").trim(), ports);
  }
  return hasPassed && !outputsError;
}

/** Reads the inputs and runs what they ask for. Never rejects; `inputs` is `undefined` after a crash while they are read. */
async function runStep(
  ports: Ports,
  state: RunState,
  log: RunLog,
): Promise<{ inputs: InputsResult | undefined; execution: Execution }> {
  let inputs: InputsResult | undefined;
  try {
    inputs = readInputs(ports);
    if (!inputs.ok) {
      const { problems, skipped } = inputs;
      return { inputs, execution: { result: skipped ?? { kind: "invalid-inputs", problems } } };
    }
    const { settings, mode } = inputs;
    const publishJobId = (jobId: string): void => void trySetOutputs({ "job-id": jobId }, ports.toolkit);
    const credentials = await connectCredentials(settings, ports, log);
    const jobId = mode.kind === "comment" ? mode.jobId : mode.task.kind === "message" ? mode.task.jobId : "";
    const key = new StepKey({ ...settings, jobId }, ports.environment);
    const run: Run = { settings, ports, credentials, key, state, log, publishJobId };
    return { inputs, execution: await runMode(mode, run) };
  } catch (error) {
    log.debugError(error);
    return { inputs, execution: { result: { kind: "crashed", error } } };
  }
}

function readInputs({ toolkit, environment }: Ports): InputsResult {
  const workspace = environment.GITHUB_WORKSPACE || process.cwd();
  const eventName = environment.GITHUB_EVENT_NAME ?? "";
  return parseInputs({
    canRequestIdTokens: canRequestIdTokens(environment),
    isWindows: isWindows(environment),
    read: (name) => toolkit.input(name),
    readPromptFile: (path) => readPromptFile(path, workspace),
    eventName,
    isFromFork: () => isFromFork(eventName, () => readEventFile(environment.GITHUB_EVENT_PATH ?? "")),
  });
}

async function runMode(mode: Mode, run: Run): Promise<Execution> {
  if (mode.kind === "plain") return runPlain(mode.task, run);
  // Loaded here, because it would make every other step start later.
  const { runComment } = await import("./comment-mode.ts");
  return runComment(mode, run);
}

/** Returns the credentials of all requests to the service. */
async function connectCredentials(
  { auth, apiKey, baseUrl }: Settings,
  ports: Ports,
  log: RunLog,
): Promise<Credentials> {
  if (auth === "key") return keyCredentials(apiKey);
  const { toolkit, connectIdTokens } = ports;
  return connectIdTokens(baseUrl.origin, {
    ...ports,
    mask: (token) => toolkit.mask(token),
    onTrace: (trace) => log.trace(trace),
  });
}

/** Returns an error message if the outputs cannot be written. The log has the job's id in any case. */
function trySetOutputs(outputs: Readonly<Record<string, string>>, toolkit: Toolkit): string | undefined {
  try {
    for (const [name, value] of Object.entries(outputs)) toolkit.setOutput(name, value);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

async function writeSummary(markdown: string, toolkit: Toolkit, log: RunLog): Promise<void> {
  try {
    await toolkit.writeSummary(markdown);
  } catch (error) {
    log.summaryNotWritten(error);
  }
}
