import { parseEvents, stringIn } from "../events.ts";
import { geminiApi } from "../model-api.ts";
import { noResult, type Preset } from "./preset.ts";

/** Without the type, it rejects a key together with a base URL. They take precedence over settings in the repository. */
const settings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
  // In seconds. A command that has started something in the background does not end for it; otherwise, it waits for five minutes.
  tools: { shell: { inactivityTimeout: 120 } },
};

const silence = "it ended without an answer, as when its context is full or a hook stops it";

/** Gemini CLI, by Google. */
export const gemini: Preset = {
  program: "gemini",
  package: { registry: "npm", name: "@google/gemini-cli", version: "0.61.0" },
  models: [
    {
      url: "https://generativelanguage.googleapis.com",
      baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
      keyVariable: "GEMINI_API_KEY",
      api: geminiApi,
      header: (key) => ["x-goog-api-key", key],
    },
  ],
  sessions: { files: ".gemini/tmp/*/chats/*", idLength: 8 },
  environment: {},
  script: ({ isFollowUp, isSandboxed }) =>
    [
      "GEMINI_CLI_SYSTEM_SETTINGS_PATH=$(mktemp) && export GEMINI_CLI_SYSTEM_SETTINGS_PATH &&",
      `echo '${JSON.stringify(settings)}' > "$GEMINI_CLI_SYSTEM_SETTINGS_PATH" &&`,
      "exec gemini --skip-trust --output-format stream-json",
      `--approval-mode ${isSandboxed ? "yolo" : "auto_edit"}`,
      ...(isFollowUp ? ["--resume latest"] : []),
      '"$@"',
    ].join(" "),
  readReport: (stdout, result) => {
    if (result === undefined) return noResult;
    const events = parseEvents(stdout);
    // The message arrives in pieces, after the last use of a tool.
    const words = events.slice(events.findLastIndex(({ type }) => type === "tool_result") + 1);
    const message = words.flatMap((event) => (event.role === "assistant" ? (stringIn(event, "content") ?? "") : []));
    // It calls it a success if a loop, a limit, a full context or a hook has ended it: then it warns last, or has not said a word.
    const last = words.findLast(({ type, role }) => type === "error" || role === "assistant");
    const warning = last?.type === "error" ? (stringIn(last, "message") ?? "no reason") : undefined;
    const unsaid = message.length === 0 ? silence : undefined;
    const error =
      result.status === "success"
        ? (warning ?? unsaid)
        : (stringIn(result, "error", "message") ?? warning ?? "no reason");
    return { message: message.join("") || undefined, error };
  },
};
