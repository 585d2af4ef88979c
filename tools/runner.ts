import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The action's main file, as the runner starts it. */
export const mainFile = resolve(import.meta.dirname, "../dist/index.js");

export interface StepOptions {
  /** As in the `with:` block. */
  inputs: Readonly<Record<string, string>>;
  /** An empty folder for the runner's files and the workspace. */
  folder: string;
  /** Added to an environment that is otherwise as bare as can be. */
  environment?: Readonly<Record<string, string>>;
  /** Sees what is printed on stdout and stderr, as it comes. */
  onPrint?: (text: string) => void;
  /** Is given the process, to send it a signal. */
  onStart?: (child: ChildProcess) => void;
  mainFile?: string;
}

export interface StepResult {
  /** `null` where a signal ended the process. */
  exitCode: number | null;
  outputs: Record<string, string>;
  summary: string;
  /** stdout and stderr, in the order they came. */
  log: string;
  files: { output: string; summary: string };
}

/** What the runner gives to a step: an environment, otherwise as bare as can be, and the files for its results. */
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
    // Without it, a program on Windows has no network.
    ...(process.env.SystemRoot && { SystemRoot: process.env.SystemRoot }),
    GITHUB_WORKSPACE: workspace,
    GITHUB_OUTPUT: files.output,
    GITHUB_STEP_SUMMARY: files.summary,
    ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [inputVariable(name), value])),
    ...environment,
  };
  return { workspace, files, variables };
}

/**
 * Runs the action as the runner does: inputs in the environment, results in files, commands on stdout. It renders and
 * obeys no command.
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
  const exitCode = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("close", done);
  });
  const outputs = parseOutputs(readFileSync(files.output, "utf8"));
  return { exitCode, outputs, summary: readFileSync(files.summary, "utf8"), log, files };
}

/** The runner keeps dashes and turns spaces into underscores. */
function inputVariable(name: string): string {
  return `INPUT_${name.replaceAll(" ", "_").toUpperCase()}`;
}

/** Reads the file that GITHUB_OUTPUT names, as the runner does: `name=value` or `name<<DELIMITER`; the last wins. */
export function parseOutputs(file: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = file.split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const [, name, delimiter] = /^([^=]*?)<<(.+)$/.exec(line) ?? [];
    if (name !== undefined) {
      const end = lines.indexOf(delimiter ?? "", index + 1);
      if (end < 0) throw new Error(`the output ${name} does not end`);
      outputs[name] = lines.slice(index + 1, end).join("\n");
      index = end;
    } else if (line.includes("=")) {
      outputs[line.slice(0, line.indexOf("="))] = line.slice(line.indexOf("=") + 1);
    } else if (line !== "") throw new Error(`not a line of an output: ${line}`);
  }
  return outputs;
}
