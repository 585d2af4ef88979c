import { fork } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { childEnvironment } from "../processes/environment.ts";
import { signalGroup, waitForExit } from "../processes/process-group.ts";
import type { Agent } from "./agent.ts";

export interface AgentOptions {
  prompt: string;
  /** Whether an earlier turn of the job exists. */
  isFollowUp: boolean;
  jobId: string;
  /** The agent's current directory. */
  worktree: string;
  /** A folder for files of this attempt, outside the worktree. */
  folder: string;
  /** The agent's output is appended to this file. */
  logFile: string;
  timeLimitMs: number;
  /** Stops the agent. */
  signal: AbortSignal;
}

export type AgentResult = "completed" | "failed" | "timed-out" | "stopped";

/** How long the supervisor has to terminate the agent before both are killed. */
const graceMs = 5000;

const supervisor = resolve(import.meta.dirname, "supervisor.ts");

/**
 * Runs an agent. It gets the prompt on stdin and in the file named by `AGENT_PROMPT_FILE`, and the job's id in
 * `AGENT_JOB_ID`. Exit code 0 means that it completed. Its process group is terminated at the time limit, when `signal`
 * aborts, and when the service dies.
 *
 * @throws if no process can be started at all; a program that cannot be started is a failed agent
 */
export async function runAgent(agent: Agent, options: AgentOptions): Promise<AgentResult> {
  const promptFile = join(options.folder, "prompt.txt");
  writeFileSync(promptFile, options.prompt);
  const log = openSync(options.logFile, "a");
  const stdin = openSync(promptFile, "r");
  try {
    const { file, args } = agent.command(options);
    const child = fork(supervisor, [file, ...args], {
      cwd: options.worktree,
      stdio: [stdin, log, log, "ipc"],
      execArgv: [],
      // Makes it the leader of the process group that the agent is in.
      detached: true,
      env: { ...childEnvironment(), ...agent.environment, AGENT_PROMPT_FILE: promptFile, AGENT_JOB_ID: options.jobId },
    });
    const { timeLimitMs, signal } = options;
    const { exitCode, terminated } = await waitForExit(child, { until: "exit", timeLimitMs, signal, graceMs });
    // Processes that the agent left behind would keep writing to a worktree that is being committed.
    signalGroup(child.pid, "SIGKILL");
    if (terminated !== undefined) return terminated === "aborted" ? "stopped" : "timed-out";
    return exitCode === 0 ? "completed" : "failed";
  } finally {
    closeSync(log);
    closeSync(stdin);
  }
}
