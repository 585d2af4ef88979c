import { parseEvents, stringIn } from "../events.ts";
import { noResult, openAi, type Preset } from "./preset.ts";

/** Codex CLI, by OpenAI. */
export const codex: Preset = {
  program: "codex",
  package: { registry: "npm", name: "@openai/codex", version: "0.169.0" },
  models: [openAi("OPENAI_BASE_URL", "CODEX_API_KEY"), openAi("OPENAI_BASE_URL", "OPENAI_API_KEY")],
  sessions: { files: ".codex/sessions/*/*/*/*.jsonl" },
  // Its proxy opens no WebSockets, so each run would log an error before it uses HTTP.
  environment: { RUST_LOG: "error,codex_api::endpoint::responses_websocket=off" },
  options: {
    none: "--strict-config",
    one: "-c --config --disable --enable",
    many: "",
    instead: { "--model": "--model", "-m": "--model" },
    isOwn: (name, value) =>
      /^(?:-c|--config)$/.test(name) &&
      /^\s*["']?(?:openai_base_url|model|model_providers?|profiles?|approval_policy|sandbox_\w*)["']?\s*[.=]/.test(
        value,
      ),
  },
  // It reads its key only from CODEX_API_KEY, and the base URL only from its configuration. By default, it offers a tool of the provider to
  // unknown models, and contacts hosts other than the model's for statistics and plugins.
  script: ({ isFollowUp, isSandboxed }) =>
    [
      `CODEX_API_KEY="\${CODEX_API_KEY:-$OPENAI_API_KEY}" exec codex exec --json`,
      isSandboxed ? "--dangerously-bypass-approvals-and-sandbox" : "--sandbox workspace-write",
      `-c 'web_search="disabled"' -c analytics.enabled=false -c features.plugins=false \${OPENAI_BASE_URL:+-c "openai_base_url=\\"$OPENAI_BASE_URL\\""} "$@"`,
      ...(isFollowUp ? ["resume --last"] : []),
      "-",
    ].join(" "),
  readReport: (stdout, end) => {
    if (end === undefined) return noResult;
    const words = parseEvents(stdout).findLast((event) => stringIn(event, "item", "type") === "agent_message");
    const error = end.type === "turn.failed" ? (stringIn(end, "error", "message") ?? "no reason") : undefined;
    return { message: stringIn(words, "item", "text"), error };
  },
};
