import { expect, test } from "vitest";
import { readSettings } from "../../../step/settings.ts";
import { SetupError } from "../../../step/setup/setup-error.ts";

const environment = {
  GITHUB_REPOSITORY: "acme/docs",
  GITHUB_SERVER_URL: "https://github.example",
  GITHUB_API_URL: "https://github.example/api/v3",
  ANTHROPIC_API_KEY: "sk-ant-0123456789",
};

function read(inputs: Record<string, string>, variables: Record<string, string> = environment) {
  const given: Record<string, string> = { agent: "claude", "github-token": "ghs_0123456789", ...inputs };
  return readSettings((name) => given[name] ?? "", variables, "agent_key_0123456789");
}

/** Returns the message of the error for inputs. */
function problemsOf(inputs: Record<string, string>): string {
  try {
    read(inputs);
  } catch (error) {
    expect(error).toBeInstanceOf(SetupError);
    return (error as SetupError).message;
  }
  throw new Error("there is no error");
}

test("an empty input means its default", () => {
  const settings = read({});
  expect(settings).toMatchObject({
    projectId: "acme-docs-claude",
    repository: "acme/docs",
    variables: { GITHUB_SERVER_URL: "https://github.example", GITHUB_API_URL: "https://github.example/api/v3" },
    install: true,
    remember: true,
    isWorkflowToken: false,
  });
  expect(settings.options).toMatchObject({
    repository: "https://github.example/acme/docs.git",
    github: { owner: "acme", name: "docs", apiUrl: "https://github.example/api/v3", token: "ghs_0123456789" },
    sandbox: "bwrap",
    network: "model",
    timeLimitMs: 30 * 60_000,
    targetBranch: undefined,
    apiKey: "agent_key_0123456789",
  });
  expect(settings.agentPackage).toMatchObject({ program: "claude", name: "@anthropic-ai/claude-code" });
  expect(read({}, { GITHUB_REPOSITORY: "a/b", ANTHROPIC_API_KEY: "k" })).toMatchObject({
    variables: { GITHUB_SERVER_URL: "https://github.com", GITHUB_API_URL: "https://api.github.com" },
  });
});

test("copilot works with the workflow's own token, unless it has one", () => {
  const inputs = { agent: "copilot", "workflow-token": "ghs_0123456789" };
  const { variables, options } = read(inputs, { GITHUB_REPOSITORY: "acme/docs" });
  expect(variables.COPILOT_GITHUB_TOKEN).toBe("ghs_0123456789");
  expect(options).toMatchObject({ sandbox: "bwrap", network: "model" });
  const own = { GITHUB_REPOSITORY: "acme/docs", COPILOT_GITHUB_TOKEN: "github_pat_0123456789" };
  expect(read(inputs, own).variables.COPILOT_GITHUB_TOKEN).toBe("github_pat_0123456789");
});

test.each([
  ["sandbox none", { sandbox: "none" }],
  ["sandbox none", { sandbox: "none", "agent-network": "full" }],
  ["agent-network full", { "agent-network": "full" }],
  // Whatever token pushes.
  ["agent-network full", { "agent-network": "full", "github-token": "ghs_of_an_app" }],
])("refuses %s to copilot with the workflow's token, and allows it with a token of its own", (setting, more) => {
  const inputs = { agent: "copilot", "workflow-token": "ghs_0123456789", ...more };
  const shared = `${setting} would give the agent a token that can write to the repository, because copilot uses`;
  for (const token of ["", "ghs_0123456789"])
    expect(() => read(inputs, { GITHUB_REPOSITORY: "acme/docs", COPILOT_GITHUB_TOKEN: token })).toThrow(shared);
  const own = { GITHUB_REPOSITORY: "acme/docs", COPILOT_GITHUB_TOKEN: "github_pat_0123456789" };
  expect(read({ ...inputs, "agent-network": "full" }, own).options.network).toBe("full");
});

test("reads every input", () => {
  const settings = read({
    agent: "/opt/agent.sh --fast",
    repository: "other/site",
    base: "develop",
    sandbox: "none",
    "agent-network": "full",
    "time-limit-minutes": "5",
    remember: "False",
    install: "false",
    "workflow-token": "ghs_0123456789",
    options: "--model  large\n\n  --agent-env MY_KEY\n--agent-env=OTHER\n--memory-mb 4000",
  });
  expect(settings).toMatchObject({
    projectId: "other-site-command",
    repository: "other/site",
    install: false,
    remember: false,
    isWorkflowToken: true,
    agentPackage: undefined,
  });
  const { options } = settings;
  expect(options).toMatchObject({ sandbox: "none", network: "full", targetBranch: "develop", timeLimitMs: 300_000 });
  expect(options.agent).toMatchObject({ model: "large", passes: ["MY_KEY", "OTHER"] });
  expect(options.limits.memoryMb).toBe(4000);
});

test("the editor needs no model, and runs in the sandbox all the same", () => {
  const { options, projectId } = read({ agent: "editor" });
  expect(options).toMatchObject({ sandbox: "bwrap", network: "none", agent: { model: "documentation-editor" } });
  expect(projectId).toBe("acme-docs-editor");
  expect(read({ agent: "editor", sandbox: "none" }).options.network).toBe("full");
  expect(read({ agent: "editor", "agent-network": "full" }).options.network).toBe("full");
});

test("a command may reach the hosts that options name", () => {
  const { options } = read({ agent: "./my-agent", options: "--model-host api.example.com" });
  expect(options).toMatchObject({ network: "model", modelHosts: ["api.example.com"] });
});

test.each([
  [
    { agent: "" },
    "`agent` is required: one of claude, codex, gemini, opencode, aider, copilot, editor, or a shell command",
  ],
  [{ repository: "docs" }, "`repository` must be OWNER/NAME, not docs"],
  [{ repository: "my acme/docs" }, "`repository` must be OWNER/NAME, not my acme/docs"],
  [{ repository: "acme/docs/site" }, "`repository` must be OWNER/NAME, not acme/docs/site"],
  [{ "github-token": "" }, "`github-token` is empty"],
  [{ remember: "yes" }, "`remember` must be true or false, not yes"],
  [{ install: "1" }, "`install` must be true or false, not 1"],
  [{ options: "--port 80" }, "`options` must have one of --name, --agent-env, "],
  [{ options: "--port 80" }, "not --port 80"],
  [{ options: "model large" }, "not model large"],
  [{ options: "use --model large" }, "not use --model large"],
  [{ options: "--model large --agents 2" }, "not --model large --agents 2"],
  [{ agent: "my-agent --fast" }, "`agent-network` is model, and the model of a command is unknown"],
  [
    { agent: "editr", "agent-network": "full" },
    "`agent` is editr, which is neither one of claude, codex, gemini, opencode, aider, copilot, editor nor a program in the PATH of this runner",
  ],
  [{ sandbox: "docker" }, "sandbox must be bwrap or none."],
  [{ sandbox: "none" }, "agent-network model requires sandbox bwrap."],
  [{ options: "--model small\n--model large" }, "model is given twice."],
  [
    { options: "--agent-env INPUT_GITHUB-TOKEN" },
    "agent-env must not name INPUT_GITHUB-TOKEN, which no agent may have.",
  ],
  [
    {
      options: "--agent-env ANTHROPIC_API_KEY",
      agent: "./my-agent",
      "agent-network": "full",
      "github-token": "sk-ant-0123456789",
    },
    "agent-env must not name ANTHROPIC_API_KEY: it has a token",
  ],
  [{ "time-limit-minutes": "soon" }, "time-limit-minutes must be a number"],
  [
    { agent: "codex" },
    "agent codex requires CODEX_API_KEY in the environment of this step: set it with `env:`, from a secret",
  ],
])("rejects %j", (inputs, problem) => {
  expect(problemsOf(inputs)).toContain(problem);
});

test("says no more of one problem than that, and that nothing was started", () => {
  expect(problemsOf({ agent: "" })).toMatch(
    /^`agent` is required: .+\nNothing was started\. If .* start a new run: .*$/,
  );
});

test("names all problems together", () => {
  expect(problemsOf({ agent: "", remember: "yes" })).toMatch(
    /^\n- `agent` is required: .+\n- `remember` must be .+\nNothing was started\. If .* start a new run: .*$/,
  );
});

test("options of commits can be written as on a command line", () => {
  const lines = ['--commit-as "Docs Bot <bot@example.com>"', "--sign-off", "--trailer Assisted-by: Claude"];
  const { options } = read({ options: [...lines, "--trailer='Refs: DOC-1'", "--only docs/**"].join("\n") });
  expect(options).toMatchObject({
    commitAs: { name: "Docs Bot", email: "bot@example.com" },
    signsOff: true,
    trailers: ["Assisted-by: Claude", "Refs: DOC-1"],
    only: { patterns: ["docs/**"] },
  });
  expect(problemsOf({ options: "--sign-off true" })).toContain("not --sign-off true");
  // What the proxy of a model advises.
  expect(read({ options: "--agent-model-tools" }).options.allowsServerTools).toBe(true);
  expect(problemsOf({ agent: "claude@latest" })).toContain("the line --model NAME of options.");
  expect(problemsOf({ options: "--only" })).toContain("not --only");
});

test("commands may have options of their own, and quotation marks", () => {
  const options =
    "--setup pip install --target .deps -r docs/requirements.txt\n--check 'npm run build'\n--setup-host a.example";
  expect(read({ options }).options.commands).toMatchObject({
    setup: "pip install --target .deps -r docs/requirements.txt",
    check: "npm run build",
    setupHosts: ["a.example"],
  });
  expect(read({ options: `--check "a b" && "c d"` }).options.commands?.check).toBe('"a b" && "c d"');
  expect(problemsOf({ options: "--check x", sandbox: "none", "agent-network": "full" })).toContain("check requires");
});
