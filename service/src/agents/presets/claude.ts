import { type AgentEvent, numberIn, stringIn } from "../events.ts";
import { anthropicApi } from "../model-api.ts";
import { clouds } from "./clouds.ts";
import { anthropic, bearer, noResult, type Preset } from "./preset.ts";

const api = anthropic("https://api.anthropic.com", "ANTHROPIC_BASE_URL");

/** Claude Code, by Anthropic. */
export const claude: Preset = {
  program: "claude",
  package: { registry: "npm", name: "@anthropic-ai/claude-code", version: "2.1.330" },
  models: [
    ...clouds,
    api,
    // A gateway's.
    { ...api, keyVariable: "ANTHROPIC_AUTH_TOKEN", header: bearer },
    {
      ...api,
      // From `claude setup-token`.
      keyVariable: "CLAUDE_CODE_OAUTH_TOKEN",
      // Its models are listed only for keys.
      api: { ...anthropicApi, modelsPath: undefined },
      header: bearer,
    },
  ],
  sessions: { files: ".claude/projects/*/*.jsonl" },
  costOption: "--max-budget-usd",
  options: {
    none: "--disable-slash-commands --safe-mode --strict-mcp-config",
    one: "--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --effort --fallback-model --max-turns --setting-sources --settings --system-prompt --system-prompt-file",
    many: "--add-dir --allowed-tools --allowedTools --betas --disallowed-tools --disallowedTools --mcp-config --tools",
    instead: { "--model": "--model", "--max-budget-usd": "--max-cost-usd" },
  },
  environment: {
    // Otherwise it sends the content of every file that a prompt names as `@/path` to the model, even from outside the clone.
    CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
    // Otherwise it stays after its result as long as what it started in the background, such as a server for a preview.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  },
  // `IS_SANDBOX` allows to skip permissions as root. `--verbose` is required by the output format, which logs each step when
  // it is done, even if the agent is killed later.
  script: ({ isFollowUp, isSandboxed }) =>
    [
      `${isSandboxed ? "IS_SANDBOX=1 " : ""}exec claude --print --output-format stream-json --verbose`,
      isSandboxed ? "--dangerously-skip-permissions" : "--permission-mode acceptEdits",
      ...(isFollowUp ? ["--continue"] : []),
      '"$@"',
    ].join(" "),
  readReport: (_stdout, result) => {
    if (result === undefined) return noResult;
    const message = stringIn(result, "result");
    const [session, totalUsd] = [stringIn(result, "session_id"), numberIn(result, "total_cost_usd")];
    const subtype = stringIn(result, "subtype") ?? "";
    // A hook of the repository can end it in the middle, which it calls a success.
    const hook = /^(?:hook_stopped|tool_deferred)$/.exec(stringIn(result, "terminal_reason") ?? "")?.[0];
    const hasFailed = result.is_error === true || subtype.startsWith("error");
    const error = hasFailed ? (message ?? errorsIn(result) ?? limits[subtype] ?? (subtype || "no reason")) : undefined;
    return {
      // A session that is continued keeps counting.
      ...(session !== undefined && totalUsd !== undefined && { sessionCost: { session, totalUsd } }),
      message,
      error: error ?? (hook && `a hook stopped it: ${hook}`),
      ...(subtype in limits && { failureClass: "limit" }),
    };
  },
};

/** What it says only as a code when it has reached a limit of its own. */
const limits: Readonly<Record<string, string>> = {
  error_max_turns: "it reached its limit of turns",
  error_max_budget_usd: "it reached its limit of cost",
};

/** Returns the event's own words about what went wrong; `undefined` if it has none. */
function errorsIn({ errors }: AgentEvent): string | undefined {
  const words = Array.isArray(errors) ? errors.filter((one) => typeof one === "string" && one.trim() !== "") : [];
  return words.length === 0 ? undefined : words.join(" ");
}
