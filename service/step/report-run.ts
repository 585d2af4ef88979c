import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { cacheAccess } from "../../src/runner-kit/cache.ts";
import { join as joinTexts, say, type Text, trusted } from "../../src/runner-kit/text.ts";
import { forAnnotation } from "../../src/runner-kit/untrusted.ts";
import { errorMessage } from "../src/error-message.ts";
import { removeDirectory } from "../src/remove-directory.ts";
import { type Secret, SecretPatterns } from "../src/secret-patterns.ts";
import { JobDirectory, logsFolder } from "../src/service-folder.ts";
import { applyCommand } from "../src/store/kept-commits.ts";
import { guide } from "./guide.ts";
import type { Report } from "./report.ts";
import { reportAgents } from "./report-agents.ts";
import type { Runner } from "./runner.ts";
import { logFile } from "./serve.ts";
import { agentFolder } from "./setup/prepare.ts";

type Reporter = Pick<Runner, "annotate" | "group">;

const maxLogLines = 100;
const maxTranscriptBytes = 50_000_000;

export interface RunOfService {
  folder: string;
  report: Report;
  /** Whether GitHub made the token for the workflow. */
  isWorkflowToken: boolean;
  isOwnRepository: boolean;
  environment: NodeJS.ProcessEnv;
  /** Which the transcript must not have. */
  secrets: Iterable<Secret>;
  /** The file for it. */
  transcript: string;
  /** The file for work that could not be kept. */
  workFile: string;
}

/** Says what a workflow's author should know of a service that has ended, and removes its files. */
export async function reportRun(
  runner: Reporter,
  { folder, report, isWorkflowToken, isOwnRepository, environment, secrets, transcript, workFile }: RunOfService,
): Promise<void> {
  // First: it is what has been paid for.
  reportUnkept(runner, report, workFile);
  const logs = jobLogs(folder);
  await writeTranscript(transcript, folder, logs, new SecretPatterns(secrets)).catch((error: unknown) =>
    annotate(runner, "warning", "The log file is missing", say`It could not be written: ${errorMessage(error)}`),
  );
  if (isWorkflowToken) reportPullRequests(runner, report, environment);
  reportUnsaved(runner, report);
  reportAgents(runner, logs, isOwnRepository && cacheAccess(environment) === "write");
  const isDebug = environment.RUNNER_DEBUG === "1";
  // The service's own log is always there: a step can fail without a job.
  const explained = new Set([...report.failedJobs, ...report.openJobs]);
  showLogs(runner, folder, logs, [...(isDebug ? logs.keys() : explained)]);
  await removeDirectory(folder);
  await removeDirectory(agentFolder(folder));
}

/** Returns the logs of jobs by their ids. */
function jobLogs(folder: string): Map<string, string> {
  const logs = logsFolder(join(folder, "service"));
  const names = globSync("*.log", { cwd: logs });
  return new Map(names.map((name) => [basename(name, ".log"), readFileSync(join(logs, name), "utf8")]));
}

/** Writes the logs of jobs, and below each all events that its agent has printed, without secrets. Does nothing if there are none. */
async function writeTranscript(
  file: string,
  folder: string,
  logs: ReadonlyMap<string, string>,
  patterns: SecretPatterns,
): Promise<void> {
  const texts = [...logs].flatMap(([id, log]) => {
    const { events } = new JobDirectory(join(folder, "service"), id);
    return [log, ...(existsSync(events) ? [readFileSync(events, "utf8")] : [])];
  });
  const whole = Buffer.from(texts.join("\n"));
  if (whole.length === 0) return;
  // The end is what explains it.
  const text = ((await patterns.mask(whole)) ?? whole).subarray(-maxTranscriptBytes);
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
}

function reportPullRequests(runner: Reporter, { pullRequests }: Report, environment: NodeJS.ProcessEnv): void {
  const [first] = pullRequests;
  if (first !== undefined)
    annotate(
      runner,
      "notice",
      "Workflows wait for approval",
      say`${first} was opened with the workflow's own token, so its workflows, such as CI, wait for approval: press "Approve workflows to run" in it. To have them run at once, pass the token of a GitHub App as \`github-token\`: see ${trusted(guide("pull-requests-that-start-ci", environment))}.`,
    );
}

function reportUnsaved(runner: Reporter, { unsavedJobs }: Report): void {
  if (unsavedJobs.size === 0) return;
  annotate(
    runner,
    "warning",
    "Jobs cannot be continued by a later run",
    say`They could not be saved in the Actions cache. ${joinTexts(
      Array.from(unsavedJobs, ([id, reason]) => say`${id}: ${reason}.`),
      " ",
    )}`,
  );
}

/** Writes work that is lost with its runner otherwise, and says how it outlives that. */
function reportUnkept(runner: Reporter, { unkeptWork }: Report, file: string): void {
  if (unkeptWork.size === 0) return;
  try {
    writeFileSync(file, Buffer.concat([...unkeptWork.values()]), { mode: 0o600, flag: "wx" });
  } catch (error) {
    // A part of it would be taken for all.
    rmSync(file, { force: true });
    const text = say`What the agent changed could neither be published nor be kept, nor be written to a file on this runner: ${errorMessage(error)}. A re-run pays for it again.`;
    annotate(runner, "warning", "The work file is missing", text);
    return;
  }
  annotate(
    runner,
    "warning",
    "Work is only in a file on this runner",
    say`What the agent changed could neither be published nor be kept in the repository or its cache: a re-run pays for it again. It is in the file that the output work-file names, until the workflow's job ends: only a step that this run already has, with \`if: always()\` and \`actions/upload-artifact\`, can keep it. To apply it: \`${trusted(applyCommand)} FILE\`.`,
  );
}

function showLogs(runner: Reporter, folder: string, logs: ReadonlyMap<string, string>, jobs: readonly string[]): void {
  for (const id of jobs) showLog(runner, id, logs.get(id) ?? "");
  try {
    showLog(runner, "the agent service", readFileSync(join(folder, logFile), "utf8"));
  } catch {
    // The service was never started.
  }
}

function showLog(runner: Reporter, what: string, text: string): void {
  if (text !== "") runner.group(`Log of ${what}`, lastLines(text));
}

const lastLines = (text: string): string[] => text.trimEnd().split("\n").slice(-maxLogLines);

function annotate(runner: Reporter, level: "notice" | "warning", title: string, text: Text): void {
  runner.annotate(level, title, forAnnotation(text));
}
