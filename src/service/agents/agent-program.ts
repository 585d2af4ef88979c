import { resolve } from "node:path";

/** A program that serves as an agent: an executable and its arguments. It is started without a shell. */
export interface AgentProgram {
  file: string;
  args: readonly string[];
  /** Shown as `model` in job records. */
  model: string;
}

/** Returns an agent that is a shell command of the operator. The prompt never becomes part of the command. */
export function shellAgent(command: string): AgentProgram {
  const words = command.trim().split(/\s+/);
  // Skips variable assignments in front of the command, because they may hold secrets.
  return { file: "/bin/sh", args: ["-c", command], model: words.find((word) => !/^\w+=/.test(word)) ?? "agent" };
}

/** The default agent: a small editor for Markdown pages, which needs neither a model nor a network. */
export const builtInEditor: AgentProgram = {
  file: process.execPath,
  args: [resolve(import.meta.dirname, "../editor/main.ts")],
  model: "documentation-editor",
};
