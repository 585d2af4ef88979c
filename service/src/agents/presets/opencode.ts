import { type AgentEvent, numberIn, parseEvents, stringIn } from "../events.ts";
import { isEndOfOutput } from "../output-end.ts";
import { anthropic, noResult, openAi, type Preset } from "./preset.ts";

/** OpenCode, by SST. */
export const opencode: Preset = {
  program: "opencode",
  package: { registry: "npm", name: "opencode-ai", version: "1.18.33" },
  models: [
    anthropic("https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL"),
    openAi("OPENAI_BASE_URL", "OPENAI_API_KEY"),
  ],
  // All are in one file.
  sessions: { files: ".local/share/opencode/opencode.db", idLength: 0 },
  // It knows the models as of its own version.
  environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
  script: ({ isFollowUp }) => `exec opencode run --format json ${isFollowUp ? "--continue " : ""}"$@"`,
  readReport: (stdout, end) => {
    if (end === undefined) return noResult;
    const events = parseEvents(stdout);
    const lastStep = events.slice(events.findLastIndex(({ type }) => type === "step_start") + 1);
    const texts = lastStep.flatMap((event) => (event.type === "text" ? (stringIn(event, "part", "text") ?? "") : []));
    return {
      message: texts.join("\n\n") || undefined,
      error: errorOf(end),
      costUsd: isEndOfOutput(stdout) ? undefined : costOf(events.filter(({ type }) => type === "step_finish")),
    };
  },
};

function errorOf(end: AgentEvent): string | undefined {
  if (end.type === "error")
    return stringIn(end, "error", "data", "message") ?? stringIn(end, "error", "name") ?? "no reason";
  const reason = stringIn(end, "part", "reason") ?? "";
  return reason === "stop" ? undefined : `the model's answer ended early: ${reason}`;
}

/** Returns the cost of all steps; `undefined` if one does not say, or the agent knows no price of a model. */
function costOf(steps: readonly AgentEvent[]): number | undefined {
  if (steps.length === 0) return undefined;
  const costs = steps.map((step) => {
    const cost = numberIn(step, "part", "cost");
    return cost === 0 && numberIn(step, "part", "tokens", "total") !== 0 ? undefined : cost;
  });
  return costs.reduce((sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost), 0);
}
