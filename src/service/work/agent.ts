import { fork } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";

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

/** Secrets of the service that an agent has no business with. */
const withheld = ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", "GH_TOKEN"];

const supervisor = resolve(import.meta.dirname, "supervisor.ts");

/** A command line of the operator's, for their own shell. The prompt is never part of it. */
export function shellAgent(command: string, model = command.trim().split(/\s+/)[0] ?? ""): AgentProgram {
  return { file: "/bin/sh", args: ["-c", command], model };
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
  const variables = Object.entries(process.env).filter(([name]) => !withheld.includes(name));
  const child = fork(supervisor, [program.file, ...program.args], {
    cwd: run.tree,
    stdio: [stdin, log, log, "ipc"],
    execArgv: [],
    env: { ...Object.fromEntries(variables), AGENT_PROMPT_FILE: promptFile, AGENT_JOB_ID: run.jobId },
  });
  let end: AgentEnd | undefined;
  const stop = (how: AgentEnd): void => {
    end ??= how;
    child.kill("SIGTERM");
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
    if (end === "timed-out") writeSync(log, `The agent was ended after ${Math.round(run.timeLimitMs / 1000)} s.\n`);
    return end ?? (exitCode === 0 ? "completed" : "failed");
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener("abort", onAbort);
    closeSync(log);
    closeSync(stdin);
  }
}
