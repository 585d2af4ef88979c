import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { parseCommandLine } from "../../../src/options/command-line.ts";
import { readConfiguration } from "../../../src/options/config-file.ts";

/** Writes a configuration, as JSON unless it is text. Returns its file. */
function fileWith(content: unknown): string {
  const file = join(temporaryFolder(), "service.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function parse(args: string[], environment: Record<string, string> = {}) {
  const command = parseCommandLine(args, environment);
  if (command.kind === "invalid") return { error: command.error };
  if (command.kind !== "serve") throw new Error(`the command is ${command.kind}`);
  return command.options;
}

/** Returns the options of the command line `--config FILE`. */
function optionsOf(content: unknown, environment: Record<string, string> = {}) {
  const options = parse([`--config=${fileWith(content)}`], environment);
  if ("error" in options) throw new Error(options.error);
  return options;
}

/** Returns the problems of a configuration, without the name of its file. */
function problemsOf(content: unknown, environment: Record<string, string> = {}): string[] {
  const options = parse([`--config=${fileWith(content)}`], environment);
  if (!("error" in options)) throw new Error("the configuration is valid");
  expect(options.error).toMatch(/service\.json is not valid\.\n/);
  return options.error
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/^- /, ""));
}

/** Returns the problems of the keys of a project. */
const problemsWith = (keys: Record<string, unknown>, environment: Record<string, string> = {}): string[] =>
  problemsOf({ projects: { docs: { repository: "docs", ...keys } } }, environment);

test("a project needs only a repository", () => {
  const options = optionsOf({ projects: { docs: { repository: "/srv/docs" }, site: { repository: "/srv/site" } } });
  expect(options.projects).toEqual(["docs", "site"]);
  expect(options.settings.get("docs")).toMatchObject({
    repository: "/srv/docs",
    targetBranch: undefined,
    github: undefined,
    agent: { model: "documentation-editor" },
    sandbox: undefined,
    network: "full",
    agentsPerProject: undefined,
    timeLimitMs: 1_800_000,
    largestChangeBytes: 20_000_000,
    limits: {},
  });
  expect(options.settings.get("site")).toMatchObject({ repository: "/srv/site" });
  expect(options.settings.get("other")).toBeUndefined();
  expect(options.secretVariables).toEqual([]);
});

test.runIf(process.platform === "linux")("a project has its own agent, limits and pull requests", () => {
  const environment = { ANTHROPIC_API_KEY: "key", EXTRA: "more", DOCS_TOKEN: "of-docs", GITHUB_TOKEN: "of-others" };
  const { settings, secretVariables } = optionsOf(
    {
      projects: {
        docs: {
          repository: "https://git.example.com/acme/docs",
          base: "next",
          agent: "claude",
          model: "large",
          agentEnv: ["EXTRA"],
          agentReads: ["/opt/tools"],
          agentNetwork: "model",
          modelHosts: ["api.example.com"],
          agents: 2,
          memoryMb: 4000,
          diskMb: 1000,
          timeLimitMinutes: 0.5,
          largestChangeMb: 1.5,
          github: "acme/docs",
          githubApi: "https://git.example.com/api/v3/",
          githubTokenEnv: "DOCS_TOKEN",
        },
        site: {
          repository: "https://github.com/acme/site",
          agent: "./agent.sh",
          sandbox: "none",
        },
      },
    },
    environment,
  );
  expect(settings.get("docs")).toMatchObject({
    targetBranch: "next",
    agent: { model: "large", passes: expect.arrayContaining(["ANTHROPIC_API_KEY", "EXTRA"]), reads: ["/opt/tools"] },
    sandbox: "bwrap",
    network: "model",
    modelHosts: ["api.example.com"],
    agentsPerProject: 2,
    timeLimitMs: 30_000,
    limits: { memoryMb: 4000, diskMb: 1000 },
    largestChangeBytes: 1_500_000,
    github: {
      owner: "acme",
      name: "docs",
      apiUrl: "https://git.example.com/api/v3",
      token: "of-docs",
      tokenVariable: "DOCS_TOKEN",
    },
  });
  const site = settings.get("site");
  expect(site).toMatchObject({ sandbox: "none", github: { name: "site", token: "of-others" } });
  expect(site?.agent.command({ isFollowUp: false, isSandboxed: false }).args[1]).toBe("./agent.sh");
  expect(secretVariables).toEqual(["DOCS_TOKEN"]);
});

test.each([
  [[], "the file: expected an object"],
  [{}, "projects: expected an object with a key for each project"],
  [{ projects: {} }, "projects: expected at least one project"],
  [{ projects: { docs: "docs" } }, "projects.docs: expected an object"],
  [{ projects: { docs: {} } }, "projects.docs.repository: expected a URL or path, as git clone accepts it"],
  [
    { projects: { "a/b": { repository: "docs" } } },
    "projects.a/b: a project is named by letters, digits, and . _ - after the first one",
  ],
  [{ projects: { docs: { repository: "docs" } }, port: 1 }, "the file: expected only the keys projects, not port"],
])("rejects %j", (content, problem) => {
  expect(problemsOf(content)).toEqual([problem]);
});

test.each([
  [{ repository: "" }, "projects.docs.repository: expected a URL or path, as git clone accepts it"],
  [{ agnt: "claude" }, /^projects\.docs: expected only the keys repository, base, .*, not agnt$/],
  [{ base: "" }, "projects.docs.base: expected the name of a branch"],
  [{ agentEnv: "KEY" }, "projects.docs.agentEnv: expected a list of names of environment variables"],
  [{ agentEnv: ["KEY", "a b"] }, "projects.docs.agentEnv.1: expected the name of an environment variable"],
  [{ agentReads: [1] }, "projects.docs.agentReads.0: expected a path"],
  [{ sandbox: "docker" }, 'projects.docs.sandbox: expected "bwrap" or "none"'],
  [{ agentNetwork: true }, 'projects.docs.agentNetwork: expected "full" or "model" or "none"'],
  [{ agents: 0 }, "projects.docs.agents: expected an integer from 1 to 1000"],
  [{ agents: "2" }, "projects.docs.agents: expected an integer from 1 to 1000"],
  [{ memoryMb: 1.5 }, "projects.docs.memoryMb: expected an integer from 1 to 1000000000"],
  [{ timeLimitMinutes: 0 }, "projects.docs.timeLimitMinutes: expected a number greater than 0 and at most 10000"],
  [{ largestChangeMb: 10_001 }, "projects.docs.largestChangeMb: expected a number greater than 0 and at most 10000"],
  [{ githubTokenEnv: "$TOKEN" }, "projects.docs.githubTokenEnv: expected the name of an environment variable"],
  [{ githubTokenEnv: "DOCS_TOKEN" }, "projects.docs: DOCS_TOKEN is not set in the environment."],
  [{ github: "acme/docs" }, "projects.docs: github requires GITHUB_TOKEN in the environment."],
  [{ github: "acme" }, "projects.docs: github must be OWNER/NAME."],
  [{ agent: "claude" }, /^projects\.docs: agent claude requires ANTHROPIC_API_KEY or .* in the environment\.$/],
  [{ github: "" }, "projects.docs.github: expected OWNER/NAME"],
  [{ github: "acme/docs/more" }, "projects.docs: github must be OWNER/NAME."],
  [{ agentNetwork: "none" }, "projects.docs: agentNetwork none requires sandbox bwrap."],
  [{ agentEnv: ["GITHUB_TOKEN"] }, "projects.docs: agentEnv must not name GITHUB_TOKEN, which no agent may have."],
])("rejects the project %j", (keys, problem) => {
  expect(problemsWith(keys)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
});

test("no agent may have the token of another project", () => {
  const projects = {
    docs: { repository: "docs", githubTokenEnv: "DOCS_TOKEN" },
    site: { repository: "site", agent: "agent", agentEnv: ["DOCS_TOKEN"] },
  };
  const problem = "projects.site: agentEnv must not name DOCS_TOKEN, which no agent may have.";
  expect(problemsOf({ projects }, { DOCS_TOKEN: "secret" })).toEqual([problem]);
});

test("names all problems together", () => {
  const projects = { docs: { repository: "docs", agents: 0, memoryMb: 0 }, site: {} };
  expect(problemsOf({ projects })).toHaveLength(3);
  const others = { docs: { repository: "docs", agent: "codex" }, site: { repository: "site", agent: "claude" } };
  expect(problemsOf({ projects: others })).toHaveLength(2);
});

test("limits agents only on Linux", () => {
  using platform = vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
  const problem = "projects.docs: memoryMb and diskMb require Linux.";
  expect(problemsWith({ memoryMb: 100 })).toEqual([problem]);
  expect(platform).toHaveBeenCalled();
});

describe("--config", () => {
  test("rejects a file that cannot be read, or is not JSON", () => {
    expect(parse(["--config=/nowhere.json"])).toEqual({
      error: expect.stringMatching(/^The --config file cannot be read: ENOENT.*nowhere\.json/),
    });
    expect(parse([`--config=${fileWith("{ projects }")}`])).toEqual({
      error: expect.stringMatching(/service\.json is not JSON: /),
    });
  });

  test.each(["--repository=docs", "--agent=claude", "--project=docs", "--memory-mb=100", "--agents-per-project=1"])(
    "excludes %s",
    (option) => {
      const name = option.split("=")[0];
      expect(parse([`--config=${fileWith({})}`, option])).toEqual({
        error: `${name} cannot be used with --config, because the file has the options of each project.`,
      });
    },
  );

  test("goes with the options of the service, also of its roles", () => {
    const file = fileWith({ projects: { docs: { repository: "docs" } } });
    const common = [`--config=${file}`, "--agents=3", "--repository-moved"];
    expect(parse(common)).toMatchObject({ projects: ["docs"], agents: 3, isRepositoryMoved: true });
    const shared = [...common, "--store=postgres://db", "--public-url=https://agents.example.com"];
    const environment = { AGENT_SERVICE_KEY: "key" };
    expect(parse(["worker", ...shared], environment)).toMatchObject({ role: "worker", projects: ["docs"] });
    expect(parse(["api", ...shared], environment)).toMatchObject({ role: "api", projects: ["docs"] });
  });

  test("requires a public URL if the pull requests of any project are pages", () => {
    const projects = { docs: { repository: "https://github.com/acme/docs" }, site: { repository: "/srv/site" } };
    const args = (content: unknown) => ["worker", `--config=${fileWith(content)}`, "--store=postgres://db"];
    const environment = { GITHUB_TOKEN: "token" };
    expect(parse(args({ projects }), environment)).toEqual({ error: expect.stringContaining("requires --public-url") });
    expect(parse(args({ projects: { docs: projects.docs } }), environment)).toMatchObject({ role: "worker" });
  });

  test("allows no turn on Postgres that lasts a day", () => {
    const projects = { docs: { repository: "docs" }, site: { repository: "site", timeLimitMinutes: 1381 } };
    const options = ["--store=postgres://db", "--public-url=https://agents.example.com"];
    expect(parse([`--config=${fileWith({ projects })}`, ...options])).toEqual({
      error: expect.stringContaining("must be at most 1380 with a Postgres store"),
    });
  });
});

test("a duplicate project is an error", () => {
  const file = join(temporaryFolder(), "service.json");
  writeFileSync(file, '{"projects":{"docs":{"repository":"a"},"docs":{"repository":"b"}}}');
  expect(() => readConfiguration(file, {})).toThrow(`${file} is not valid.\n- projects.docs: duplicate key`);
});
