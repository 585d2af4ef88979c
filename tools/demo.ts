import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { type Agent, builtInEditor, shellAgent } from "../service/src/agents/agent.ts";
import { unconfined } from "../service/src/agents/sandbox/sandbox.ts";
import { PerProject } from "../service/src/per-project.ts";
import { startService } from "../service/src/start/service.ts";
import { LogReader } from "./commands.ts";
import { type DemoOptions, help, parseOptions } from "./demo-options.ts";
import { DocsRepository } from "./docs-repository.ts";
import { runStep, type StepResult } from "./runner.ts";
import { plainText, TerminalRenderer, visible } from "./terminal.ts";

/** Passed on to the step, since reaching a real service may require them. */
const networkVariables = [
  "https_proxy",
  "HTTPS_PROXY",
  "no_proxy",
  "NO_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_SYSTEM_CA",
];

const parsed = parseOptions(process.argv.slice(2), process.env);
if ("error" in parsed) {
  process.stderr.write(`${parsed.error}\n\n${help}`);
  process.exitCode = 2;
} else if (parsed.help) process.stdout.write(help);
else process.exitCode = parsed.baseUrl === undefined ? await runDemo(parsed) : await runAgainst(parsed, parsed.baseUrl);

/** Runs the demo with a local service. Returns exit code 0 if the last step has the outcome that the scene is to show. */
async function runDemo(options: DemoOptions): Promise<number> {
  const apiKey = "mint_demo_key_of_no_value";
  using docs = new DocsRepository();
  const folder = mkdtempSync(join(tmpdir(), "agent-job-service-"));
  const service = await startService({
    settings: PerProject.same({
      repository: docs.path,
      agent: agentFor(options.scene),
      sandbox: unconfined,
      timeLimitMs: 60_000,
      largestChangeBytes: 20_000_000,
    }),
    apiKey,
    projects: [options.project],
    folder,
    agents: 1,
  });
  try {
    const intervals = { "poll-interval-seconds": "0.5", "max-poll-interval-seconds": "1" };
    const limit = options.scene === "timed-out" ? { "timeout-minutes": "0.1" } : {};
    const { outputs } = await showSteps(options, {
      "base-url": service.url,
      "api-key": apiKey,
      ...intervals,
      ...limit,
    });
    if (outputs["pr-link"]) showChange(docs, outputs);
    if (options.keep)
      await keepRunning(await service.createSignInLink(new URL(outputs["pr-link"] || service.url).pathname));
    const expected = options.scene === undefined ? ["pr-created", "no-changes"] : [options.scene];
    return expected.includes(outputs.outcome ?? "") ? 0 : 1;
  } finally {
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the agent that a scene needs. */
function agentFor(scene: DemoOptions["scene"]): Agent {
  if (scene === "failed") return { ...shellAgent("echo 'This agent always fails.'; exit 1"), model: "always-fails" };
  if (scene === "timed-out") return { ...shellAgent("sleep 60"), model: "never-ends" };
  return builtInEditor;
}

function showChange(docs: DocsRepository, outputs: Record<string, string>): void {
  heading(`Pull request ${outputs["pr-number"]}`);
  const colours = { "+": "green", "-": "red", "@": "cyan" } as const;
  for (const line of docs.diff(outputs.ref ?? "").split("\n")) {
    const colour = colours[(line[0] ?? "") as keyof typeof colours];
    console.log(colour ? styleText(colour, visible(line)) : visible(line));
  }
}

async function keepRunning(signInLink: string): Promise<void> {
  console.log(
    `\nThe service runs until you press Ctrl+C. This link opens the page once, within 10 minutes: ${signInLink}`,
  );
  await new Promise<void>((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve));
}

/** Runs the steps against a real service. Returns the exit code of the last one. */
async function runAgainst(options: DemoOptions, baseUrl: string): Promise<number> {
  const last = await showSteps(options, { "base-url": baseUrl, "api-key": options.apiKey });
  return last.exitCode ?? 1;
}

async function showSteps(options: DemoOptions, service: Record<string, string>): Promise<StepResult> {
  const inputs = { ...service, "project-id": options.project };
  const first = await showStep("Run an agent job", { ...inputs, prompt: options.prompt });
  if (options.followUp === undefined) return first;
  if (first.exitCode !== 0) {
    console.log("\nThe follow-up was not sent because the first step failed.");
    return first;
  }
  return showStep("Send a follow-up", { ...inputs, "job-id": first.outputs["job-id"] ?? "", prompt: options.followUp });
}

async function showStep(name: string, inputs: Record<string, string>): Promise<StepResult> {
  const reader = new LogReader();
  const terminal = new TerminalRenderer();
  const print = (lines: ReturnType<LogReader["read"]>) => {
    for (const line of lines) {
      const text = terminal.render(line);
      if (text !== undefined) console.log(text);
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
