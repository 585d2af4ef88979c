import { parseArgs } from "node:util";
import type { ConformOptions } from "./conform.ts";

export const help = `Usage: npm run conform -- --base-url URL --project ID [options]

Checks from outside, over HTTP only, whether an agent job service does what docs/protocol.md requires. Says which requirement it
fails, and what was seen. The key is in the environment variable AGENT_API_KEY.

Without --start-job, it only reads, and starts nothing.

  --base-url URL         the service; https, or http on this machine
  --project ID           the project
  --start-job            also create 1 job and send it 1 message. This costs money and opens a pull request. A service that accepts
                         a request that it must reject may start 1 more; after that, no more are sent
  --prompt TEXT          the prompt of the job
  --message TEXT         the message to it
  --timeout-minutes N    how long the job, and again the message, may take (default: 15)
  --help                 show this help

Exits with 0 if no requirement failed, with 1 if one did, and with 2 if an option is wrong.
`;

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Parses the command line. Returns what is wrong with it as `error`. */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ConformOptions | { help: true } | { error: string } {
  const parsed = parse(args);
  if ("error" in parsed) return parsed;
  const { values } = parsed;
  if (values.help) return { help: true };
  const { project = "" } = values;
  const text = values["base-url"] ?? "";
  const key = environment.AGENT_API_KEY ?? "";
  const minutes = Number(values["timeout-minutes"]);
  const baseUrl = URL.canParse(text) ? new URL(text) : undefined;
  if (!baseUrl) return { error: "--base-url must be the URL of the service." };
  const isSafe = baseUrl.protocol === "https:" || (baseUrl.protocol === "http:" && loopback.test(baseUrl.hostname));
  if (!isSafe) return { error: "--base-url must be https, or http on this machine." };
  if (`${baseUrl.username}${baseUrl.password}${baseUrl.search}${baseUrl.hash}` !== "")
    return { error: "--base-url must have no credentials, query or fragment." };
  if (project === "" || project === "." || project === "..") return { error: "--project must be the id of a project." };
  if (key === "") return { error: "Set the environment variable AGENT_API_KEY to a key for the project." };
  if (!(minutes > 0)) return { error: "--timeout-minutes must be a number above 0." };
  const { prompt, message, "start-job": startsJob } = values;
  return { baseUrl, project, key, startsJob, prompt, message, turnLimitMs: minutes * 60_000 };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        "base-url": { type: "string" },
        project: { type: "string" },
        "start-job": { type: "boolean", default: false },
        prompt: {
          type: "string",
          default: 'Add a page "Conformance" that says "This page tests an agent. Delete it."',
        },
        message: {
          type: "string",
          default: 'Add a page "Conformance, too" that says "This page tests a message. Delete it."',
        },
        "timeout-minutes": { type: "string", default: "15" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return { error: (error as Error).message };
  }
}
