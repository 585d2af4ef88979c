import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/step.ts";
import type { Agent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import { type AgentOptions, runAgent } from "../../src/agents/run-agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";

/** Returns the folders of a job, and what runs agents in them, without a sandbox unless a test gives one. */
export function setUpAgents() {
  const folder = temporaryFolder();
  const names = ["home", "tree", "temporary", "input", "objects"] as const;
  const paths = Object.fromEntries(names.map((name) => [name, join(folder, name)])) as Record<
    (typeof names)[number],
    string
  >;
  for (const path of Object.values(paths)) mkdirSync(path);
  const logFile = join(folder, "log");
  const run = (agent: Agent, options: Partial<AgentOptions> = {}) =>
    runAgent(agent, {
      prompt: "",
      isFollowUp: false,
      history: [],
      jobId: "job_1",
      requestId: "r1",
      directories: { ...paths, processes: join(folder, "processes.json") },
      objects: paths.objects,
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      compileCache: process.env.NODE_COMPILE_CACHE,
      onLimitExceeded: () => {},
      logFile,
      timeLimitMs: 60_000,
      signal: new AbortController().signal,
      ...options,
    });
  return { folder, paths, run };
}
