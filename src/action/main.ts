import { type Credentials, keyCredentials } from "../client/credentials.ts";
import { say } from "../runner-kit/text.ts";
import { isFromFork } from "./comments/fork.ts";
import { execute } from "./execute.ts";
import type { Execution } from "./execution.ts";
import { maskSecret } from "./inputs/mask-secret.ts";
import { readPromptFile } from "./inputs/prompt-file.ts";
import { type InputsResult, parseInputs, type Settings } from "./inputs/schema.ts";
import type { ModePorts } from "./mode-ports.ts";
import { passes } from "./outcome.ts";
import { outputsOf } from "./outputs.ts";
import { RunLog } from "./report/log.ts";
import { renderResult } from "./report/reply.ts";
import { describeResult } from "./report/result-text.ts";
import { renderSummary } from "./report/summary.ts";
import { outcomeOf } from "./result.ts";
import { RunState } from "./run-state.ts";
import { canRequestIdTokens } from "./runner/environment.ts";
import { readEventFile } from "./runner/event-file.ts";
import type { IdTokenPorts } from "./runner/id-token.ts";
import type { Toolkit } from "./runner/toolkit.ts";

/** Everything that the action needs from outside. */
export interface Ports extends Omit<ModePorts, "publishJobId" | "credentials"> {
  toolkit: Toolkit;
  /** Returns credentials that are OIDC tokens of the workflow run; only called with `auth: github-oidc`. */
  connectIdTokens: (audience: string, ports: IdTokenPorts) => Promise<Credentials>;
}

/** Runs the step and returns whether it passes. Whatever happens, all outputs are set and the log has the outcome. */
export async function main(ports: Ports): Promise<boolean> {
  const { toolkit, clock, environment } = ports;
  const log = new RunLog(toolkit);
  const state = new RunState();
  for (const name of ["api-key", "github-token"]) maskSecret(toolkit.input(name), toolkit);
  // If the process is killed before it can report a result, the outcome is an error.
  trySetOutputs(outputsOf("error", state, clock.now()), toolkit);
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    log.warn(
      "TLS certificates are not verified",
      say`NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone between the runner and the service can read the API key or token. Remove it, and set NODE_EXTRA_CA_CERTS to the file of a private certificate authority instead.`,
    );
  }

  const { inputs, execution } = await run(ports, state, log);
  const settings = inputs?.ok ? inputs.settings : undefined;
  const wantsSummary = inputs === undefined || (inputs.ok ? inputs.settings.summary : inputs.summary);
  const comment = inputs?.ok && inputs.mode.kind === "comment" ? inputs.mode : undefined;
  const { result, task, rerun = "repeats", finish } = execution;

  const now = clock.now();
  const elapsedMs = state.elapsedMs(now);
  const outcome = outcomeOf(result, state);
  const hasPassed = passes(outcome, settings?.failOn ?? new Set());
  const message = describeResult(result, { settings, task, state, rerun, comment });
  const skipReason = result.kind === "skipped" ? result.reason : "";
  const outputsError = trySetOutputs(outputsOf(outcome, state, now, skipReason), toolkit);
  log.ended(outcome, message, hasPassed, state, elapsedMs);
  if (outputsError) {
    log.error(
      "Cannot write outputs",
      say`The outputs could not be written, so the step fails: ${outputsError}. The job's id is in the log.`,
    );
  }
  if (wantsSummary) {
    const { projectId = "", session = "" } = settings ?? {};
    await writeSummary(renderSummary({ outcome, message, state, projectId, session, task, elapsedMs }), toolkit, log);
  }
  await finish?.(outcome, (frame) => renderResult({ outcome, message, state, elapsedMs }, frame));
  return hasPassed && !outputsError;
}

/** Parses the inputs and executes the step. Never rejects; `inputs` is `undefined` after a crash. */
async function run(
  ports: Ports,
  state: RunState,
  log: RunLog,
): Promise<{ inputs: InputsResult | undefined; execution: Execution }> {
  const { toolkit, environment } = ports;
  try {
    const workspace = environment.GITHUB_WORKSPACE || process.cwd();
    const eventName = environment.GITHUB_EVENT_NAME ?? "";
    const inputs = parseInputs({
      canRequestIdTokens: canRequestIdTokens(environment),
      read: (name) => toolkit.input(name),
      readPromptFile: (path) => readPromptFile(path, workspace),
      eventName,
      isFromFork: () => isFromFork(eventName, () => readEventFile(environment.GITHUB_EVENT_PATH ?? "")),
    });
    if (!inputs.ok) {
      const { problems, skipped } = inputs;
      return { inputs, execution: { result: skipped ?? { kind: "invalid-inputs", problems } } };
    }
    const publishJobId = (jobId: string): void => void trySetOutputs({ "job-id": jobId }, toolkit);
    const credentials = await connectCredentials(inputs.settings, ports, log);
    return { inputs, execution: await execute(inputs, { ...ports, credentials, publishJobId }, state, log) };
  } catch (error) {
    log.debugError(error);
    return { inputs: undefined, execution: { result: { kind: "crashed", error } } };
  }
}

/** Returns what authenticates all requests of the step to the service. */
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
    log.warn("Cannot write the job summary", say`The job summary is missing: ${String(error)}.`);
  }
}
