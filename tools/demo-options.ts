import { parseArgs } from "node:util";

export const help = `Usage: npm run demo -- [options]

Starts the agent job service on this machine, runs the action against it as a workflow's step would, and shows the
step's log, outputs and job summary. Costs nothing and reaches no other machine.

  --prompt TEXT      the instruction
  --follow-up TEXT   then send this message to the same job, in a second step
  --no-changes       the agent finds nothing to change
  --fail             the job fails
  --time-out         the job takes longer than the step waits
  --base-url URL     use a real service instead, which starts a real job: needs --project, and an admin key in the
                     environment as AGENT_API_KEY
  --project ID       the project (default: demo)
  --help             show this

The steps of --fail and --time-out fail, as they should, and the demo itself then exits with 0. With --base-url it exits
with the step's own exit code.
`;

export interface DemoOptions {
  help: boolean;
  prompt: string;
  followUp: string | undefined;
  /** The outcome that the scripted job is to lead to. */
  scene: "pr-created" | "no-changes" | "failed" | "timed-out";
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
    const { values } = parseArgs({
      args,
      options: {
        prompt: { type: "string", default: "Bring the quickstart up to date with the latest release." },
        "follow-up": { type: "string" },
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
    if (scenes.length > 1) return { problem: "Give one of --no-changes, --fail and --time-out." };
    if (baseUrl !== undefined && scenes.length > 0)
      return { problem: "A real job ends as it will: leave out --no-changes, --fail and --time-out." };
    if (baseUrl !== undefined && values.project === undefined) return { problem: "--base-url needs --project." };
    if (baseUrl !== undefined && apiKey === "")
      return { problem: "--base-url needs an admin key in the environment as AGENT_API_KEY." };
    return {
      help: values.help,
      prompt: values.prompt,
      followUp: values["follow-up"],
      scene: scenes[0] ?? "pr-created",
      baseUrl,
      project: values.project ?? "demo",
      apiKey,
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
