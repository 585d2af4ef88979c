import { type Credentials, keyCredentials } from "../client/credentials.ts";
import type { AgentSettings } from "../runner-kit/agent-service.ts";
import { message, say } from "../runner-kit/text.ts";
import { readPromptFile } from "./inputs/prompt-file.ts";
import { type InputsResult, parseInputs } from "./inputs/schema.ts";
import { outputsOf } from "./outputs.ts";
import type { OwnAgent } from "./own-agent.ts";
import { endingOf } from "./report/ending.ts";
import { RunLog } from "./report/log.ts";
import { renderSummary } from "./report/summary.ts";
import type { Execution, Run, RunPorts } from "./run.ts";
import { runJob } from "./run-job.ts";
import { RunState } from "./run-state.ts";
import { missingCertificates, runAttempt } from "./runner/environment.ts";
import type { IdTokenPorts } from "./runner/id-token.ts";
import type { Toolkit } from "./runner/toolkit.ts";
import type { Mode } from "./settings.ts";
import { StepKey } from "./step-key.ts";

/** Everything that the action needs from outside. */
export interface Ports extends RunPorts {
  toolkit: Toolkit;
  /** Returns credentials that are OIDC tokens of the workflow run; only called with `auth: github-oidc`. */
  connectIdTokens: (audience: string, ports: IdTokenPorts) => Promise<Credentials>;
  /** Returns the agent that runs with the step; only called with the input `agent`. It starts nothing yet. */
  createAgent: (settings: AgentSettings) => Promise<OwnAgent>;
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
  warnOfEnvironment(environment, log);

  const { inputs, execution, agent } = await runStep(ports, state, log);
  // Before anything else: what follows can fail. No agent outlives this.
  await agent?.end();
  state.logFile = agent?.logFile ?? "";
  state.workFile = agent?.workFile ?? "";
  if (agent && state.jobId !== "" && state.stop !== "ended") state.stop = "stopped";
  const settings = inputs?.ok ? inputs.settings : undefined;
  const comment = inputs?.ok && inputs.mode.kind === "comment" ? inputs.mode : undefined;
  const { result, task, rerun = repeats, finish } = execution;

  const now = clock.now();
  const failOn = settings?.failOn ?? new Set();
  const ending = endingOf(result, { settings, task, state, rerun, comment }, failOn, state.elapsedMs(now));
  const skipReason = result.kind === "skipped" ? result.reason : "";
  const outputsError = trySetOutputs(outputsOf(ending.outcome, state, now, skipReason), toolkit);
  log.ended(ending, state);
  if (outputsError) {
    log.error(message`
      Cannot write outputs
      The outputs could not be written, so the step fails: ${outputsError}. The job's id is in the log.`);
  }
  if (inputs?.summary ?? true) {
    try {
      await toolkit.writeSummary(renderSummary(ending, { state, settings, task }));
    } catch (error) {
      log.warning(message`
        Cannot write the job summary
        The job summary is missing: ${String(error)}.`);
    }
  }
  await finish?.(ending);
  if (result.kind === "invalid-inputs") {
    const { rememberInvalidInputs } = await import("./memory/words.ts");
    await rememberInvalidInputs(toolkit.input("matrix-leg").trim(), ports);
  }
  return ending.level !== "error" && !outputsError;
}

/** Masks a secret line by line, as the runner does, before anything is printed; lines under 8 characters match too much. */
function maskSecret(value: string, toolkit: Pick<Toolkit, "mask">): void {
  const secret = value.trim();
  for (const line of secret.split(/[\r\n]/)) {
    if (line !== "" && (line === secret || line.length >= 8)) toolkit.mask(line);
  }
}

function warnOfEnvironment(environment: NodeJS.ProcessEnv, log: RunLog): void {
  if (environment.ACT === "true") log.line("Under act, run ids mean nothing: each re-run counts as a new run.");
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    log.warning(message`
      TLS certificates are not verified
      NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone between the runner and the service can read the API key or token. Remove it, and set NODE_EXTRA_CA_CERTS to the file of a private certificate authority instead.`);
  }
  const certificates = missingCertificates(environment);
  if (certificates !== undefined) {
    log.warning(message`
      Certificates are not used
      NODE_EXTRA_CA_CERTS is ${certificates}, which does not exist on this runner, so Node ignores it. A service with a certificate of a private authority cannot be reached without it.`);
  }
}

/** Reads the inputs and runs what they ask for. Never rejects; `inputs` is `undefined` after a crash while they are read. */
async function runStep(
  ports: Ports,
  state: RunState,
  log: RunLog,
): Promise<{ inputs: InputsResult | undefined; execution: Execution; agent?: OwnAgent | undefined }> {
  let inputs: InputsResult | undefined;
  let agent: OwnAgent | undefined;
  try {
    const { toolkit, environment } = ports;
    const workspace = environment.GITHUB_WORKSPACE || process.cwd();
    const read = (name: string): string => toolkit.input(name);
    inputs = parseInputs(read, environment, (path) => readPromptFile(path, workspace));
    if (!inputs.ok) {
      state.mayHaveEarlier = runAttempt(environment) > 1;
      const { problems, skipped } = inputs;
      return { inputs, execution: { result: skipped ?? { kind: "invalid-inputs", problems } } };
    }
    const { settings, mode } = inputs;
    const publishJobId = (jobId: string): void => void trySetOutputs({ "job-id": jobId }, ports.toolkit);
    const { apiKey, baseUrl } = settings;
    if (settings.agent) {
      maskSecret(apiKey, toolkit);
      agent = await ports.createAgent(settings.agent);
    }
    const own = agent;
    const runPorts = own ? { ...ports, agent: own, connect: () => own.connect(ports.connect("http:")) } : ports;
    const onTrace = (line: string): void => log.debug(line);
    const mask = (token: string): void => ports.toolkit.mask(token);
    const credentials =
      settings.auth === "key"
        ? keyCredentials(apiKey)
        : await ports.connectIdTokens(baseUrl.origin, { ...ports, mask, onTrace });
    const jobId = mode.kind === "comment" ? mode.jobId : mode.task.kind === "message" ? mode.task.jobId : "";
    const key = new StepKey({ ...settings, jobId }, ports.environment);
    const run: Run = { settings, ports: runPorts, credentials, key, state, log, publishJobId };
    return { inputs, execution: await runMode(mode, run), agent };
  } catch (error) {
    log.debugError(error);
    return { inputs, execution: { result: { kind: "crashed", error } }, agent };
  }
}

async function runMode(mode: Mode, run: Run): Promise<Execution> {
  if (mode.kind === "comment") {
    // Loaded here, because it would make every other step start later.
    const { runComment } = await import("./comment-mode.ts");
    return runComment(mode, run);
  }
  const { task } = mode;
  if (task.kind !== "attach") {
    // Loaded before anything is sent: what follows a create must not depend on it.
    const { sendTask } = await import("./send-once.ts");
    return sendTask(task, run);
  }
  if (!run.settings.dryRun) return { result: await runJob(task, run), task };
  const plan = say`It would wait for job ${task.jobId}.`;
  return { result: { kind: "skipped", reason: "dry-run", plan }, task };
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
