import { randomBytes } from "node:crypto";
import { isObject } from "../../client/contract.ts";
import {
  type AgentSettings,
  agentKeys,
  agentProblem,
  forkAdvice,
  keysOf,
  platformProblem,
  projectOf,
  readAgentOptions,
} from "../../runner-kit/agent-service.ts";
import { say, type Text, trusted } from "../../runner-kit/text.ts";
import { readEvent } from "../runner/environment.ts";
import { isKey, noKey, tokenPattern } from "./rules.ts";

/** Inputs that say which service is used, and how it is left alone: an agent that runs with the step has one of its own. */
const others = ["base-url", "project-id", "api-key", "auth", "wait", "on-cancel"] as const;

/** How long before the end of the step's time its agent is stopped, in minutes, so that the step can say so. */
const marginMinutes = 2;

type Input =
  | (typeof others)[number]
  | "agent"
  | "agent-options"
  | "setup"
  | "check"
  | "base"
  | "github-token"
  | "workflow-token"
  | "timeout-minutes";

/** What is said with `agent`. */
export interface ParsedAgent {
  settings: AgentSettings;
  problems: { input: Input; problem: Text }[];
  /** Whether no variable has a key of the agent's model, as in a run for a fork. An agent may need none. */
  hasNoKey: boolean;
  /** Inputs that take the place of the workflow's: its service is only known by its project, whatever its port. */
  inputs: Readonly<Record<"base-url" | "project-id" | "api-key" | "github-token", string>>;
}

/**
 * Reads the input `agent`, and what belongs to it. What only the service knows, such as the values of its options, it checks
 * when it starts, before an agent is installed.
 *
 * @param isGiven - returns whether an input has another value than its default
 */
export function parseAgent(
  raw: Readonly<Record<Input, string>>,
  isGiven: (input: Input) => boolean,
  environment: NodeJS.ProcessEnv,
): ParsedAgent {
  const { agent } = raw;
  const problems: ParsedAgent["problems"] = [];
  const add = (input: Input, problem: Text | undefined): void => void (problem && problems.push({ input, problem }));
  add("agent", platformProblem(environment));
  add("agent", agentProblem(agent, environment));
  for (const input of others)
    if (isGiven(input))
      add(
        input,
        say`cannot be used together with agent, which runs with this step and ends with it. Remove one of them`,
      );
  const keys = keysOf(agent, environment);
  const isKeyMissing = keys.length > 0 && !keys.some((name) => environment[name]?.trim());
  const isCloud = keys !== agentKeys[agent];
  const given = readAgentOptions(raw["agent-options"]);
  const renamed = given.ofService.find(({ name, value }) => name === "agent-env" && /key|token/i.test(value))?.value;
  const from = trusted(isCloud ? "the step that signs in, or from a secret" : "a secret");
  if (isKeyMissing)
    add(
      "agent",
      say`is ${agent}, which needs ${keys.join(" or ")} in the step's env, from ${from}. ${renamed === undefined ? say`Check the secret's name` : say`If that is what ${renamed} has, rename it, and remove its --agent-env`}. ${trusted(forkAdvice)}`,
    );
  for (const name of keys)
    if (!isKey(environment[name]?.trim() || "unset"))
      add("agent", say`is ${agent}, and ${name} in the step's env ${trusted(noKey)}`);
  const apiKey = `agent_${randomBytes(24).toString("hex")}`;
  const minutes = Number(raw["timeout-minutes"]);
  for (const problem of given.problems) add("agent-options", problem);
  const commands = (["setup", "check"] as const)
    .filter((name) => raw[name] !== "")
    .map((name) => ({ name, value: raw[name], line: `--${name} ${raw[name]}` }));
  const { GITHUB_REPOSITORY: own = "" } = environment;
  const { repository: named = own } = given.own;
  const other = named.toLowerCase() === own.toLowerCase() ? undefined : named;
  const projectId = projectOf(other, agent, environment, given.own.name);
  if (other !== undefined) {
    add("github-token", tokenProblem(raw, other));
    if (raw.base === "pull-request")
      add(
        "base",
        say`is pull-request, a branch of this repository, but the agent works on ${other}: name a branch of that`,
      );
  }
  const isTrue = (value = "true"): boolean => value.toLowerCase() === "true";
  return {
    settings: {
      agent,
      repository: other ?? own,
      isOwnRepository: other === undefined,
      isPrivate: other === undefined && isPrivate(environment),
      projectId,
      githubToken: raw["github-token"],
      workflowToken: raw["workflow-token"],
      minutes: Math.max(minutes - marginMinutes, minutes / 2),
      remember: isTrue(given.own.remember),
      install: isTrue(given.own.install),
      isQuiet: isTrue(given.own.quiet ?? "false") || given.own.quiet === "",
      agentVersion: given.own["agent-version"],
      options: [...commands, ...given.ofService],
      apiKey,
    },
    problems,
    hasNoKey: isKeyMissing || keys.length === 0,
    inputs: {
      "base-url": "http://127.0.0.1",
      "project-id": projectId,
      // What the step does in the workflow's repository, it does with the workflow's token.
      "github-token": raw[other === undefined ? "github-token" : "workflow-token"],
      "api-key": apiKey,
    },
  };
}

/** Returns why a token cannot be one for another repository; `undefined` if it may be. */
function tokenProblem(raw: Readonly<Record<Input, string>>, other: string): Text | undefined {
  const token = raw["github-token"];
  const needed = say`Set it to one that can write to ${other}, such as a GitHub App's`;
  if (token === "") return say`is empty. ${needed}. Check the secret's name. ${trusted(forkAdvice)}`;
  if (token === raw["workflow-token"])
    return say`is the workflow's own, which can write only to this repository. ${needed}`;
  return tokenPattern.test(token) ? undefined : say`contains characters that no token has`;
}

/** Returns whether the event says that the workflow's repository is not public. GitHub's documentation: "Webhook events and payloads". */
function isPrivate(environment: NodeJS.ProcessEnv): boolean {
  try {
    const event = readEvent(environment);
    return isObject(event) && isObject(event.repository) && event.repository.private === true;
  } catch {
    return false;
  }
}
