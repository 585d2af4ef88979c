import { expect, test } from "vitest";
import type { AgentSettings } from "../../../../src/runner-kit/agent-service.ts";
import { agentSettings, optionsIn } from "../../../../test/support/agent-settings.ts";
import { readSettings } from "../../../step/settings.ts";
import { SetupError } from "../../../step/setup/setup-error.ts";

const environment = {
  GITHUB_REPOSITORY: "acme/docs",
  GITHUB_SERVER_URL: "https://github.example",
  GITHUB_API_URL: "https://github.example/api/v3",
  ANTHROPIC_API_KEY: "sk-ant-0123456789",
};

function read(
  agent: string,
  options: Record<string, string> = {},
  more: Partial<AgentSettings> = {},
  variables: Record<string, string> = environment,
) {
  return readSettings(agentSettings({ agent, options: optionsIn(options), ...more }), variables);
}

/** Returns the message of the error for options. */
function problemsOf(agent: string, options: Record<string, string>, more: Partial<AgentSettings> = {}): string {
  try {
    read(agent, options, more);
  } catch (error) {
    expect(error).toBeInstanceOf(SetupError);
    return (error as SetupError).message;
  }
  throw new Error("there is no error");
}

test("what no option says has its default", () => {
  const settings = read("claude", {}, { minutes: 58 });
  expect(settings).toMatchObject({
    variables: { GITHUB_SERVER_URL: "https://github.example", GITHUB_API_URL: "https://github.example/api/v3" },
    isWorkflowToken: false,
    endsAfterMs: 58 * 60_000,
  });
  expect(settings.options).toMatchObject({
    repository: "https://github.example/acme/docs.git",
    github: { owner: "acme", name: "docs", apiUrl: "https://github.example/api/v3", token: "ghs_0123456789" },
    sandbox: "bwrap",
    network: "model",
    timeLimitMs: 58 * 60_000,
    targetBranch: undefined,
  });
  expect(settings.service.apiKey).toBe("agent_key_0123456789");
  expect(settings.agentPackage).toMatchObject({ program: "claude", name: "@anthropic-ai/claude-code" });
  expect(read("claude", {}, {}, { ANTHROPIC_API_KEY: "k" })).toMatchObject({
    variables: { GITHUB_SERVER_URL: "https://github.com", GITHUB_API_URL: "https://api.github.com" },
  });
});

test("copilot works with the workflow's own token, unless it has one", () => {
  const workflow = { workflowToken: "ghs_0123456789" };
  const { variables, options } = read("copilot", {}, workflow, {});
  expect(variables.COPILOT_GITHUB_TOKEN).toBe("ghs_0123456789");
  expect(options).toMatchObject({ sandbox: "bwrap", network: "model" });
  const own = { COPILOT_GITHUB_TOKEN: "github_pat_0123456789" };
  expect(read("copilot", {}, workflow, own).variables.COPILOT_GITHUB_TOKEN).toBe("github_pat_0123456789");
});

test.each([
  ["sandbox none", { sandbox: "none" }, {}],
  ["sandbox none", { sandbox: "none", "agent-network": "full" }, {}],
  ["agent-network full", { "agent-network": "full" }, {}],
  // Whatever token pushes.
  ["agent-network full", { "agent-network": "full" }, { githubToken: "ghs_of_an_app" }],
] as const)(
  "refuses %s to copilot with the workflow's token, and allows it with a token of its own",
  (setting, options, more) => {
    const workflow = { workflowToken: "ghs_0123456789", ...more };
    const shared = `--${setting} would give the agent a token that can write to the repository, because copilot uses`;
    for (const token of ["", "ghs_0123456789"])
      expect(() => read("copilot", options, workflow, { COPILOT_GITHUB_TOKEN: token })).toThrow(shared);
    const own = { COPILOT_GITHUB_TOKEN: "github_pat_0123456789" };
    expect(read("copilot", { ...options, "agent-network": "full" }, workflow, own).options.network).toBe("full");
  },
);

test("reads every option", () => {
  const settings = read(
    "/opt/agent.sh --fast",
    {
      sandbox: "none",
      "agent-network": "full",
      "time-limit-minutes": "5",
      model: "large",
      "agent-env": "MY_KEY",
      "memory-mb": "4000",
      "commit-as": "Docs Bot <bot@example.com>",
      "sign-off": "",
      trailer: "Refs: DOC-1",
      only: "docs/**",
      "agent-model-tools": "",
    },
    { workflowToken: "ghs_0123456789" },
    { ...environment, MY_KEY: "key" },
  );
  expect(settings).toMatchObject({ isWorkflowToken: true, agentPackage: undefined });
  const { options } = settings;
  expect(options).toMatchObject({ sandbox: "none", network: "full", timeLimitMs: 300_000 });
  expect(options.agent).toMatchObject({ model: "large", passes: ["MY_KEY"] });
  expect(options.limits.memoryMb).toBe(4000);
  expect(options).toMatchObject({
    commitAs: { name: "Docs Bot", email: "bot@example.com" },
    signsOff: true,
    trailers: ["Refs: DOC-1"],
    only: { patterns: ["docs/**"] },
    allowsServerTools: true,
  });
});

test("the editor needs no model, and runs in the sandbox all the same", () => {
  const { options } = read("editor");
  expect(options).toMatchObject({ sandbox: "bwrap", network: "none", agent: { model: "documentation-editor" } });
  expect(read("editor", { "agent-network": "model" }).options.network).toBe("none");
  expect(read("editor", { sandbox: "none" }).options.network).toBe("full");
  expect(read("editor", { "agent-network": "full" }).options.network).toBe("full");
});

test("a command may reach the hosts that options name", () => {
  const { options } = read("./my-agent", { "model-host": "api.example.com" });
  expect(options).toMatchObject({ network: "model", modelHosts: ["api.example.com"] });
});

test.each([
  ["my-agent --fast", {}, "`--agent-network` is model, and the model of a command is unknown"],
  ["claude", { sandbox: "docker" }, "--sandbox must be bwrap or none."],
  ["claude", { sandbox: "none" }, "--agent-network model requires --sandbox bwrap."],
  ["claude", { "agent-env": "INPUT_GITHUB-TOKEN" }, "--agent-env must not name INPUT_GITHUB-TOKEN, which no agent may"],
  ["claude", { "time-limit-minutes": "soon" }, "--time-limit-minutes must be a number"],
  ["claude", { only: "" }, "`agent-options` must have a value of --only, not --only"],
  ["claude", { "agent-args": "--print" }, "--agent-args must not have --print"],
  ["claude", { "agent-args": "--print" }, ", --agent, --agents, "],
  ["claude", { "max-cost-usd": "much" }, "--max-cost-usd must be a number greater than 0"],
  ["./my-agent", { "agent-args": "-c a=1", "agent-network": "full" }, "--agent-args requires an agent with a name"],
  ["claude", { "sign-off": "true" }, "`agent-options` must have --sign-off alone, not --sign-off true"],
  ["claude", { check: "x", sandbox: "none", "agent-network": "full" }, "check requires"],
  [
    "codex",
    {},
    "agent codex requires CODEX_API_KEY or OPENAI_API_KEY in the environment of this step: set it with `env:`, from a secret",
  ],
] as const)("rejects %s with %j", (agent, options, problem) => {
  expect(problemsOf(agent, options)).toContain(problem);
});

test("a single value that is empty is the default, as of a variable that is not set", () => {
  const { options } = read("claude", { model: "", "agent-network": "", "time-limit-minutes": "" });
  expect(options).toMatchObject({ network: "model", agent: { model: "claude" } });
  expect(options.timeLimitMs).toBe(read("claude").options.timeLimitMs);
});

test("a version is that of the package, if the step installs it", () => {
  expect(read("claude", {}, { agentVersion: "2.0.1" }).agentPackage).toMatchObject({ version: "2.0.1" });
  expect(problemsOf("claude", {}, { agentVersion: "2.0.1", install: false })).toContain("`--install false`");
  expect(problemsOf("editor", {}, { agentVersion: "2.0.1" })).toContain("is for an agent with a name");
});

test("rejects a single value that is given twice, and a token as the agent's variable", () => {
  const twice = [...optionsIn({ model: "small" }), ...optionsIn({ model: "large" })];
  expect(problemsOf("claude", {}, { options: twice })).toContain("--model is given twice.");
  const options = { "agent-env": "ANTHROPIC_API_KEY", "agent-network": "full" };
  expect(problemsOf("./my-agent", options, { githubToken: "sk-ant-0123456789" })).toContain(
    "--agent-env must not name ANTHROPIC_API_KEY: it has a token",
  );
});

test("names all problems together, and says that nothing was started", () => {
  expect(problemsOf("my-agent --fast", { only: "" })).toMatch(
    /^\n- `agent-options` must have .+\n- `--agent-network` is model, .+\nNothing was started\. If .* start a new run: .*$/,
  );
  expect(problemsOf("claude", { only: "" })).toMatch(
    /^`agent-options` must .+\nNothing was started\. If .* new run: .*$/,
  );
});

test("commands may have options of their own, and quotation marks", () => {
  const setup = "pip install --target .deps -r docs/requirements.txt";
  const options = { setup, check: '"a b" && "c d"', "setup-host": "a.example" };
  expect(read("claude", options).options.commands).toMatchObject({
    setup,
    check: '"a b" && "c d"',
    setupHosts: ["a.example"],
  });
});
