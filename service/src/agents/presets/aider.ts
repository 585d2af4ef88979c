import { anthropic, noResult, openAi, type Preset } from "./preset.ts";

/** The lines that aider prints itself, before and after the model's words. */
const ownLine =
  /^(?:Repo-map: |Git repo: |Restored previous conversation|Summarizing |Added .* to the chat|Applied edit to |Commit [0-9a-f]{7} |Tokens: )/;

/** The lines with which it ends without an answer, or with edits that it has not made. */
const gaveUp =
  /^(?:litellm\.\w+: |Model \S+ has hit a token\b|Only \d+ reflections allowed, stopping\.|Traceback \(most recent call last\):$)/;

/** aider, by Paul Gauthier. */
export const aider: Preset = {
  program: "aider",
  package: { registry: "pypi", name: "aider-chat", version: "0.86.2" },
  models: [anthropic("https://api.anthropic.com", "ANTHROPIC_API_BASE"), openAi("OPENAI_API_BASE", "OPENAI_API_KEY")],
  sessions: { files: ".aider.chat.history.md" },
  environment: {},
  // Its chat is kept in HOME, which lasts as long as the job: without sessions, that is its memory. `--yes-always` would
  // also fetch every URL in a prompt.
  script: () =>
    [
      "exec aider --yes-always --no-pretty --no-stream --analytics-disable --no-check-update --no-show-release-notes",
      "--no-show-model-warnings --no-gitignore --no-detect-urls --no-suggest-shell-commands",
      '--restore-chat-history --chat-history-file "$HOME/.aider.chat.history.md"',
      '--input-history-file "$HOME/.aider.input.history" --message-file "$AGENT_PROMPT_FILE" "$@" < /dev/null',
    ].join(" "),
  readReport: (stdout) => {
    const lines = stdout.split("\n");
    const end = lines.findLastIndex((line) => /^Tokens: .* sent, /.test(line));
    const costUsd = /Cost: \$[\d.]+ message, \$([\d.]+) session\.$/.exec(lines[end]?.trimEnd() ?? "")?.[1];
    const cost = costUsd !== undefined && { costUsd: Number(costUsd) };
    // It exits with 0 in any case. After an error that it retried, it reports tokens in the end.
    const error = lines.findLastIndex((line, index) => index > end && gaveUp.test(line));
    if (error !== -1) {
      const paragraphs = lines
        .slice(error)
        .join("\n")
        .trim()
        .split(/\n\s*\n/);
      // The error follows its traceback. It breaks lines as for a terminal, at a space that stays.
      const words = lines[error]?.startsWith("Traceback") ? paragraphs.at(-1) : paragraphs[0];
      return { ...cost, message: undefined, error: words?.replace(/\s+/g, " ") };
    }
    if (end === -1) return noResult;
    const start = lines.findLastIndex((line, index) => index < end && ownLine.test(line));
    return {
      ...cost,
      message:
        lines
          .slice(start + 1, end)
          .join("\n")
          .trim() || undefined,
      error: undefined,
    };
  },
};
