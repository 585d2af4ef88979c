import { parseArgs } from "node:util";

export const help = `Usage: npm run demo -- [PROMPT] [options]

Makes a small repository of documentation, starts the agent job service on it, runs the action against that as a
workflow's step would, and shows the step's log, outputs and job summary, and the diff of the pull request. The agent is
the service's own editor, which adds pages and sections, replaces phrases and fixes links, each named "in quotes".
Costs nothing and reaches no other machine.

  --follow-up TEXT   then send this message to the same job, in a second step
  --keep             leave the service running at the end, so that the page of the pull request can be opened
  --no-changes       the agent finds nothing to change
  --fail             the agent fails
  --time-out         the agent takes longer than the step waits
  --base-url URL     use a real service instead, which starts a real job: needs --project, and an admin key in the
                     environment as AGENT_API_KEY
  --project ID       the project (default: demo)
  --help             show this

The steps of --fail and --time-out fail, as they should, and the demo itself then exits with 0. With --base-url it exits
with the step's own exit code.
`;

const defaultPrompt = `Add a page "Quickstart" that says "Run npm ci, then npm test." and fix the link "quick-start.md" to "quickstart.md".`;

export interface DemoOptions {
  help: boolean;
  prompt: string;
  followUp: string | undefined;
  keep: boolean;
  /** What is to be shown; by default whatever the prompt leads to. */
  scene: "no-changes" | "failed" | "timed-out" | undefined;
  baseUrl: string | undefined;
  project: string;
  apiKey: string;
}

/** What the command line asks for, or what is wrong with it. */
export function parseOptions(
  args: string[],
  environment: Readonly<Record<string, string | undefined>>,
): DemoOptions | { problem: string } {
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
    if (positionals.length > 1) return { problem: "Put the prompt in quotes, so that it is one argument." };
    if (scenes.length > 1) return { problem: "Give one of --no-changes, --fail and --time-out." };
    if (baseUrl !== undefined && values.keep) return { problem: "--keep is for the service of the demo itself." };
    if (baseUrl !== undefined && scenes.length > 0)
      return { problem: "A real job ends as it will: leave out --no-changes, --fail and --time-out." };
    if (baseUrl !== undefined && values.project === undefined) return { problem: "--base-url needs --project." };
    if (baseUrl !== undefined && apiKey === "")
      return { problem: "--base-url needs an admin key in the environment as AGENT_API_KEY." };
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
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
