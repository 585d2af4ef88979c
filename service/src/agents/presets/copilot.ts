import { parseEvents, stringIn } from "../events.ts";
import { copilotApi } from "../model-api.ts";
import { bearer, noResult, type Preset } from "./preset.ts";

/** GitHub Copilot CLI. In a workflow, `permissions: copilot-requests: write` makes the workflow's own token a key. */
export const copilot: Preset = {
  program: "copilot",
  package: { registry: "npm", name: "@github/copilot", version: "1.0.102" },
  models: [
    {
      url: "https://api.githubcopilot.com",
      baseUrlVariable: "COPILOT_API_URL",
      keyVariable: "COPILOT_GITHUB_TOKEN",
      // With a token that looks otherwise, it asks api.github.com for its account first.
      dummyKey: `ghs_${"0".repeat(36)}`,
      api: copilotApi,
      header: bearer,
    },
  ],
  sessions: { files: ".copilot/session-state/*/events.jsonl" },
  environment: { COPILOT_AUTO_UPDATE: "false", USE_TGREP: "false" },
  // 235 MB, by default into the home, which each job has.
  unpacksTo: "COPILOT_CACHE_HOME",
  script: ({ isFollowUp, isSandboxed }) =>
    [
      "exec copilot --output-format json --no-color --no-ask-user --no-auto-update --disable-builtin-mcps",
      // Through these tools it would follow the skills and agents of the repository.
      "--excluded-tools=skill,task",
      `--disable-client-telemetry --secret-env-vars=COPILOT_GITHUB_TOKEN ${isSandboxed ? "--allow-all" : "--allow-tool write"}`,
      ...(isFollowUp ? ["--continue"] : []),
      '"$@"',
    ].join(" "),
  readReport: (stdout, end) => {
    if (end === undefined) return noResult;
    const events = parseEvents(stdout);
    const isSaid = (event: (typeof events)[number]) => (stringIn(event, "data", "content") ?? "") !== "";
    const words = events.findLast((event) => event.type === "assistant.message" && isSaid(event));
    const failure = events.findLast(({ type }) => type === "session.error");
    const error = end.exitCode === 0 ? undefined : (stringIn(failure, "data", "message") ?? "no reason");
    return { message: stringIn(words, "data", "content"), error };
  },
};
