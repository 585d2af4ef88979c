import { parseArgs } from "node:util";
import { errorMessage } from "../service/src/error-message.ts";

export const help = `Usage: npm run demo -- [PROMPT] [options]

Creates a small documentation repository, starts the agent job service on it and runs the action as a step of a workflow
would. Shows the step's log, outputs and job summary, and the diff of the pull request. The agent is the service's
built-in editor, which adds pages and sections, replaces phrases and fixes links, each named "in quotes". Costs nothing
and uses no network.

  --follow-up TEXT   then send this message to the same job, in a second step
  --keep             keep the service running at the end, and print a link that opens the page of the pull request
  --no-changes       show an agent that finds nothing to change
  --fail             show an agent that fails
  --time-out         show an agent that takes longer than the step waits
  --base-url URL     use a real service instead, which starts a real job; requires --project, and an admin key in the
                     environment variable AGENT_API_KEY
  --project ID       the project (default: demo)
  --help             show this help

With --fail and --time-out the step fails as intended, and the demo exits with 0. With --base-url it exits with the exit
code of the step.
`;

const defaultPrompt = `Add a page "Quickstart" that says "Run npm ci, then npm test." and fix the link "quick-start.md" to "quickstart.md".`;

export interface DemoOptions {
  help: boolean;
  prompt: string;
  followUp: string | undefined;
  keep: boolean;
  /** Default: whatever the prompt leads to. */
  scene: "no-changes" | "failed" | "timed-out" | undefined;
  baseUrl: string | undefined;
  project: string;
  apiKey: string;
}

/** Parses the command line. Returns what is wrong with it as `error`. */
export function parseOptions(
  args: string[],
  environment: Readonly<Record<string, string | undefined>>,
): DemoOptions | { error: string } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        "follow-up": { type: "string" },
        keep: { type: "boolean", default: false },
        "no-changes": { type: "boolean", default: false },
        fail: { type: "boolean", default: false },
        "time-out": { type: "boolean", default: false },
        "base-url": { type: "string" },
        project: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    const scenes = [
      ...(values["no-changes"] ? (["no-changes"] as const) : []),
      ...(values.fail ? (["failed"] as const) : []),
      ...(values["time-out"] ? (["timed-out"] as const) : []),
    ];
    const baseUrl = values["base-url"];
    const apiKey = environment.AGENT_API_KEY ?? "";
    if (positionals.length > 1) return { error: "Put the prompt in quotes to make it one argument." };
    if (scenes.length > 1) return { error: "Use only one of --no-changes, --fail and --time-out." };
    if (baseUrl !== undefined && values.keep) return { error: "--keep cannot be combined with --base-url." };
    if (baseUrl !== undefined && scenes.length > 0)
      return { error: "--no-changes, --fail and --time-out cannot be combined with --base-url." };
    if (baseUrl !== undefined && values.project === undefined) return { error: "--base-url requires --project." };
    if (baseUrl !== undefined && apiKey === "")
      return { error: "--base-url requires an admin key in the environment variable AGENT_API_KEY." };
    return {
      help: values.help,
      prompt: positionals[0] ?? (scenes[0] === "no-changes" ? "Make the documentation better." : defaultPrompt),
      followUp: values["follow-up"],
      keep: values.keep,
      scene: scenes[0],
      baseUrl,
      project: values.project ?? "demo",
      apiKey,
    };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
