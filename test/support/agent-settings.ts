import type { AgentSettings, ServiceOption } from "../../src/runner-kit/agent-service.ts";

/** Returns options of the service as lines of `agent-options` say them. */
export function optionsIn(lines: Readonly<Record<string, string>>): ServiceOption[] {
  return Object.entries(lines).map(([name, value]) => ({
    name: name as ServiceOption["name"],
    value,
    line: `--${name} ${value}`.trim(),
  }));
}

/** Returns what the action says of an agent. Default: the built-in editor, for an hour. */
export function agentSettings(settings: Partial<AgentSettings> = {}): AgentSettings {
  return {
    agent: "editor",
    repository: "acme/docs",
    isOwnRepository: true,
    isPrivate: true,
    projectId: "acme-docs-editor",
    githubToken: "ghs_0123456789",
    workflowToken: "",
    minutes: 60,
    remember: true,
    install: true,
    isQuiet: false,
    options: [],
    apiKey: "agent_key_0123456789",
    ...settings,
  };
}
