import { spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../src/agents/agent.ts";
import { type AgentWitnesses, endOf } from "../../src/agents/agent-end.ts";
import { readResultFile } from "../../src/agents/result-file.ts";
import { type AgentOptions, type AgentResult, prepareFiles } from "../../src/agents/run-agent.ts";
import { killGroup, waitForExit } from "../../src/processes/process-group.ts";
import { startProcess } from "../../src/processes/start-process.ts";
import { type TurnHost, turnHost } from "../../src/turns/turn-host.ts";
import { finalEventIn } from "./final-event.ts";

/**
 * Runs the command of an agent with the same files, but without its supervisor: a Node process, which would take longer than
 * everything else in a short turn. The log gets its output when it has ended. It has neither a sandbox nor limits.
 */
async function runUnsupervised(agent: Agent, options: AgentOptions): Promise<AgentResult> {
  const { sandbox, network, limits, directories, isFollowUp, logFile, timeLimitMs, signal } = options;
  if (sandbox.isConfining || !network.isShared || Object.values(limits).some((limit) => limit !== undefined))
    throw new Error("only a supervisor runs agents in a sandbox, with another network or with limits");
  const { environment, promptFile, stdoutFile, resultFile } = prepareFiles(agent, options);
  const stderrFile = join(directories.input, "stderr.txt");
  const stdio = [openSync(promptFile, "r"), openSync(stdoutFile, "w"), openSync(stderrFile, "w")];
  try {
    const { file, args } = agent.command({ isFollowUp, isSandboxed: false });
    const start = () => spawn(file, args, { cwd: directories.tree, env: environment, stdio, detached: true });
    const child = await startProcess(start, false);
    const { exitCode, terminated } = await waitForExit(child, { until: "exit", timeLimitMs, signal });
    await killGroup(child.pid);
    const stdout = readFileSync(stdoutFile, "utf8");
    for (const line of `${stdout}${readFileSync(stderrFile, "utf8")}`.split("\n"))
      if (line !== "") appendFileSync(logFile, `| ${line}\n`);
    const report = agent.readReport(stdout, readResultFile(resultFile), finalEventIn(agent, stdout));
    const known: AgentWitnesses = {
      ...report,
      ...(terminated !== undefined && { endedBy: terminated === "aborted" ? "stop" : "time-limit" }),
      ...(terminated === undefined && exitCode && { exitCode }),
    };
    return { ...known, end: endOf(known) };
  } finally {
    stdio.map((descriptor) => closeSync(descriptor));
  }
}

/** The disk and the processes of this machine, with agents that have no supervisor: for tests of what comes before and after them. */
export const unsupervisedHost: TurnHost = { ...turnHost, runAgent: runUnsupervised };
