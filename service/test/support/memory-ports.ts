import { shellAgent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { fakeMachine } from "./fake-machine.ts";

/** Returns what turns on a machine without a disk and processes have in common. */
export const memoryPorts = () => ({
  agent: shellAgent("agent"),
  sandbox: unconfined,
  network: fullNetwork,
  limits: {},
  machine: fakeMachine(),
  timeLimitMs: 60_000,
  folder: "/service",
  largestChangeBytes: 1_000_000,
});
