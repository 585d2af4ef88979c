import { isCommentEvent } from "./comments/event.ts";
import { type Story, type StoryPorts, tell } from "./execute.ts";
import { readPromptFile } from "./inputs/prompt-file.ts";
import { parseInputs } from "./inputs/schema.ts";
import { outcomeOf, outputsOf, passes } from "./outcome.ts";
import { RunLog } from "./report/log.ts";
import { renderResult } from "./report/reply.ts";
import { describeEnding } from "./report/result-text.ts";
import { renderSummary } from "./report/summary.ts";
import { say } from "./report/text.ts";
import { Facts } from "./run-state.ts";
import type { Toolkit } from "./runner/toolkit.ts";

/** All that the action needs from outside. */
export interface Ports extends Omit<StoryPorts, "announceJob"> {
  toolkit: Toolkit;
}

/** Runs the step: true where it passes. Whatever happens, every output is set and the log says how it ended. */
export async function main(ports: Ports): Promise<boolean> {
  const { toolkit, clock, environment } = ports;
  const log = new RunLog(toolkit);
  const facts = new Facts();
  mask(toolkit, "api-key");
  mask(toolkit, "github-token");
  // If the process is killed before it can say how it ended, then the job's fate is unknown.
  trySetOutputs(outputsOf("error", facts, clock.now()), toolkit);
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    log.warn(
      "Certificates are not checked",
      say`NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone on the way to the service can read the API key. Remove it, and name a private authority in NODE_EXTRA_CA_CERTS instead.`,
    );
  }

  const workspace = environment.GITHUB_WORKSPACE || process.cwd();
  const eventName = environment.GITHUB_EVENT_NAME;
  const inputs = parseInputs({
    read: (name) => toolkit.input(name),
    readPromptFile: (path) => readPromptFile(path, workspace),
    isCommentEvent: isCommentEvent(eventName),
  });
  const settings = inputs.ok ? inputs.settings : undefined;
  const announceJob = (jobId: string): void => void trySetOutputs({ "job-id": jobId }, toolkit);
  const { ending, task, finish }: Story = inputs.ok
    ? await tell(inputs, { ...ports, announceJob }, facts, log)
    : { ending: { kind: "refused-inputs", problems: inputs.problems } };

  const now = clock.now();
  const elapsedMs = facts.elapsedMs(now);
  const outcome = outcomeOf(ending, facts);
  const hasPassed = passes(outcome, settings?.failOn ?? new Set());
  const message = describeEnding(ending, outcome, { settings, task, facts });
  const skipReason = ending.kind === "skipped" ? ending.reason : "";
  const outputsFault = trySetOutputs(outputsOf(outcome, facts, now, skipReason), toolkit);
  log.ended(outcome, message, hasPassed, facts, elapsedMs);
  if (outputsFault)
    log.fail("Outputs cannot be written", say`The step fails because its outputs are lost: ${outputsFault}.`);
  if (inputs.ok ? inputs.settings.summary : inputs.summary) {
    const projectId = settings?.projectId ?? "";
    await writeSummary(renderSummary({ outcome, message, facts, projectId, task, elapsedMs }), toolkit, log);
  }
  await finish?.(outcome, (frame) => renderResult({ outcome, message, facts, elapsedMs }, frame));
  return hasPassed && !outputsFault;
}

/** Before anything is printed. The mask of a text of several lines would hide each of them, however short. */
function mask(toolkit: Toolkit, input: "api-key" | "github-token"): void {
  const secret = toolkit.input(input).trim();
  for (const line of secret.split(/[\r\n]+/)) {
    if (line !== "" && (line === secret || line.length >= 8)) toolkit.mask(line);
  }
}

/** What is wrong where the runner's file cannot be written, else nothing. The log has the job's id all the same. */
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
    log.warn("Summary cannot be written", say`The job summary is missing: ${String(error)}.`);
  }
}
