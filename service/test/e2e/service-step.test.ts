import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { pathWith, programs } from "../../../test/support/programs.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { parseOutputs, stepEnvironment } from "../../../tools/runner.ts";
import { listen } from "../../src/http/listen.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { isRunning, serviceStepFile, setUpGitHub, startServiceStep } from "../support/service-step.ts";

const obstacle = await findObstacle("bwrap");
const root = resolve(import.meta.dirname, "../../..");
const searchingAgent = resolve(root, "service/test/support/searching-agent.ts");
/** Returns the prompt of the searching agent. */
const searchPrompt = (search: object): string => Buffer.from(JSON.stringify(search)).reverse().toString("base64");
const ciNotice = expect.stringMatching(/^notice Workflows wait for approval: .*\/pull\/1 was opened with /);

describe.skipIf(obstacle !== undefined)(`in a sandbox${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
  test("runs the service for the steps of a job, from nothing but dist, and leaves nothing behind", async () => {
    const { docs, github } = await setUpGitHub();
    const copy = temporaryFolder();
    for (const dist of ["dist", "service/dist"]) cpSync(join(root, dist), join(copy, dist), { recursive: true });
    const service = await startServiceStep({ github, mainFile: join(copy, "service/dist/index.js") });
    expect(service.exitCode, service.log).toBe(0);
    expect(service.annotations).toEqual([]);
    expect(service.log).toContain('If the agent fails, the end of its log is in that of this step\'s "Post"');
    expect(service.lines).toContainEqual(
      expect.objectContaining({ kind: "command", name: "add-mask", data: service.outputs["api-key"] }),
    );
    const prompt = 'Add a page "Quickstart" that says "Run npm ci."';
    const { outputs, log } = await step({ ...service.actionInputs, prompt }, { environment: service.environment });
    expect(outputs.outcome, log).toBe("pr-created");
    expect(outputs["pr-link"]).toMatch(/\/pull\/1$/);
    expect(docs.read(outputs.ref ?? "", "docs/quickstart.md")).toContain("Run npm ci.");
    expect(isRunning(service.process)).toBe(true);
    const post = await service.post();
    expect(post.exitCode).toBe(0);
    expect(post.annotations).toEqual([ciNotice]);
    expect(post.log).not.toContain("Log of");
    expect(isRunning(service.process)).toBe(false);
    expect(readdirSync(service.runnerTemp)).toEqual([]);
  });

  test("has the same address in each run", async () => {
    const { github } = await setUpGitHub();
    const first = await startServiceStep({ github });
    await first.post();
    const second = await startServiceStep({ github });
    expect(second.outputs["base-url"]).toBe(first.outputs["base-url"]);
    expect(second.outputs["project-id"]).toBe(`acme-${github.repo}-editor`);
    expect(second.outputs["api-key"]).not.toBe(first.outputs["api-key"]);
    // Both are for the same project on the same runner.
    const third = await startServiceStep({ github, runnerTemp: second.runnerTemp });
    expect(third.annotations).toEqual([expect.stringMatching(/^warning The usual port is in use: /)]);
    expect(third.exitCode).toBe(0);
    expect(third.outputs["base-url"]).not.toBe(first.outputs["base-url"]);
  });

  test("says nothing of CI if the token is not the workflow's own", async () => {
    const { github } = await setUpGitHub();
    const environment = { RUNNER_DEBUG: "1" };
    const service = await startServiceStep({ github, inputs: { "workflow-token": "another" }, environment });
    const { outputs } = await step({ ...service.actionInputs, prompt: 'Add a page "X"' }, service);
    expect(outputs.outcome).toBe("pr-created");
    const post = await service.post();
    expect(post.annotations).toEqual([]);
    // Because of RUNNER_DEBUG.
    expect(post.log).toContain(`Log of ${outputs["job-id"]}`);
    expect(post.log).toContain("Log of the agent service");
  });

  test("an agent finds neither the token nor a key in its environment, the workspace or the runner's files", async () => {
    const { docs, github } = await setUpGitHub();
    const keys: unknown[] = [];
    const model = await listen((request, response) => {
      keys.push(request.headers["x-api-key"]);
      response.end("{}");
    });
    onTestFinished(() => model[Symbol.asyncDispose]());
    const secrets: Record<string, string> = {
      token: github.token,
      runtime: "runtime-token-of-the-runner",
      key: "sk-ant-0123456789",
    };
    const runnerTemp = join(temporaryFolder(), "_temp");
    const workspace = temporaryFolder();
    mkdirSync(join(runnerTemp, "_runner_file_commands"), { recursive: true });
    writeFileSync(join(runnerTemp, "_runner_file_commands/set_env"), JSON.stringify(secrets));
    writeFileSync(join(workspace, "config"), JSON.stringify(secrets));
    const bin = programs({ claude: `exec ${process.execPath} ${searchingAgent}` });
    const service = await startServiceStep({
      github,
      runnerTemp,
      inputs: { agent: "claude", options: `--agent-reads ${searchingAgent}` },
      environment: {
        PATH: pathWith(bin),
        GITHUB_WORKSPACE: workspace,
        ANTHROPIC_API_KEY: secrets.key ?? "",
        ANTHROPIC_BASE_URL: model.url,
        ACTIONS_RUNTIME_TOKEN: secrets.runtime ?? "",
      },
    });
    expect(service.exitCode, service.log).toBe(0);
    const searched = {
      secrets: { ...secrets, "service's key": service.outputs["api-key"] ?? "" },
      folders: [
        runnerTemp,
        workspace,
        service.environment.HOME,
        resolve(root, "service/dist"),
        "/home",
        "/root",
        "/tmp",
        "/etc",
      ],
    };
    const prompt = searchPrompt(searched);
    const { outputs, log } = await step({ ...service.actionInputs, prompt }, service);
    const post = await service.post();
    expect(outputs.outcome, log + post.log).toBe("pr-created");
    const [first, ...found] = docs
      .read(outputs.ref ?? "", "report.md")
      .trim()
      .split("\n");
    expect(Number(first?.match(/\d+/)?.[0])).toBeGreaterThan(10);
    expect(found).toEqual([]);
    // Its requests have the key all the same, as has the one that checked it.
    expect(keys).toEqual([secrets.key, secrets.key]);
  });

  test("the same search finds what an agent without a sandbox can read", async () => {
    const { docs, github } = await setUpGitHub();
    const workspace = temporaryFolder();
    writeFileSync(join(workspace, "config"), github.token);
    const service = await startServiceStep({
      github,
      inputs: { agent: `${process.execPath} ${searchingAgent}`, sandbox: "none", "agent-network": "full" },
      environment: { RUNNER_TRACKING_ID: "github_0123456789" },
    });
    // Not in its environment, even so: the service itself does not have them there.
    const secrets = { token: github.token, "service's key": service.outputs["api-key"] ?? "" };
    const prompt = searchPrompt({ secrets, folders: [workspace] });
    const { outputs } = await step({ ...service.actionInputs, prompt }, service);
    const report = docs.read(outputs.ref ?? "", "report.md");
    expect(report).toContain(`token in ${workspace}/config`);
    expect(readFileSync(`/proc/${service.process}/environ`, "latin1")).not.toContain(github.token);
    expect(readFileSync(`/proc/${service.process}/environ`, "latin1")).toContain(
      "RUNNER_TRACKING_ID=github_0123456789",
    );
  });

  test("shows the logs of a job that failed, in which no workflow command takes effect", async () => {
    const { github } = await setUpGitHub();
    const service = await startServiceStep({
      github,
      inputs: { agent: 'echo "::error::forged"; echo "##[error]forged"; exit 3', "agent-network": "none" },
    });
    const { outputs } = await step({ ...service.actionInputs, prompt: "Fail" }, service);
    expect(outputs.outcome).toBe("failed");
    const post = await service.post();
    expect(post.annotations).toEqual([]);
    expect(post.log).toContain(`Log of ${outputs["job-id"]}`);
    expect(post.log).toContain("| ::error::forged");
    expect(post.log).not.toContain("##[error]");
    expect(post.log).toContain("Log of the agent service");
  });

  test("names the setting if GitHub Actions may not open pull requests", async () => {
    let isChecked = false;
    const { docs, github } = await setUpGitHub((route, response) => {
      if (!/^POST .*\/pulls$/.test(route)) return false;
      const status = isChecked ? 403 : 422;
      isChecked = true;
      const message = "GitHub Actions is not permitted to create or approve pull requests.";
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
      return true;
    });
    const service = await startServiceStep({ github });
    const { outputs } = await step({ ...service.actionInputs, prompt: 'Add a page "X"' }, service);
    expect(outputs.outcome).toBe("failed");
    expect(docs.branches()).toEqual([outputs.ref]);
    expect((await service.post()).annotations).toEqual([
      expect.stringMatching(
        /^error GitHub Actions may not open pull requests: .*"Allow GitHub Actions to create and approve pull requests"/,
      ),
    ]);
  });

  test("installs the tested version of an agent that is missing, without the step's secrets", async () => {
    const { docs, github } = await setUpGitHub();
    const record = join(temporaryFolder(), "npm.txt");
    const bin = programs({
      npm: `{ echo "$@"; env; } > ${record}
        for word in "$@"; do case "$word" in --prefix=*) prefix=\${word#--prefix=};; esac; done
        mkdir -p "$prefix/bin" && printf '#!/bin/sh\\ncat > prompt.md; echo "{\\\\"type\\\\":\\\\"turn.completed\\\\"}"\\n' > "$prefix/bin/codex"
        chmod +x "$prefix/bin/codex"`,
    });
    const inputs = { agent: "codex", "agent-network": "none" };
    const environment = {
      PATH: pathWith(bin),
      CODEX_API_KEY: "sk-0123456789",
      ACTIONS_RUNTIME_TOKEN: "runtime-0123456789",
    };
    const service = await startServiceStep({ github, inputs, environment });
    expect(service.exitCode, service.log).toBe(0);
    expect(readFileSync(record, "utf8")).toMatch(/^install --global .*@openai\/codex@\d+\.\d+\.\d+\n/);
    expect(readFileSync(record, "utf8")).not.toMatch(/sk-0123456789|runtime-0123456789|INPUT_|GITHUB_/);
    const { outputs } = await step({ ...service.actionInputs, prompt: "Write" }, service);
    const post = await service.post();
    expect(outputs.outcome, post.log).toBe("pr-created");
    expect(docs.read(outputs.ref ?? "", "prompt.md")).toContain("Write");
    expect(readdirSync(service.runnerTemp)).toEqual([]);
  });

  test("installs the sandbox on a runner of GitHub's, and only there", async () => {
    const { github } = await setUpGitHub();
    const record = join(temporaryFolder(), "sudo.txt");
    const bwrap = execFileSync("which", ["bwrap"], { encoding: "utf8" }).trim();
    const scripts = (): Record<string, string> => ({
      sudo: `echo "$@" >> ${record}; ln -s ${bwrap} "$(dirname "$0")/bwrap"`,
    });
    const inputs = { install: "true" };
    const links = ["git", "sh", "ln", "dirname", "node"];
    const own = await startServiceStep({ github, inputs, environment: { PATH: programs(scripts(), links) } });
    expect(own.exitCode).toBe(1);
    expect(own.annotations).toEqual([
      expect.stringMatching(
        /^error No sandbox for the agent: .*it is not installed.*apt-get install bubblewrap.*sandbox: none/,
      ),
    ]);
    expect(existsSync(record)).toBe(false);
    const hosted = { RUNNER_ENVIRONMENT: "github-hosted", PATH: programs(scripts(), links) };
    const kept = await startServiceStep({ github, inputs: { install: "false" }, environment: hosted });
    expect(kept.exitCode).toBe(1);
    expect(existsSync(record)).toBe(false);
    const service = await startServiceStep({ github, inputs, environment: hosted });
    expect(service.exitCode, service.log).toBe(0);
    expect(readFileSync(record, "utf8")).toBe(
      "--non-interactive apt-get install --yes --no-install-recommends bubblewrap\n",
    );
  });

  test("allows user namespaces to bubblewrap on a runner of GitHub's", async () => {
    const { github } = await setUpGitHub();
    const record = join(temporaryFolder(), "sudo.txt");
    const bwrap = execFileSync("which", ["bwrap"], { encoding: "utf8" }).trim();
    const bin = programs({
      sudo: `echo "$@" >> ${record}`,
      bwrap: `[ "$1" = --version ] || [ -e ${record} ] || { echo "setting up uid map: Permission denied" >&2; exit 1; }
        exec ${bwrap} "$@"`,
    });
    const own = await startServiceStep({ github, environment: { PATH: pathWith(bin) } });
    expect(own.annotations).toEqual([
      expect.stringMatching(
        /^error No sandbox for the agent: .*setting up uid map: Permission denied(?!.*install).*AppArmor profile in service\/docs\/agents\.md/,
      ),
    ]);
    const service = await startServiceStep({
      github,
      environment: { PATH: pathWith(bin), RUNNER_ENVIRONMENT: "github-hosted" },
    });
    expect(service.exitCode, service.log).toBe(0);
    expect(readFileSync(record, "utf8")).toBe(
      "--non-interactive sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n",
    );
  });

  test("the service ends when the runner is gone without having run post", async () => {
    const { github } = await setUpGitHub();
    const { environment } = await startServiceStep({ github, inputs: { agent: "" } });
    const inputs = { agent: "editor", "github-token": github.token, remember: "false" };
    const { variables } = stepEnvironment({ inputs, folder: temporaryFolder(), environment });
    const state = join(temporaryFolder(), "state");
    writeFileSync(state, "");
    // It stands for the process that runs the steps.
    const script = `require("child_process").spawnSync(process.execPath, [${JSON.stringify(serviceStepFile)}], { stdio: "inherit" });
      console.log("\\ndone"); setInterval(() => {}, 1000);`;
    const runner = spawn(process.execPath, ["--eval", script], { env: { ...variables, GITHUB_STATE: state } });
    onTestFinished(() => void runner.kill("SIGKILL"));
    let log = "";
    for await (const line of createInterface({ input: runner.stdout })) {
      if (line === "done") break;
      log += `${line}\n`;
    }
    const id = Number(parseOutputs(readFileSync(state, "utf8")).process);
    expect(isRunning(id), log).toBe(true);
    runner.kill("SIGKILL");
    await waitUntil(() => !isRunning(id));
  });

  test("a service that cannot start leaves no folder of its agent's network", async () => {
    const { github } = await setUpGitHub();
    const TMPDIR = temporaryFolder();
    const inputs = { agent: "cat", options: "--model-host localhost", base: "develop" };
    const service = await startServiceStep({ github, inputs, environment: { TMPDIR } });
    expect(service.annotations).toEqual([expect.stringMatching(/^error The agent service cannot start: .*develop/)]);
    expect(readdirSync(TMPDIR).filter((name) => name.startsWith("agent-proxy-"))).toEqual([]);
  });

  test("a step that is cancelled before it starts the service does not start it", async () => {
    const { github } = await setUpGitHub();
    const bwrap = execFileSync("which", ["bwrap"], { encoding: "utf8" }).trim();
    const bin = programs({ bwrap: `kill -INT $PPID; exec ${bwrap} "$@"` });
    const service = await startServiceStep({ github, environment: { PATH: pathWith(bin) } });
    expect(service.exitCode).toBe(1);
    expect(service.annotations).toEqual([expect.stringMatching(/^error Cancelled: /)]);
    expect(service.process).toBeNaN();
  });

  test.each(["SIGINT", "SIGKILL"] as const)(
    "a step that gets %s while it starts the service leaves no process",
    async (signal) => {
      let interrupt = (): void => {};
      // Never answered: the service is still starting.
      const { github } = await setUpGitHub((route) => {
        if (route.endsWith("/pulls")) interrupt();
        return route.endsWith("/pulls");
      });
      const onStart = (child: ChildProcess): void => {
        interrupt = () => child.kill(signal);
      };
      const service = await startServiceStep({ github, onStart });
      if (signal === "SIGINT") {
        expect(service.exitCode).toBe(1);
        expect(service.annotations).toEqual([expect.stringMatching(/^error Cancelled: /)]);
        expect((await service.post()).log).not.toContain("Log of");
        expect(isRunning(service.process)).toBe(false);
      }
      await waitUntil(() => !isRunning(service.process));
    },
  );
});

describe("fails before an agent runs, with one annotation that names the setting:", () => {
  /** Runs `main` and expects it to fail. */
  async function fail(
    options: Partial<Parameters<typeof startServiceStep>[0]>,
    reply?: Parameters<typeof setUpGitHub>[0],
  ) {
    const { github } = await setUpGitHub(reply);
    const unconfined = { sandbox: "none", "agent-network": "full" };
    const service = await startServiceStep({ github, ...options, inputs: { ...unconfined, ...options.inputs } });
    expect(service.exitCode).toBe(1);
    expect(service.annotations).toHaveLength(1);
    expect(service.outputs).toEqual({});
    const post = await service.post();
    expect(post.annotations).toEqual([]);
    expect(readdirSync(service.runnerTemp)).toEqual([]);
    if (service.process > 0) expect(isRunning(service.process)).toBe(false);
    return service.annotations[0];
  }

  test("the key of the agent is missing", async () => {
    expect(await fail({ inputs: { agent: "claude" } })).toMatch(
      /^error Invalid inputs of the agent service: agent claude requires ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN in the environment of this step: set it with `env:`, from a secret/,
    );
  });

  test("the model's API does not accept the key of the agent", async () => {
    const model = await listen((_request, response) => void response.writeHead(401).end("{}"));
    onTestFinished(() => model[Symbol.asyncDispose]());
    const bin = programs({ claude: "exit 1" });
    const key = { ANTHROPIC_API_KEY: "sk-ant-0123456789", ANTHROPIC_BASE_URL: model.url };
    const annotation = await fail({ inputs: { agent: "claude" }, environment: { PATH: pathWith(bin), ...key } });
    expect(annotation).toContain("error The model's key is not valid: ");
    expect(annotation).toContain("does not accept the key in ANTHROPIC_API_KEY: replace it, or change agent");
  });

  test("the agent is missing, and may not be installed", async () => {
    const environment = { GEMINI_API_KEY: "key-0123456789" };
    expect(await fail({ inputs: { agent: "gemini", install: "false" }, environment })).toMatch(
      /^error The agent is not installed: .*npm install --global @google\/gemini-cli@\d+\.\d+\.\d+/,
    );
  });

  test("the agent cannot be installed", async () => {
    const environment = {
      GEMINI_API_KEY: "key-0123456789",
      PATH: pathWith(programs({ npm: "echo no such registry >&2; exit 1" })),
    };
    expect(await fail({ inputs: { agent: "gemini" }, environment })).toMatch(
      /^error The agent cannot be installed: .*no such registry/,
    );
  });

  test("the token may not push", async () => {
    const reply = (route: string, response: { writeHead(status: number): { end(): unknown } }) =>
      route.endsWith("/info/refs") ? Boolean(response.writeHead(403).end()) : false;
    expect(await fail({}, reply)).toMatch(/^error The token may not push: .*`permissions: contents: write`/);
  });

  test("the token is not valid", async () => {
    expect(await fail({ inputs: { "github-token": "ghs_another_0123456789" } })).toMatch(
      /^error The token is not valid: /,
    );
  });

  test.each([
    ["Resource not accessible by integration", /`permissions: pull-requests: write`/],
    [
      "GitHub Actions is not permitted to create or approve pull requests.",
      /"Allow GitHub Actions to create and approve pull requests"/,
    ],
  ])("GitHub says: %s", async (message, setting) => {
    const annotation = await fail({}, (route, response) =>
      route.startsWith("POST ") ? Boolean(response.writeHead(403).end(JSON.stringify({ message }))) : false,
    );
    expect(annotation).toMatch(/^error The token may not open pull requests: /);
    expect(annotation).toMatch(setting);
  });

  test("Git is too old", async () => {
    const environment = { PATH: pathWith(programs({ git: "echo git version 2.38.5" })) };
    expect(await fail({ environment })).toMatch(
      /^error Git is missing or too old: The runner has git version 2\.38\.5\./,
    );
  });

  test("the base branch does not exist", async () => {
    expect(await fail({ inputs: { base: "develop" } })).toMatch(/^error The agent service cannot start: .*develop/);
  });
});
