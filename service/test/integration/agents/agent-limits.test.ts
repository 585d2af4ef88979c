import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { type Agent, shellAgent } from "../../../src/agents/agent.ts";
import type { Limits } from "../../../src/agents/limits.ts";
import { createSandbox, sandboxKinds } from "../../../src/agents/sandbox/create-sandbox.ts";
import { docsRepository, runJob, scriptAgent, startAgentService } from "../../support/agent-service.ts";
import { findObstacle } from "../../support/sandbox-obstacle.ts";

const wait = "await new Promise((resolve) => setTimeout(resolve, 60_000));";

for (const kind of sandboxKinds) {
  const obstacle = await findObstacle(kind);
  describe.skipIf(obstacle !== undefined)(`with --sandbox ${kind}${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
    /** Runs an agent. Returns the job's status and log, and the log of the service. */
    async function run(limits: Limits, agent: Agent) {
      const sandbox = await createSandbox(kind, temporaryFolder(), true, () => {});
      await using service = await startAgentService(docsRepository(), { agent, sandbox, limits });
      const { id, status } = await runJob(service, "Go on");
      const log = readFileSync(join(service.folder, "logs", `${id}.log`), "utf8");
      return { status, log, serviceLog: service.lines.join("\n") };
    }

    test.each<[string, Limits, Agent]>([
      ["300 MB of memory", { memoryMb: 300 }, scriptAgent(`globalThis.kept = Buffer.alloc(400_000_000, 1); ${wait}`)],
      ["20 processes", { processes: 20 }, shellAgent("for n in $(seq 30); do setsid sleep 60 & done; sleep 60")],
      ["20 MB of disk", { diskMb: 20 }, shellAgent('head -c 30000000 /dev/zero > "$TMPDIR/x"; sleep 60')],
    ])("kills an agent with more than %s", async (limit, limits, agent) => {
      const { status, log, serviceLog } = await run(limits, agent);
      expect(status).toBe("failed");
      expect(serviceLog).toContain(`failed: The agent is killed, because it has more than ${limit}.`);
      expect(log).toContain(`[service] The agent is killed, because it has more than ${limit}.`);
    });

    test("ends every process at the time limit", async () => {
      const code = `
        const { spawn } = await import("node:child_process");
        const beat = "setInterval(() => fs.appendFileSync(process.env.HOME + '/beats', '.'), 10)";
        spawn("setsid", [process.execPath, "--eval", "const fs = require('node:fs'); " + beat], { stdio: "ignore" });
        while (!fs.existsSync(process.env.HOME + "/beats")) await new Promise((resolve) => setTimeout(resolve, 20));
        ${wait}`;
      const sandbox = await createSandbox(kind, temporaryFolder(), true, () => {});
      const options = { agent: scriptAgent(code), sandbox, timeLimitMs: 5000 };
      await using service = await startAgentService(docsRepository(), options);
      const { id, status } = await runJob(service, "Go on");
      expect(status).toBe("failed");
      const beats = join(service.folder, "jobs", id, "home/beats");
      const { size } = statSync(beats);
      await setTimeout(200);
      expect(statSync(beats).size).toBe(size);
    });

    test("does not kill an agent within its limits", async () => {
      const { status, log } = await run({ memoryMb: 1000, processes: 100, diskMb: 1000 }, shellAgent("printf b > a"));
      expect(status, log).toBe("completed");
    });
  });
}
