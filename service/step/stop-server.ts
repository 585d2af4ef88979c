import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { cacheAccess } from "../../src/runner-kit/cache.ts";
import { join as joinTexts, say, type Text, trusted } from "../../src/runner-kit/text.ts";
import { forAnnotation } from "../../src/runner-kit/untrusted.ts";
import { removeDirectory } from "../src/remove-directory.ts";
import { logsFolder } from "../src/service-folder.ts";
import { guide } from "./guide.ts";
import { type Report, readReport } from "./report.ts";
import { reportAgents } from "./report-agents.ts";
import type { Runner } from "./runner.ts";
import { logFile } from "./server-protocol.ts";
import { agentFolder } from "./setup/prepare.ts";

type Reporter = Pick<Runner, "annotate" | "group" | "isDebug">;

const maxLogLines = 100;

/**
 * Runs `post` of the step: stops the service, says what a workflow's author should know, and removes its files.
 *
 * @param graceMs - how long the service has to stop its agents and to save their jobs. Default: 150 s
 */
export async function stopServer(runner: Runner, graceMs = 150_000): Promise<void> {
  const folder = runner.state("folder");
  if (folder === "") return;
  const hasCrashed = await stopProcess(Number(runner.state("process")), folder, graceMs);
  const isWorkflowToken = runner.state("isWorkflowToken") === "true";
  await reportRun(runner, { folder, hasCrashed, isWorkflowToken, environment: process.env });
}

export interface RunOfService {
  folder: string;
  /** Whether the service ended before it was told to. */
  hasCrashed: boolean;
  /** Whether GitHub made the token for the workflow. */
  isWorkflowToken: boolean;
  environment: NodeJS.ProcessEnv;
}

/** Says what a workflow's author should know of a service that has ended, and removes its files. */
export async function reportRun(
  runner: Reporter,
  { folder, hasCrashed, isWorkflowToken, environment }: RunOfService,
): Promise<void> {
  const report = readReport(folder);
  const logs = jobLogs(folder);
  if (report !== undefined) {
    if (hasCrashed)
      annotate(
        runner,
        "error",
        "The agent service ended early",
        say`It was no longer running at the end of the job. Its log is below. Report this bug if the log does not say why.`,
      );
    if (isWorkflowToken) reportPullRequests(runner, report, environment);
    reportUnsaved(runner, report);
    reportAgents(runner, logs, cacheAccess(environment) === "write");
  }
  // The service's own log is always there: a step can fail without a job.
  showLogs(runner, folder, logs, runner.isDebug() ? [...logs.keys()] : (report?.failedJobs ?? []));
  await removeDirectory(folder);
  await removeDirectory(agentFolder(folder));
}

/**
 * Terminates the process of the service with everything it started.
 *
 * @returns whether it had ended before
 */
async function stopProcess(id: number, folder: string, graceMs: number): Promise<boolean> {
  if (!isServer(id, folder)) return id > 0;
  process.kill(id, "SIGTERM");
  const deadline = performance.now() + graceMs;
  while (isServer(id, folder) && performance.now() < deadline) await setTimeout(50);
  // Its agents end with it.
  if (isServer(id, folder)) process.kill(-id, "SIGKILL");
  return false;
}

/** Returns whether a process is the service's, and not another one that got its id. */
function isServer(id: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0").includes(folder);
  } catch {
    return false;
  }
}

/** Returns the logs of jobs by their ids. */
function jobLogs(folder: string): Map<string, string> {
  const logs = logsFolder(join(folder, "service"));
  const names = globSync("*.log", { cwd: logs });
  return new Map(names.map((name) => [basename(name, ".log"), readFileSync(join(logs, name), "utf8")]));
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
  const jobs = Object.entries(unsavedJobs);
  if (jobs.length === 0) return;
  annotate(
    runner,
    "warning",
    "Jobs cannot be continued by a later run",
    say`They could not be saved in the Actions cache. ${joinTexts(
      jobs.map(([id, reason]) => say`${id}: ${reason}.`),
      " ",
    )}`,
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

function annotate(runner: Reporter, level: "notice" | "warning" | "error", title: string, text: Text): void {
  runner.annotate(level, title, forAnnotation(text));
}
