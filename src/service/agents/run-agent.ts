import { fork } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { childEnvironment } from "../processes/environment.ts";
import { signalGroup } from "../processes/process-group.ts";

/** A program that does the work of an agent: a file and its arguments, without a shell between. */
export interface AgentProgram {
  file: string;
  args: readonly string[];
  /** What a job's record gives as its model. */
  model: string;
}

export interface AgentRun {
  prompt: string;
  jobId: string;
  /** The working tree, its current directory. */
  tree: string;
  /** A folder of this run's own, outside the tree. */
  folder: string;
  /** What it prints is added to this file. */
  logFile: string;
  timeLimitMs: number;
  /** Ends it before its time. */
  signal: AbortSignal;
}

export type AgentEnd = "completed" | "failed" | "timed-out" | "stopped";

/** How long the supervisor has to end the agent, before both are ended by force. */
const graceMs = 5000;

const supervisor = resolve(import.meta.dirname, "supervisor.ts");

/** A command line of the operator's, for their own shell. The prompt is never part of it. */
export function shellAgent(command: string): AgentProgram {
  const words = command.trim().split(/\s+/);
  // A variable set before the command may be a secret.
  return { file: "/bin/sh", args: ["-c", command], model: words.find((word) => !/^\w+=/.test(word)) ?? "agent" };
}

/**
 * Runs an agent. It finds the prompt on its stdin and in the file that `AGENT_PROMPT_FILE` names, and the job's id in
 * `AGENT_JOB_ID`. Exit code 0 means that the work is done. At the time limit, at `signal` and when the service is gone,
 * its whole process group is ended.
 */
export async function runAgent(program: AgentProgram, run: AgentRun): Promise<AgentEnd> {
  const promptFile = join(run.folder, "prompt.txt");
  writeFileSync(promptFile, run.prompt);
  const log = openSync(run.logFile, "a");
  const stdin = openSync(promptFile, "r");
  const child = fork(supervisor, [program.file, ...program.args], {
    cwd: run.tree,
    stdio: [stdin, log, log, "ipc"],
    execArgv: [],
    // It leads the group that the agent is in.
    detached: true,
    env: { ...childEnvironment(), AGENT_PROMPT_FILE: promptFile, AGENT_JOB_ID: run.jobId },
  });
  let end: AgentEnd | undefined;
  let force: NodeJS.Timeout | undefined;
  const stop = (how: AgentEnd): void => {
    end ??= how;
    child.kill("SIGTERM");
    force ??= setTimeout(() => signalGroup(child.pid, "SIGKILL"), graceMs);
  };
  const onAbort = (): void => stop("stopped");
  const timer = setTimeout(() => stop("timed-out"), run.timeLimitMs);
  run.signal.addEventListener("abort", onAbort, { once: true });
  if (run.signal.aborted) onAbort();
  try {
    const exitCode = await new Promise<number | null>((done, fail) => {
      child.on("error", fail);
      child.on("exit", done);
    });
    // Whatever the agent has left running would go on working in a tree that is being committed.
    signalGroup(child.pid, "SIGKILL");
    return end ?? (exitCode === 0 ? "completed" : "failed");
  } finally {
    clearTimeout(timer);
    clearTimeout(force);
    run.signal.removeEventListener("abort", onAbort);
    closeSync(log);
    closeSync(stdin);
  }
}
