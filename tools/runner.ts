import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve as resolvePath } from "node:path";

/** The action's main file, which the runner starts. */
export const mainFile = resolvePath(import.meta.dirname, "../dist/index.js");

export interface StepOptions {
  /** By their names in the `with:` block. */
  inputs: Readonly<Record<string, string>>;
  /** An empty folder for the runner's files and the workspace. */
  folder: string;
  /** Added to an otherwise minimal environment. */
  environment?: Readonly<Record<string, string>>;
  /** Receives stdout and stderr as they arrive. */
  onPrint?: (text: string) => void;
  /** Receives the process, for example to send it a signal. */
  onStart?: (child: ChildProcess) => void;
  /** Default: the action's. */
  mainFile?: string;
}

export interface StepResult {
  /** `null` if a signal killed the process. */
  exitCode: number | null;
  outputs: Record<string, string>;
  summary: string;
  /** stdout and stderr, in the order of arrival. */
  log: string;
  files: { output: string; summary: string };
}

/** Returns the environment of a step, otherwise minimal, and creates the files for its results. */
export function stepEnvironment({
  inputs,
  folder,
  environment,
}: Pick<StepOptions, "inputs" | "folder" | "environment">) {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  const files = { output: join(folder, "output.txt"), summary: join(folder, "summary.md") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const variables: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    // Windows needs it for network access.
    ...(process.env.SystemRoot && { SystemRoot: process.env.SystemRoot }),
    // Unlike a runner, tests start hundreds of steps.
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
    GITHUB_WORKSPACE: workspace,
    GITHUB_OUTPUT: files.output,
    GITHUB_STEP_SUMMARY: files.summary,
    ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [inputVariable(name), value])),
    ...environment,
  };
  return { workspace, files, variables };
}

/**
 * Runs the action as the runner does: inputs in the environment, results in files, workflow commands on stdout. The
 * commands are returned in the log and not executed.
 */
export async function runStep(options: StepOptions): Promise<StepResult> {
  const { workspace, files, variables } = stepEnvironment(options);
  const child = spawn(process.execPath, [options.mainFile ?? mainFile], {
    cwd: workspace,
    stdio: ["ignore", "pipe", "pipe"],
    env: variables,
  });
  options.onStart?.(child);
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      options.onPrint?.(text);
    });
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const outputs = parseOutputs(readFileSync(files.output, "utf8"));
  return { exitCode, outputs, summary: readFileSync(files.summary, "utf8"), log, files };
}

/** Like the runner, keeps dashes and replaces spaces with underscores. */
function inputVariable(name: string): string {
  return `INPUT_${name.replaceAll(" ", "_").toUpperCase()}`;
}

/** Parses the file named by GITHUB_OUTPUT as the runner does: `name=value` or `name<<DELIMITER`; the last value wins. */
export function parseOutputs(file: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = file.split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const [, name, delimiter] = /^([^=]*?)<<(.+)$/.exec(line) ?? [];
    if (name !== undefined) {
      const end = lines.indexOf(delimiter ?? "", index + 1);
      if (end < 0) throw new Error(`the delimiter of the output ${name} is missing`);
      outputs[name] = lines.slice(index + 1, end).join("\n");
      index = end;
    } else if (line.includes("=")) {
      outputs[line.slice(0, line.indexOf("="))] = line.slice(line.indexOf("=") + 1);
    } else if (line !== "") throw new Error(`invalid line in the output file: ${line}`);
  }
  return outputs;
}
