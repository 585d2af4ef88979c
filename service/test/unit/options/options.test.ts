import { describe, expect, test, vi } from "vitest";
import { parseCommandLine } from "../../../src/options/command-line.ts";
import { createProjectSettings } from "../../../src/options/project-settings.ts";

/** Returns the options together with a project's. */
function parseArguments(args: string[], environment: Record<string, string> = {}) {
  const command = parseCommandLine(args, environment);
  if (command.kind === "invalid") return { error: command.error };
  if (command.kind !== "serve") throw new Error(`the command is ${command.kind}`);
  const { options } = command;
  const project = options.settings.get("docs");
  if (project === undefined) throw new Error("no project");
  return { ...options, ...project };
}

const parse = (line: string, environment: Record<string, string> = {}) => parseArguments(line.split(" "), environment);

test("requires only the repository", () => {
  expect(parse("--repository docs")).toMatchObject({
    repository: "docs",
    agent: { model: "documentation-editor" },
    modelHosts: [],
    allowsServerTools: false,
    projects: ["demo"],
    port: 0,
    publicUrl: undefined,
    timeLimitMs: 1_800_000,
    largestChangeBytes: 20_000_000,
    apiKey: undefined,
    keys: undefined,
    trust: [],
    trustIssuer: "https://token.actions.githubusercontent.com",
    github: undefined,
    deleteAfterDays: 400,
    isRepositoryMoved: false,
  });
});

test("prints the log for people unless told otherwise, and in JSON only without a key of its own", () => {
  expect(parse("--repository docs")).toMatchObject({ logFormat: "text", metricsListen: undefined });
  const key = { AGENT_SERVICE_KEY: "mint_key" };
  expect(parse("--repository docs --log-format json", key)).toMatchObject({ logFormat: "json" });
  expect(parse("--repository docs --log-format json")).toEqual({
    error: "--log-format json requires AGENT_SERVICE_KEY or --keys, because a generated key is printed.",
  });
  expect(parse("--repository docs --log-format json --keys keys.json")).toMatchObject({ logFormat: "json" });
  expect(parse("--repository docs --log-format xml", key)).toEqual({ error: "--log-format must be text or json." });
});

test("metrics can have an address and a port of their own", () => {
  const of = (text: string) => parse(`--repository docs --metrics-listen ${text}`);
  expect(of("9100")).toMatchObject({ metricsListen: { address: "127.0.0.1", port: 9100 } });
  expect(of("10.0.0.5:9100")).toMatchObject({ metricsListen: { address: "10.0.0.5", port: 9100 } });
  expect(of("[::1]:9100")).toMatchObject({ metricsListen: { address: "::1", port: 9100 } });
  for (const wrong of ["x", "70000", "example.com:9100", "10.0.0.5:"])
    expect(of(wrong)).toMatchObject({
      error: expect.stringContaining("--metrics-listen must be PORT or ADDRESS:PORT"),
    });
  const worker = "worker --repository docs --store postgres://db/agents --public-url https://agents.example.com";
  expect(parse(`${worker} --metrics-listen 9100`)).toMatchObject({ role: "worker", metricsListen: { port: 9100 } });
});

test("parses every option", () => {
  const options = parseArguments(
    [
      "--repository=git@github.com:acme/docs.git",
      "--agent=/path/to/agent.sh --fast",
      "--agents=3",
      "--project=a",
      "--project=b",
    ].concat([
      "--port=4100",
      "--public-url=https://agents.example.com/",
      "--time-limit-minutes=0.25",
      "--delete-after-days=0.5",
      "--repository-moved",
      "--store=jobs.sqlite",
      "--model=large",
    ]),
    { AGENT_SERVICE_KEY: "mint_key", GITHUB_TOKEN: "token" },
  );
  expect(options).toMatchObject({
    agent: { model: "large" },
    agents: 3,
    projects: ["a", "b"],
    port: 4100,
    publicUrl: "https://agents.example.com",
    timeLimitMs: 15_000,
    deleteAfterDays: 0.5,
    isRepositoryMoved: true,
    apiKey: "mint_key",
    github: { owner: "acme", name: "docs", apiUrl: "https://api.github.com", token: "token" },
  });
});

test.each([
  [[], 400],
  [["--delete-after-days=30"], 30],
  [["--delete-after-days=never"], undefined],
])("deletes jobs with %j after %s days", (args, deleteAfterDays) => {
  expect(parseArguments(["--repository=docs", ...args], {})).toMatchObject({ deleteAfterDays });
});

test.each(["Never", "0", "soon", ""])("rejects --delete-after-days=%s", (given) => {
  expect(parseArguments(["--repository=docs", `--delete-after-days=${given}`], {})).toMatchObject({
    error: expect.stringContaining("--delete-after-days must be never, or a number"),
  });
});

test.each([
  ["http://agents.example.com", "must be an https URL"],
  ["agents.example.com", "must be an https URL"],
  ["https://a:b@c.example", "must be an https URL"],
  ["https://example.com/agents?x", "must be an https URL"],
  ["https://example.com/agents#x", "must be an https URL"],
  ["", "must be an https URL"],
  ["https://example.com//agents", "names in the path"],
  ["https://example.com/a;b", "names in the path"],
  ["https://example.com/%61gents", "names in the path"],
  ["https://example.com/job", "must not begin with /job"],
  ["https://example.com/v2/agents", "must not begin with /v2"],
])("rejects the public URL %j", (url, error) => {
  expect(parseArguments(["--repository=docs", `--public-url=${url}`], {})).toEqual({
    error: expect.stringContaining(error),
  });
});

test.each([
  ["https://agents.example.com/", "https://agents.example.com"],
  ["https://Example.com:443/agents/", "https://example.com/agents"],
  ["https://example.com/tools/agent-jobs_1.0~x", "https://example.com/tools/agent-jobs_1.0~x"],
  ["http://localhost:8080/jobs", "http://localhost:8080/jobs"],
])("takes the public URL %s", (url, publicUrl) => {
  expect(parseArguments(["--repository=docs", `--public-url=${url}`], {})).toMatchObject({ publicUrl });
});

test("runs an agent's command with a shell", () => {
  const options = parseArguments(["--repository=docs", "--agent=/path/to/agent.sh --fast"], {});
  if ("error" in options) throw new Error("not parsed");
  expect(options.agent.command({ isFollowUp: false, isSandboxed: false }).args).toEqual([
    "-c",
    "/path/to/agent.sh --fast",
  ]);
});

test("runs every agent but the built-in editor in a sandbox, unless told otherwise", () => {
  expect(parse("--repository x")).toMatchObject({ sandbox: undefined });
  expect(parse("--repository x --sandbox bwrap")).toMatchObject({ sandbox: "bwrap" });
  expect(parse("--repository x --agent a")).toMatchObject({ sandbox: "bwrap" });
  expect(parse("--repository x --agent a --sandbox none")).toMatchObject({ sandbox: "none" });
});

test("gives named agents only their model and others the full network, unless told otherwise", () => {
  expect(parse("--repository x --agent a")).toMatchObject({ network: "full", modelHosts: [] });
  const keys = { ANTHROPIC_API_KEY: "a", CODEX_API_KEY: "b", GEMINI_API_KEY: "c" };
  expect(parse("--repository x --agent claude --sandbox none", keys)).toMatchObject({ network: "full" });
  for (const agent of ["claude", "codex", "gemini", "opencode", "aider"])
    expect(parse(`--repository x --agent ${agent}`, keys), agent).toMatchObject({ network: "model" });
  expect(parse("--repository x --agent a --agent-network model --model-host b:8443")).toMatchObject({
    network: "model",
    modelHosts: ["b:8443"],
  });
});

test.runIf(process.platform === "linux")("limits agents only if told to", () => {
  const limits = { memoryMb: undefined, processes: undefined, diskMb: undefined };
  expect(parse("--repository x")).toMatchObject({ limits });
  expect(parse("--repository x --disk-mb 1000")).toMatchObject({ limits: { ...limits, diskMb: 1000 } });
  expect(parse("--repository x --memory-mb 100")).toMatchObject({ limits: { memoryMb: 100, processes: 2000 } });
});

test("limits agents only on Linux", () => {
  using platform = vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
  expect(parse("--repository x --memory-mb 100")).toEqual({ error: "--memory-mb requires Linux." });
  expect(parse("--repository x")).toHaveProperty("limits.memoryMb", undefined);
  expect(platform).toHaveBeenCalled();
});

test("accepts the largest numbers", () => {
  expect(parse("--repository x --port 65535 --time-limit-minutes 10000")).toMatchObject({
    port: 65_535,
    timeLimitMs: 600_000_000,
  });
});

test("gives an agent more variables and files", () => {
  expect(parse("--repository x --agent a")).toMatchObject({ agent: { passes: [], reads: [] } });
  expect(
    parse("--repository x --agent a --agent-env A --agent-env B --agent-reads /opt/tools --agent-reads x", {
      A: "1",
      B: "2",
    }),
  ).toMatchObject({
    agent: { passes: ["A", "B"], reads: ["/opt/tools", `${process.cwd()}/x`] },
  });
});

describe("--agent", () => {
  /** Returns the script that an agent runs. */
  const scriptOf = (args: string[]) => {
    const options = parseArguments(["--repository=docs", ...args], { ANTHROPIC_API_KEY: "a" });
    if ("error" in options) throw new Error("not parsed");
    return options.agent.command({ isFollowUp: false, isSandboxed: false }).args[1];
  };

  test("takes the name of an agent only if it is the whole value", () => {
    expect(scriptOf(["--agent=claude"])).toContain("--output-format stream-json");
    expect(scriptOf(["--agent", " claude\n"])).toContain("--output-format stream-json");
    for (const command of ["/usr/bin/claude -p", "./claude", "claude-own -p", "toString"])
      expect(scriptOf([`--agent=${command}`])).toBe(command);
  });

  test.each(["claude --model opus", "claude@latest", "codex exec", "KEY=x gemini", "'claude' -p"])(
    "is not the name of an agent with more words, which would run without its key: %s",
    (agent) => {
      const name = /claude|codex|gemini/.exec(agent)?.[0];
      expect(parseArguments(["--repository=docs", `--agent=${agent}`])).toEqual({
        error: `--agent must be ${name} alone, with --model NAME as an option of its own. A command line of your own has to be in a script.`,
      });
    },
  );

  test("a model of an unknown program is only shown", () => {
    expect(parse("--repository x --agent cat --model large")).toMatchObject({ agent: { model: "large" } });
  });

  test("shows the model, or else the name", () => {
    const environment = { CODEX_API_KEY: "c" };
    expect(parse("--repository x --agent codex", environment)).toMatchObject({ agent: { model: "codex" } });
    expect(parse("--repository x --agent codex --model large", environment)).toMatchObject({
      agent: { model: "large" },
    });
  });
});

test.each([
  "https://github.com/acme/docs",
  "https://github.com/acme/docs.git",
  "https://github.com/acme/docs/",
  "https://me:secret@github.com/acme/docs",
  "ssh://git@github.com/acme/docs.git",
  "git@github.com:acme/docs",
])("opens pull requests of %s on GitHub if there is a token", (address) => {
  expect(parse(`--repository ${address}`, { GITHUB_TOKEN: "t" })).toMatchObject({
    github: { owner: "acme", name: "docs" },
  });
  expect(parse(`--repository ${address}`)).toMatchObject({ github: undefined });
});

test.each([
  "docs",
  "/mirrors/https://github.com/acme/docs",
  "https://github.com.example/acme/docs",
  "https://github.com/acme",
])("opens no pull requests of %s on GitHub unless told where", (address) => {
  expect(parse(`--repository ${address}`, { GITHUB_TOKEN: "t" })).toMatchObject({ github: undefined });
  const onGitHub = { github: "acme/manual", githubApi: "https://github.example/api/v3//" };
  expect(createProjectSettings({ repository: address, ...onGitHub }, { GITHUB_TOKEN: "t" })).toMatchObject({
    github: { owner: "acme", name: "manual", apiUrl: "https://github.example/api/v3" },
  });
});

test.each([
  ["https://github.com", undefined, "https://github.com/acme/docs", "https://api.github.com"],
  ["https://git.example", undefined, "https://git.example/acme/docs.git", "https://git.example/api/v3"],
  ["https://git.example/", "https://git.example/v3/", "git@git.example:acme/docs", "https://git.example/v3"],
  ["https://git.example", "https://git.example/v3", "https://github.com/acme/docs", "https://api.github.com"],
  ["https://acme.ghe.com", undefined, "https://acme.ghe.com/acme/docs", "https://api.acme.ghe.com"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/acme/docs", "http://127.0.0.1:8080"],
])("with GITHUB_SERVER_URL %s and GITHUB_API_URL %s, %s is on GitHub", (server, api, address, apiUrl) => {
  const environment = { GITHUB_TOKEN: "t", GITHUB_SERVER_URL: server, ...(api && { GITHUB_API_URL: api }) };
  expect(parse(`--repository ${address}`, environment)).toMatchObject({
    github: { owner: "acme", name: "docs", apiUrl },
  });
});

test.each([
  "https://git.example.evil/acme/docs",
  "http://git.example/acme/docs",
  "https://git.example:8443/acme/docs",
  "https://evil/@git.example/acme/docs",
])("sends no token to the GitHub of the environment for %s", (address) => {
  const environment = { GITHUB_TOKEN: "t", GITHUB_SERVER_URL: "https://git.example" };
  expect(parse(`--repository ${address}`, environment)).toMatchObject({ github: undefined });
});

test("rejects a GITHUB_API_URL that is none", () => {
  expect(parse("--repository git@github.com:acme/docs", { GITHUB_TOKEN: "t", GITHUB_API_URL: "api" })).toEqual({
    error: "GITHUB_API_URL must be a URL.",
  });
});

test("keeps files in the folder of STATE_DIRECTORY, with Postgres", () => {
  const environment = { STATE_DIRECTORY: "/var/lib/agents:/var/lib/other" };
  expect(parse("--repository docs --store postgres://db", environment)).toMatchObject({ folder: "/var/lib/agents" });
  expect(parse("--repository docs --store postgres://db")).toMatchObject({ folder: undefined });
  expect(parse("--repository docs --store a", environment)).toMatchObject({ folder: undefined, store: "a" });
});

test.each([
  ["--agent= ", "--agent is empty."],
  ["--store=", "--store is empty."],
])("rejects %s", (option, error) => {
  expect(parseArguments(["--repository=https://github.com/acme/docs", option])).toEqual({ error });
});

test("names who has access", () => {
  const options =
    "--repository x --project docs --keys keys.json --trust acme/docs:refs/heads/main --trust docs=acme/site " +
    "--trust-issuer https://github.example.com/_services/token";
  expect(parse(options)).toMatchObject({
    keys: "keys.json",
    trust: [
      { text: "acme/docs:refs/heads/main", repository: "acme/docs", ref: "refs/heads/main", project: undefined },
      { text: "docs=acme/site", repository: "acme/site", project: "docs" },
    ],
    trustIssuer: "https://github.example.com/_services/token",
  });
});

test("requires that all API processes have the same keys", () => {
  const api = "api --repository x --store postgres://db --public-url https://agents.example.com";
  expect(parse(api)).toEqual({
    error: "api requires AGENT_SERVICE_KEY, --keys or --trust, the same for all API processes.",
  });
  expect(parse(api, { AGENT_SERVICE_KEY: "mint_key" })).toMatchObject({ role: "api" });
  for (const option of ["--keys keys.json", "--trust acme/docs"])
    expect(parse(`${api} ${option}`)).toMatchObject({ role: "api", apiKey: undefined });
  expect(parse(api.replace("api", "worker"))).toMatchObject({ role: "worker" });
});

test.each([
  ["", "Unexpected argument ''"],
  ["--port 1", "--repository is required"],
  ["--repository x --port 70000", "--port must be an integer"],
  ["--repository x --port 1e3", "--port must be an integer"],
  ["--repository x --agents 0", "--agents must be an integer"],
  ["--repository x --time-limit-minutes 0", "--time-limit-minutes must be a number greater than 0"],
  ["--repository x --time-limit-minutes 1e1", "--time-limit-minutes must be a number greater than 0"],
  ["--repository x --time-limit-minutes 40000", "at most 10000"],
  ["--repository x --sandbox no", "--sandbox must be bwrap or none"],
  ["--repository x --agent a --agent-network some", "--agent-network must be full or model or none"],
  ["--repository x --agent a --agent-network model --sandbox none", "--agent-network model requires --sandbox bwrap"],
  ["--repository x --listen 0.0.0.0", "--listen requires --public-url, because others must use TLS"],
  ["--repository x --agent-network none", "--agent-network none requires --sandbox bwrap"],
  ["--repository x --memory-mb 0", "--memory-mb must be an integer"],
  ["--repository x --largest-change-mb 0", "--largest-change-mb must be a number greater than 0"],
  [
    "--repository x --agent claude",
    "--agent claude requires ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN in the environment.",
  ],
  ["--repository x --keys=", "--keys is empty"],
  ["--repository x --trust acme", "acme is not a repository to trust, such as acme/docs"],
  ["--repository x --trust docs=acme/docs", "--trust docs=acme/docs: there is no --project docs."],
  ["--repository x --trust-issuer https://a.b", "--trust-issuer requires --trust."],
  ["--repository x --trust a/b --trust-issuer http://a.b", "--trust-issuer must be an https URL"],
  ["--repository x --unknown", "Unknown option '--unknown'"],
])("rejects %j", (line, error) => {
  expect(parse(line)).toMatchObject({ error: expect.stringContaining(error) });
});

test.each([
  ["--repository x", "AGENT_SERVICE_KEY"],
  ["--repository x --agent claude", "ANTHROPIC_API_KEY"],
  ["--repository x --agent claude", "CLAUDE_CODE_OAUTH_TOKEN"],
  ["--repository https://github.com/acme/docs", "GITHUB_TOKEN"],
])("%s rejects a key in %s that is not valid in an HTTP header, and trims others", (line, name) => {
  for (const value of ["my\nkey", "my\r\nkey", "my key", "k\u00e9y"])
    expect(parse(line, { [name]: value })).toEqual({
      error: expect.stringMatching(
        `${name} has a line break, a space or another character that no key has: paste it again.`,
      ),
    });
  expect(parse(line, { [name]: " key-of-no-value\r\n" })).not.toHaveProperty("error");
  expect(parse("--repository x", { AGENT_SERVICE_KEY: "" })).toMatchObject({ apiKey: undefined });
});

test("a project that is given twice is an error", () => {
  expect(parse("--repository docs --project a --project b --project a")).toEqual({
    error: "--project a is given twice.",
  });
});

test("setup and check are for the sandbox, and setup reaches only hosts of the public network", () => {
  const sandboxed = ["--repository", "docs", "--agent", "a", "--sandbox", "bwrap"];
  const given = ["--setup", "npm ci", "--setup-host", "npm.example.com", "--check", "npm run build"];
  expect(parseArguments([...sandboxed, ...given])).toMatchObject({
    commands: { setup: "npm ci", setupHosts: ["npm.example.com"], check: "npm run build" },
  });
  expect(parseArguments(sandboxed)).toMatchObject({ commands: undefined });
  for (const option of ["--setup", "--check"]) {
    expect(parseArguments(["--repository", "docs", "--agent", "a", "--sandbox", "none", option, "x"])).toEqual({
      error: `${option} requires --sandbox bwrap.`,
    });
    // The editor has no sandbox unless it is given one.
    expect(parseArguments(["--repository", "docs", option, "x"])).toEqual({
      error: `${option} requires --sandbox bwrap.`,
    });
    expect(parseArguments([...sandboxed, option, " "])).toEqual({ error: `${option} is empty.` });
    const nothing = { error: `${option} has only comments: it would pass without doing anything.` };
    for (const comment of ["# npm test", " #\n\n\t# x "])
      expect(parseArguments([...sandboxed, option, comment])).toEqual(nothing);
    expect(parseArguments([...sandboxed, option, "# x\nnpm test"])).not.toHaveProperty("error");
  }
  expect(parseArguments([...sandboxed, "--setup-host", "a.example"])).toEqual({
    error: "--setup-host requires --setup.",
  });
  for (const host of ["localhost", "127.0.0.1:80", "192.168.1.1", "npm", "metadata.google.internal", "a b", "[::1]:80"])
    expect(parseArguments([...sandboxed, "--setup", "x", "--setup-host", host])).toEqual({
      error: `--setup-host ${host} is not a HOST or HOST:PORT of the public network.`,
    });
});
