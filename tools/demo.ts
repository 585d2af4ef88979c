import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { createHttpFace } from "../src/service/http-face.ts";
import { listen } from "../src/service/listen.ts";
import { ScriptedEngine } from "../src/service/scripted-engine.ts";
import { LogReader } from "./commands.ts";
import { type DemoOptions, help, parseOptions } from "./demo-options.ts";
import { runStep, type StepResult } from "./runner.ts";
import { plainText, TerminalRenderer, visible } from "./terminal.ts";

/** What a real service may need from the environment to be reached. */
const networkVariables = [
  "https_proxy",
  "HTTPS_PROXY",
  "no_proxy",
  "NO_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_SYSTEM_CA",
];

const parsed = parseOptions(process.argv.slice(2), process.env);
if ("problem" in parsed) {
  process.stderr.write(`${parsed.problem}\n\n${help}`);
  process.exitCode = 2;
} else if (parsed.help) process.stdout.write(help);
else
  process.exitCode = parsed.baseUrl === undefined ? await demonstrate(parsed) : await runReal(parsed, parsed.baseUrl);

/** Against the scripted service on this machine, at a pace that can be watched; 0 where the step ended as it should. */
async function demonstrate(options: DemoOptions): Promise<number> {
  const apiKey = "mint_demo_key_of_no_value";
  const isTimeOut = options.scene === "timed-out";
  const results = { failed: "failed", "no-changes": "no-changes" } as const;
  const engine = new ScriptedEngine({
    script: () => ({
      durationMs: isTimeOut ? 3_600_000 : 5000,
      result: options.scene === "failed" || options.scene === "no-changes" ? results[options.scene] : "pull-request",
    }),
  });
  const keys = [{ value: apiKey, projects: [options.project] }];
  await using service = await listen(createHttpFace({ engine, keys }));
  const pace = { "poll-interval-seconds": "1", "max-poll-interval-seconds": "2" };
  const limit = isTimeOut ? { "timeout-minutes": "0.1" } : {};
  const last = await showSteps(options, { "base-url": service.url, "api-key": apiKey, ...pace, ...limit });
  return last.outputs.outcome === options.scene ? 0 : 1;
}

/** Against a real service; the exit code is that of the step. */
async function runReal(options: DemoOptions, baseUrl: string): Promise<number> {
  const last = await showSteps(options, { "base-url": baseUrl, "api-key": options.apiKey });
  return last.exitCode ?? 1;
}

async function showSteps(options: DemoOptions, service: Record<string, string>): Promise<StepResult> {
  const inputs = { ...service, "project-id": options.project };
  const first = await showStep("Run an agent job", { ...inputs, prompt: options.prompt });
  if (options.followUp === undefined) return first;
  if (first.exitCode !== 0) {
    console.log("\nThe follow-up is not sent, since the first step failed.");
    return first;
  }
  return showStep("Send a follow-up", { ...inputs, "job-id": first.outputs["job-id"] ?? "", prompt: options.followUp });
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
  const environment = Object.fromEntries(
    networkVariables.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : [])),
  );
  const folder = mkdtempSync(join(tmpdir(), "agent-job-demo-"));
  const result = await runStep({ inputs, folder, environment, onPrint: (text) => print(reader.read(text)) });
  print(reader.end());
  heading(`Outputs (exit code ${result.exitCode})`);
  for (const [output, value] of Object.entries(result.outputs))
    console.log(`${output.padEnd(17)} ${visible(value)}`.trim());
  heading("Job summary, as text");
  console.log(plainText(result.summary));
  heading("Files");
  console.log(`outputs   ${result.files.output}\nsummary   ${result.files.summary}`);
  return result;
}

function heading(text: string): void {
  console.log(`\n${styleText(["bold", "inverse"], ` ${text} `)}`);
}
