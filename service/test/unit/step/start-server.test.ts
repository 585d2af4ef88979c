import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { pathWith, programs } from "../../../../test/support/programs.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { portOf } from "../../../step/port.ts";
import { type StartOptions, startServer } from "../../../step/start-server.ts";
import { createFakeStepRunner } from "../../support/fake-step-runner.ts";

let folder = "";
let temp = "";
beforeEach(() => {
  folder = temporaryFolder();
  temp = join(folder, "temp");
  mkdirSync(temp);
});

/** What the service's process has seen. */
const seen = () => JSON.parse(readFileSync(join(folder, "seen.json"), "utf8"));

/** Returns a program that records what it gets, and runs a script, which has `reply`. */
function serviceProcess(script: string): string {
  const program = join(folder, "program.cjs");
  writeFileSync(
    program,
    `const fs = require("node:fs");
    const record = (seen) => fs.writeFileSync(${JSON.stringify(join(folder, "seen.json"))}, JSON.stringify(seen));
    const reply = (message, then) => process.send(message, then);
    process.once("message", (config) => {
      const seen = { config, environment: process.env, argv: process.argv.slice(2), cwd: process.cwd() };
      record(seen);
      process.once("message", (answer) => {
        record({ ...seen, answer });
        process.disconnect();
      });
      console.log("out");
      console.error("err");
      ${script}
    });`,
  );
  return program;
}

const url = "http://127.0.0.1:1234";
const listens = `reply({ url: "${url}" });`;
const token = "ghs_0123456789";

interface Run {
  inputs?: Record<string, string>;
  environment?: Record<string, string | undefined>;
  script?: string;
  options?: Partial<StartOptions>;
}

/** Runs `main`. */
function run({ inputs = {}, environment = {}, script = listens, options = {} }: Run) {
  const runner = createFakeStepRunner({
    inputs: {
      agent: "editor",
      "github-token": token,
      sandbox: "none",
      remember: "false",
      repository: "acme/docs",
      ...inputs,
    },
  });
  const started = startServer({
    runner,
    environment: { PATH: process.env.PATH, HOME: "/home/runner", RUNNER_TEMP: temp, ...environment },
    program: serviceProcess(script),
    signal: new AbortController().signal,
    ...options,
  });
  return { runner, started };
}

/** The process may need a while to start on a busy machine. */
const slow = { timeout: 30_000 };

async function start(options: Run) {
  const { runner, started } = run(options);
  await started;
  await vi.waitFor(() => expect(seen().answer).toBe("keep running"), slow);
  return runner;
}

describe("the step", () => {
  test("starts the service and sets the outputs", async () => {
    const runner = await start({});
    const apiKey = runner.outputs["api-key"] ?? "";
    expect(apiKey).toMatch(/^agent_[0-9a-f]{48}$/);
    expect(runner.outputs).toEqual({ "base-url": url, "project-id": "acme-docs-editor", "api-key": apiKey });
    expect(runner.masks).toEqual([apiKey, token]);
    expect(runner.annotations).toEqual([]);
    expect(runner.lines).toEqual([
      `The service listens on ${url}, for the project acme-docs-editor`,
      "Agent: documentation-editor. Repository: acme/docs. Sandbox: none",
      'If the agent fails, the end of its log is in that of this step\'s "Post", at the end of the job',
    ]);
    const path = join(temp, "agent-job-service-acme-docs-editor");
    expect(runner.states).toEqual({
      folder: path,
      isWorkflowToken: "false",
      process: expect.stringMatching(/^\d+$/),
    });
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(path, "service.log"), "utf8")).toBe("out\nerr\n");
    expect(statSync(join(path, "service.log")).mode & 0o777).toBe(0o600);
    const { argv, cwd, config } = seen();
    expect(argv).toEqual(["server", path]);
    expect(cwd).toBe(realpathSync(path));
    expect(config).toEqual({
      args: expect.arrayContaining(["--repository=https://github.com/acme/docs.git", "--sandbox=none"]),
      environment: {
        GITHUB_TOKEN: token,
        AGENT_SERVICE_KEY: apiKey,
        GITHUB_SERVER_URL: "https://github.com",
        GITHUB_API_URL: "https://api.github.com",
      },
      folder: path,
      projectId: "acme-docs-editor",
      secrets: [apiKey, token],
      port: portOf("acme-docs-editor"),
      runner: process.ppid,
    });
  });

  test("says how a limit of memory is checked", async () => {
    const runner = await start({ inputs: { options: "--memory-mb 100" } });
    expect(runner.lines).toContainEqual(expect.stringMatching(/^The memory of agents is read about every second, /));
  });

  test("saves whether the token is the workflow's own", async () => {
    const runner = await start({ inputs: { "workflow-token": token } });
    expect(runner.states.isWorkflowToken).toBe("true");
  });

  test("uses another folder if the usual one exists", async () => {
    for (const name of ["agent-job-service-acme-docs-editor", "agent-job-service-acme-docs-editor-2"])
      mkdirSync(join(temp, name));
    const runner = await start({});
    expect(runner.states.folder).toBe(join(temp, "agent-job-service-acme-docs-editor-3"));
  });

  test("uses a folder of the user if the runner has none for temporary files", async () => {
    const runner = await start({ environment: { RUNNER_TEMP: "", HOME: folder } });
    expect(runner.states.folder).toBe(join(folder, ".cache/agent-job-service-acme-docs-editor"));
  });

  test("fails if its folder cannot be created", async () => {
    writeFileSync(join(temp, "file"), "");
    const { started } = run({ environment: { RUNNER_TEMP: join(temp, "file/temp") } });
    await expect(started).rejects.toThrow("ENOTDIR");
    const name = "n".repeat(250);
    await expect(run({ inputs: { repository: `acme/${name}` } }).started).rejects.toThrow("ENAMETOOLONG");
  });

  test("needs Git", async () => {
    vi.stubEnv("PATH", temporaryFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { runner, started } = run({});
    await expect(started).rejects.toThrow("Git was not found in PATH");
    expect(runner.states).toEqual({});
  });

  test("rejects inputs before anything else, but after the masks", async () => {
    const { runner, started } = run({ inputs: { agent: "" } });
    await expect(started).rejects.toThrow("`agent` is required");
    expect(runner.masks).toEqual([expect.stringMatching(/^agent_/)]);
    expect(runner.states).toEqual({});
  });
});

describe("an agent of a preset", () => {
  const environment = { ANTHROPIC_API_KEY: "sk-ant-0123456789", ANTHROPIC_BASE_URL: "https://model.example" };
  const inputs = { agent: "claude", "agent-network": "full" };

  test("has its key, which no copy of its files may have", async () => {
    const path = pathWith(programs({ claude: "" }));
    const runner = await start({ inputs, environment: { ...environment, PATH: path, GITHUB_ENV: "/env" } });
    const { config, environment: ofProcess } = seen();
    expect(ofProcess).toMatchObject({ ...environment, PATH: path, HOME: "/home/runner" });
    expect(ofProcess).not.toHaveProperty("GITHUB_ENV");
    expect(config.secrets).toEqual([runner.outputs["api-key"], token, "sk-ant-0123456789"]);
  });

  test("may have other variables, whose values are secrets whatever their names are", async () => {
    const path = pathWith(programs({ claude: "" }));
    const options = ["MY_KEY", "NO_KEY", "DATABASE_URL", "REGION"].map((name) => `--agent-env ${name}`).join("\n");
    const keys = { MY_KEY: "12345678", DATABASE_URL: "postgres://docs:87654321@db/docs", REGION: "eu-central-1" };
    await start({ inputs: { ...inputs, options }, environment: { ...environment, ...keys, PATH: path } });
    expect(seen().config.secrets.slice(2)).toEqual(["sk-ant-0123456789", keys.MY_KEY, keys.DATABASE_URL]);
    expect(seen().environment).toMatchObject(keys);
  });

  test("is installed beside the service's folder if it is missing", async () => {
    const path = programs({ npm: "exit 0" });
    const runner = await start({ inputs, environment: { ...environment, PATH: path } });
    const installed = join(temp, "agent-job-service-acme-docs-claude-agent");
    expect(existsSync(installed)).toBe(true);
    expect(seen().environment.PATH).toBe(`${installed}/bin:${path}`);
    expect(runner.lines[0]).toMatch(/^Installing @anthropic-ai\/claude-code /);
  });

  test("is not installed without permission", async () => {
    const { started } = run({
      inputs: { ...inputs, install: "false" },
      environment: { ...environment, PATH: temporaryFolder() },
    });
    await expect(started).rejects.toMatchObject({ title: "The agent is not installed" });
  });
});

describe("the sandbox", () => {
  const record = () => join(folder, "sudo");
  const sudo = () => ({ sudo: `echo "$@" >> ${record()}; ln -s /bin/true "$(dirname "$0")/bwrap"` });
  const hosted = { RUNNER_ENVIRONMENT: "github-hosted" };

  /** Sets the programs that are installed. */
  function install(scripts: Record<string, string>): void {
    vi.stubEnv("PATH", programs(scripts, ["git", "ln", "dirname", "node"]));
    onTestFinished(() => void vi.unstubAllEnvs());
  }

  test("is tested before the service starts", async () => {
    install({ bwrap: 'echo "$@" >> "$(dirname "$0")/run"' });
    const runner = await start({ inputs: { sandbox: "bwrap" } });
    expect(runner.lines[1]).toContain("Sandbox: bwrap");
    expect(readFileSync(join(process.env.PATH ?? "", "run"), "utf8")).toContain(
      join(temp, "agent-job-service-acme-docs-editor/sandbox-test"),
    );
  });

  test("is installed on a runner of GitHub's", async () => {
    install(sudo());
    const runner = await start({ inputs: { sandbox: "bwrap" }, environment: hosted });
    expect(runner.lines[0]).toBe("Installing bubblewrap");
    expect(existsSync(record())).toBe(true);
  });

  test.each([
    ["on a runner of one's own", { RUNNER_ENVIRONMENT: "self-hosted" }, "true"],
    ["without permission", hosted, "false"],
  ])("is not installed %s", async (_where, environment, allowed) => {
    install(sudo());
    const { started } = run({ inputs: { sandbox: "bwrap", install: allowed }, environment });
    await expect(started).rejects.toMatchObject({ title: "No sandbox for the agent" });
    expect(existsSync(record())).toBe(false);
  });
});

describe("what is remembered", () => {
  const cache = { ACTIONS_CACHE_URL: "http://127.0.0.1/", ACTIONS_RUNTIME_TOKEN: "runtime" };
  const inputs = { remember: "true", "workflow-token": token };

  test("is found by what the service is told of the run", async () => {
    await start({ inputs, environment: { ...cache, ACTIONS_CACHE_MODE: "read", GITHUB_RUN_ATTEMPT: "1" } });
    expect(seen().config.remember).toEqual({
      cacheAccess: "read",
      cacheEnvironment: { ...cache, ACTIONS_CACHE_MODE: "read" },
      isWorkflowToken: true,
      isFirstAttempt: true,
      isOwnRepository: false,
    });
    expect(seen().environment).not.toHaveProperty("ACTIONS_RUNTIME_TOKEN");
    await start({ inputs: { ...inputs, "workflow-token": "other" }, environment: { GITHUB_RUN_ATTEMPT: "2" } });
    expect(seen().config.remember).toMatchObject({
      cacheAccess: "absent",
      isWorkflowToken: false,
      isFirstAttempt: false,
    });
  });

  test("is nothing if jobs are not remembered", async () => {
    const runner = await start({ environment: cache });
    expect(seen().config).not.toHaveProperty("remember");
    expect(runner.annotations).toEqual([]);
    expect(runner.lines.join("\n")).not.toContain("remembered");
  });

  const listening = (memory: unknown) => `reply({ url: "${url}", memory: ${JSON.stringify(memory)} });`;

  test("is said in the log, and is no warning on every run that cannot write to the cache", async () => {
    const runner = await start({ inputs, script: listening({ branches: "yes", cache: "read" }) });
    expect(runner.annotations).toEqual([]);
    expect(runner.lines).toContain("Jobs are remembered by their branches and pull requests");
    expect(runner.lines).toContainEqual(expect.stringContaining("`cache-mode: write`"));
  });

  test("is a warning if it is nothing although it should be", async () => {
    const runner = await start({ inputs, script: listening({ branches: "no", cache: "none" }) });
    expect(runner.annotations).toEqual([
      expect.stringMatching(/^warning Jobs are not remembered: .* GitHub does not tell which account/),
    ]);
  });
});

describe("a service that does not start", () => {
  test("says why", async () => {
    const { runner, started } = run({
      script:
        'reply({ title: "The token may not push", text: ["To ", { untrusted: "acme/docs" }] }, () => process.exit(1));',
    });
    await expect(started).rejects.toMatchObject({
      name: "SetupError",
      title: "The token may not push",
      text: ["To ", { untrusted: "acme/docs" }],
    });
    expect(runner.outputs).toEqual({});
    expect(runner.states.process).toMatch(/^\d+$/);
  });

  test.each([
    ["exits", "process.exit(3);", "The process of the service ended with 3"],
    ["is killed", 'process.kill(process.pid, "SIGKILL");', "The process of the service ended with SIGKILL"],
  ])("is an error if it %s", async (_how, script, message) => {
    await expect(run({ script }).started).rejects.toThrow(message);
  });

  test("is an error if its program is missing", async () => {
    const { started } = run({ options: { program: join(folder, "missing.cjs") } });
    await expect(started).rejects.toThrow("The process of the service ended with 1");
  });

  test("is no longer waited for once the run is cancelled", async () => {
    const cancellation = new AbortController();
    const { runner, started } = run({ script: "", options: { signal: cancellation.signal } });
    const rejected = expect(started).rejects.toBe("cancelled");
    await vi.waitFor(() => expect(seen()).toBeDefined(), slow);
    cancellation.abort("cancelled");
    await rejected;
    // It has a process group of its own, which a signal to the step's does not reach.
    process.kill(-Number(runner.states.process), "SIGKILL");
  });

  test("is not started if the run is cancelled before", async () => {
    const { runner, started } = run({ options: { signal: AbortSignal.abort("cancelled") } });
    await expect(started).rejects.toBe("cancelled");
    expect(runner.states.process).toBeUndefined();
  });
});
