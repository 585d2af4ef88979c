import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type AgentProgram, builtInEditor, shellAgent } from "./agents/agent-program.ts";
import type { GitHubRepository } from "./pulls/github.ts";

export const help = `Usage: npm run service -- --repository PATH-OR-URL [options]

Serves the agent job interface on this machine. For each job, an agent works on a branch of its own in a clone of the
repository; what it changes is committed, pushed and offered as a pull request.

  --repository PATH-OR-URL  as git clone takes it; the service must be allowed to push to it
  --base BRANCH             the branch to work from (default: the repository's default branch)
  --agent 'COMMAND'         a command for the shell: it finds the prompt on its stdin and in the file that
                            AGENT_PROMPT_FILE names, and the repository as its current directory; exit code 0 means
                            that the work is done. Such as 'claude -p', 'codex exec -' or 'gemini -p'
                            (default: a small editor that adds pages and sections, replaces phrases and fixes links)
  --model NAME              what jobs give as their model (default: the command's first word)
  --agents N                how many work at a time (default: one for each core)
  --time-limit-minutes N    after which an agent is ended (default: 30)
  --project ID              a project, may be repeated (default: demo)
  --port N                  (default: any free one)
  --store FILE              keeps jobs, messages and limits in this SQLite file, and what belongs to it beside it
                            (default: all is forgotten at the end)
  --archive-after-days N    archive jobs that have rested for so long too, not only those whose pull request is
                            closed or merged
  --github OWNER/NAME       open pull requests there (default: taken from an address on github.com where GITHUB_TOKEN is
                            set; else they are pages of the service)
  --github-api URL          (default: https://api.github.com)
  --help                    show this

The API key is taken from AGENT_SERVICE_KEY, or made and printed. With GITHUB_TOKEN, it is used to push over https and to
open pull requests. Neither is in an agent's environment.
`;

/** What the command line and the environment ask for. */
export interface ServiceOptions {
  repository: string;
  base: string | undefined;
  agent: AgentProgram;
  apiKey: string | undefined;
  projects: string[];
  port: number;
  store: string | undefined;
  agents: number;
  timeLimitMs: number;
  archiveAfterDays: number | undefined;
  github: GitHubRepository | undefined;
}

/** Reads the command line; what is wrong with it, in words, or `help` where that is asked for. */
export function parseOptions(
  args: string[],
  environment: Readonly<Record<string, string | undefined>>,
): ServiceOptions | "help" | { problem: string } {
  try {
    const { values } = parseArgs({
      args,
      options: {
        repository: { type: "string" },
        base: { type: "string" },
        agent: { type: "string" },
        model: { type: "string" },
        agents: { type: "string" },
        "time-limit-minutes": { type: "string" },
        project: { type: "string", multiple: true },
        port: { type: "string" },
        store: { type: "string" },
        "archive-after-days": { type: "string" },
        github: { type: "string" },
        "github-api": { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return "help";
    const { repository, agent, model, store, project = ["demo"] } = values;
    if (!repository) throw new Error("--repository is missing.");
    if (/[^!-~]/.test(environment.AGENT_SERVICE_KEY ?? ""))
      throw new Error("AGENT_SERVICE_KEY may hold no blank and nothing but ASCII, since no request could carry it.");
    if (agent?.trim() === "") throw new Error("--agent is empty.");
    const program = agent === undefined ? builtInEditor : shellAgent(agent);
    const days = values["archive-after-days"];
    return {
      repository,
      base: values.base,
      agent: model === undefined ? program : { ...program, model },
      apiKey: environment.AGENT_SERVICE_KEY || undefined,
      projects: project,
      port: whole("--port", values.port ?? "0", 0, 65_535),
      store,
      agents: whole("--agents", values.agents ?? String(availableParallelism()), 1, 1000),
      timeLimitMs: above0("--time-limit-minutes", values["time-limit-minutes"] ?? "30") * 60_000,
      archiveAfterDays: days === undefined ? undefined : above0("--archive-after-days", days),
      github: githubOf(repository, values, environment.GITHUB_TOKEN),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function githubOf(
  repository: string,
  values: { github?: string | undefined; "github-api"?: string | undefined },
  token: string | undefined,
): GitHubRepository | undefined {
  const known = /^(?:https:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(
    repository,
  );
  const name = values.github ?? known?.[1];
  const parts = name?.split("/") ?? [];
  if (values.github !== undefined && (parts.length !== 2 || parts.includes("")))
    throw new Error("--github takes OWNER/NAME.");
  if (values.github !== undefined && !token) throw new Error("--github needs GITHUB_TOKEN in the environment.");
  if (name === undefined || !token) return undefined;
  const apiUrl = (values["github-api"] ?? "https://api.github.com").replace(/\/+$/, "");
  if (!URL.canParse(apiUrl)) throw new Error("--github-api takes the address of an API.");
  return { apiUrl, owner: parts[0] ?? "", name: parts[1] ?? "", token };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new Error(`${name} takes a whole number from ${least} to ${most}.`);
  return value;
}

/** Timers take up to 35,791 minutes. */
const greatest = 10_000;

function above0(name: string, text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > greatest)
    throw new Error(`${name} takes a number above 0, and at most ${greatest}.`);
  return value;
}
