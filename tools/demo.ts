import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, styleText } from "node:util";
import { createHttpFace } from "../src/service/http-face.ts";
import { listen } from "../src/service/listen.ts";
import { type Script, ScriptedEngine } from "../src/service/scripted-engine.ts";
import { LogReader } from "./commands.ts";
import { runStep, type StepResult } from "./runner.ts";
import { TerminalRenderer } from "./terminal.ts";

const help = `Usage: npm run demo -- [options]

Starts the agent job service on this machine, runs the action against it as a workflow's step would, and shows the
step's log, outputs and job summary. Costs nothing and reaches no other machine.

  --prompt TEXT      the instruction (default: one about the quickstart)
  --follow-up TEXT   then send this message to the same job, in a second step
  --fail             the job fails
  --time-out         the job takes longer than the step waits
  --base-url URL     use a real service instead; needs --project, and its key in the environment as AGENT_API_KEY.
                     Starts a real job.
  --project ID       the project (default: demo)
  --help             show this

The steps of --fail and --time-out fail, as they should; the demo itself then exits with 0. With --base-url it exits
with the step's own exit code.
`;

const { values: options } = parseArgs({
  options: {
    prompt: { type: "string", default: "Bring the quickstart up to date with the latest release." },
    "follow-up": { type: "string" },
    fail: { type: "boolean", default: false },
    "time-out": { type: "boolean", default: false },
    "base-url": { type: "string" },
    project: { type: "string", default: "demo" },
    help: { type: "boolean", default: false },
  },
});

if (options.help) process.stdout.write(help);
else if (options["base-url"] === undefined) await demonstrate();
else process.exitCode = await runAgainst(options["base-url"], process.env.AGENT_API_KEY ?? "", {});

/** Against the scripted service on this machine, with a pace that can be watched. */
async function demonstrate(): Promise<void> {
  const key = "mint_demo_key_of_no_value";
  const script: Script = {
    durationMs: options["time-out"] ? 3_600_000 : 5000,
    result: options.fail ? "failed" : "pull-request",
  };
  const engine = new ScriptedEngine({ script: () => script });
  const keys = [{ value: key, projects: [options.project] }];
  await using service = await listen(createHttpFace({ engine, keys }));
  const pace = { "poll-interval-seconds": "1", "max-poll-interval-seconds": "2" };
  const limit = options["time-out"] ? { "timeout-minutes": "0.1" } : {};
  const exitCode = await runAgainst(service.url, key, { ...pace, ...limit });
  const isExpected = exitCode === (options.fail || options["time-out"] ? 1 : 0);
  process.exitCode = isExpected ? 0 : 1;
}

async function runAgainst(baseUrl: string, key: string, extra: Record<string, string>): Promise<number> {
  const inputs = { "base-url": baseUrl, "project-id": options.project, "api-key": key, ...extra };
  const first = await showStep("Run an agent job", { ...inputs, prompt: options.prompt });
  const followUp = options["follow-up"];
  if (followUp === undefined || first.exitCode !== 0) return first.exitCode ?? 1;
  const jobId = first.outputs["job-id"] ?? "";
  const second = await showStep("Send a follow-up", { ...inputs, "job-id": jobId, prompt: followUp });
  return second.exitCode ?? 1;
}

async function showStep(name: string, inputs: Record<string, string>): Promise<StepResult> {
  const reader = new LogReader();
  const terminal = new TerminalRenderer();
  const print = (lines: ReturnType<LogReader["read"]>) => {
    for (const line of lines) {
      const shown = terminal.render(line);
      if (shown !== undefined) console.log(shown);
    }
  };
  heading(name);
  const folder = mkdtempSync(join(tmpdir(), "agent-job-demo-"));
  const result = await runStep({ inputs, folder, onPrint: (text) => print(reader.read(text)) });
  print(reader.end());
  heading(`Outputs (exit code ${result.exitCode})`);
  for (const [output, value] of Object.entries(result.outputs)) console.log(`${output.padEnd(17)} ${value}`);
  heading("Job summary");
  console.log(result.summary.trim());
  heading("Files");
  console.log(`outputs   ${result.files.output}\nsummary   ${result.files.summary}`);
  return result;
}

function heading(text: string): void {
  console.log(`\n${styleText(["bold", "inverse"], ` ${text} `)}`);
}
