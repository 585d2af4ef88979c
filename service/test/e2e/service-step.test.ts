import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { pathWith, programs } from "../../../test/support/programs.ts";
import { quoted } from "../../../test/support/quoted.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { parseOutputs, stepEnvironment } from "../../../tools/runner.ts";
import { listen } from "../../src/http/listen.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { isRunning, jobEnvironment, serviceStepFile, setUpGitHub, startServiceStep } from "../support/service-step.ts";

const obstacle = await findObstacle("bwrap");
const root = resolve(import.meta.dirname, "../../..");
const searchingAgent = resolve(root, "service/test/support/searching-agent.ts");
/** Returns the prompt of the searching agent. */
const searchPrompt = (search: object): string => Buffer.from(JSON.stringify(search)).reverse().toString("base64");
const ciNotice = expect.stringMatching(/^notice Workflows wait for approval: .*\/pull\/1 was opened with /);

/** Runs `main`, and expects it to fail with one annotation, which is returned. */
async function fail(
  options: Partial<Parameters<typeof startServiceStep>[0]>,
  reply?: Parameters<typeof setUpGitHub>[0],
): Promise<string | undefined> {
  const { github } = await setUpGitHub(reply);
  const service = await startServiceStep({ github, ...options });
  expect(service.exitCode).toBe(1);
  expect(service.annotations).toHaveLength(1);
  expect(service.outputs).toEqual({});
  const post = await service.post();
  expect(post.annotations).toEqual([]);
  expect(readdirSync(service.runnerTemp)).toEqual([]);
  if (service.process > 0) expect(isRunning(service.process)).toBe(false);
  return service.annotations[0];
}

test.each([
  ["true", ["POST /graphql"]],
  ["false", []],
])("asks GitHub once for each thing that it has to know about the token, with remember: %s", async (remember, more) => {
  const { github } = await setUpGitHub();
  const service = await startServiceStep({ github, inputs: { remember, sandbox: "none" } });
  expect(service.exitCode, service.log).toBe(0);
  const ofApi = github.requests.filter((route) => !route.includes(".git/"));
  // Whether it may open pull requests, and which account it acts for.
  expect(ofApi.sort()).toEqual([...more, `POST /repos/${github.owner}/${github.repo}/pulls`]);
  // The first one is whether it may push. The others are of the clone.
  const [first, ...others] = github.requests.filter((route) => route.includes(".git/"));
  expect(first).toMatch(/^GET .*\/info\/refs$/);
  expect(others).toHaveLength(5);
});

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
    expect(post.log).not.toContain("Log of job_");
    expect(isRunning(service.process)).toBe(false);
    expect(readdirSync(service.runnerTemp)).toEqual([]);
  });

  // Copilot's key is the workflow's token.
  test.each(["claude", "copilot"])(
    "%s finds neither the token nor a key in its environment, the workspace, the runner's files or its model's answers",
    async (agent) => {
      const { docs, github } = await setUpGitHub();
      const keys: unknown[] = [];
      const model = await listen((request, response) => {
        keys.push(request.headers["x-api-key"] ?? request.headers.authorization);
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
      const bin = programs({ [agent]: `[ "$1" = --version ] || exec ${quoted(process.execPath, searchingAgent)}` });
      const service = await startServiceStep({
        github,
        runnerTemp,
        inputs: { agent, options: `--agent-reads ${searchingAgent}` },
        environment: {
          PATH: pathWith(bin),
          GITHUB_WORKSPACE: workspace,
          ...(agent === "claude"
            ? { ANTHROPIC_API_KEY: secrets.key ?? "", ANTHROPIC_BASE_URL: model.url }
            : { COPILOT_API_URL: model.url }),
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
      expect(readFileSync(`/proc/${service.process}/environ`, "latin1")).not.toContain(github.token);
      const post = await service.post();
      expect(outputs.outcome, log + post.log).toBe("pr-created");
      const [first, ...found] = docs
        .read(outputs.ref ?? "", "report.md")
        .trim()
        .split("\n");
      expect(Number(first?.match(/\d+/)?.[0])).toBeGreaterThan(10);
      expect(found).toEqual([]);
      // Its requests have the key all the same, as has the one that checked Claude's.
      expect(keys).toEqual(agent === "claude" ? [secrets.key, secrets.key] : [`Bearer ${github.token}`]);
    },
  );

  test("the same search finds what an agent without a sandbox can read", async () => {
    const { docs, github } = await setUpGitHub();
    const workspace = temporaryFolder();
    writeFileSync(join(workspace, "config"), github.token);
    const service = await startServiceStep({
      github,
      inputs: { agent: quoted(process.execPath, searchingAgent), sandbox: "none", "agent-network": "full" },
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

  test("shows the logs of jobs that failed, without their workflow commands, and names the setting that they need", async () => {
    let isChecked = false;
    const { docs, github } = await setUpGitHub((route, response) => {
      if (!/^POST .*\/pulls$/.test(route)) return false;
      const status = isChecked ? 403 : 422;
      isChecked = true;
      const message = "GitHub Actions is not permitted to create or approve pull requests.";
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
      return true;
    });
    const agent = `prompt=$(cat); echo "$prompt" > page.md
      if [ "$prompt" = Fail ]; then echo "::error::forged"; echo "##[error]forged"; exit 3; fi`;
    const service = await startServiceStep({ github, inputs: { agent, "agent-network": "none" } });
    const run = (prompt: string) => step({ ...service.actionInputs, prompt }, service);
    const [failing, pushing] = [await run("Fail"), await run("Push")];
    expect(failing.outputs.outcome, failing.log).toBe("failed");
    expect(pushing.outputs.outcome, pushing.log).toBe("failed");
    expect(pushing.log).toContain('Turn on "Allow GitHub Actions to create and approve pull requests"');
    expect(docs.branches()).toEqual([pushing.outputs.ref]);
    const post = await service.post();
    expect(post.annotations).toEqual([]);
    for (const { outputs } of [failing, pushing]) expect(post.log).toContain(`Log of ${outputs["job-id"]}`);
    expect(post.log).toContain("| ::error::forged");
    expect(post.log).not.toContain("##[error]");
    expect(post.log).toContain("Log of the agent service");
  });

  test("installs on a runner of GitHub's what is missing, without the step's secrets, and removes the agent", async () => {
    const { docs, github } = await setUpGitHub();
    const record = temporaryFolder();
    const bwrap = execFileSync("which", ["bwrap"], { encoding: "utf8" }).trim();
    // Its namespaces are denied until that is changed.
    const denied = programs({
      bwrap: `[ "$1" = --version ] || grep -q sysctl ${record}/sudo || { echo "setting up uid map: Permission denied" >&2; exit 1; }
        exec ${bwrap} "$@"`,
    });
    const bin = programs(
      {
        sudo: `echo "$@" >> ${record}/sudo; [ "$2" != apt-get ] || ln -s ${denied}/bwrap "$(dirname "$0")/bwrap"`,
        npm: `{ echo "$@"; env; } > ${record}/npm
          for word in "$@"; do case "$word" in --prefix=*) prefix=\${word#--prefix=};; esac; done
          mkdir -p "$prefix/bin" && printf '#!/bin/sh\\n/bin/cat > prompt.md; echo "{\\\\"type\\\\":\\\\"turn.completed\\\\"}"\\n' > "$prefix/bin/codex"
          chmod +x "$prefix/bin/codex"`,
      },
      ["git", "sh", "ln", "dirname", "node", "grep", "env", "mkdir", "chmod"],
    );
    const inputs = { agent: "codex", "agent-network": "none", "workflow-token": "another" };
    const environment = {
      PATH: bin,
      RUNNER_ENVIRONMENT: "github-hosted",
      RUNNER_DEBUG: "1",
      CODEX_API_KEY: "sk-0123456789",
      ACTIONS_RUNTIME_TOKEN: "runtime-0123456789",
    };
    const service = await startServiceStep({ github, inputs, environment });
    expect(service.exitCode, service.log).toBe(0);
    expect(readFileSync(join(record, "sudo"), "utf8")).toBe(
      `--non-interactive apt-get install --yes --no-install-recommends bubblewrap
--non-interactive sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
`,
    );
    const npm = readFileSync(join(record, "npm"), "utf8");
    expect(npm).toMatch(/^install --global .*@openai\/codex@\d+\.\d+\.\d+\n/);
    expect(npm).not.toMatch(/sk-0123456789|runtime-0123456789|INPUT_|GITHUB_/);
    const { outputs } = await step({ ...service.actionInputs, prompt: "Write" }, service);
    const post = await service.post();
    expect(outputs.outcome, post.log).toBe("pr-created");
    expect(docs.read(outputs.ref ?? "", "prompt.md")).toContain("Write");
    expect(readdirSync(service.runnerTemp)).toEqual([]);
    // Nothing of CI: the token is not the workflow's own.
    expect(post.annotations).toEqual([]);
    // Because of RUNNER_DEBUG.
    expect(post.log).toContain(`Log of ${outputs["job-id"]}`);
    expect(post.log).toContain("Log of the agent service");
  });

  test("the service ends when the runner is gone without having run post", async () => {
    const { github } = await setUpGitHub();
    const environment = jobEnvironment(github);
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

  test("fails if the base branch does not exist, and leaves no folder of its agent's network", async () => {
    const TMPDIR = temporaryFolder();
    const inputs = { agent: "cat", options: "--model-host localhost", base: "develop" };
    expect(await fail({ inputs, environment: { TMPDIR } })).toMatch(/^error The agent service cannot start: .*develop/);
    expect(readdirSync(TMPDIR).filter((name) => name.startsWith("agent-proxy-"))).toEqual([]);
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

// The other reasons are tested with their texts in unit/step.
describe("fails before an agent runs, with one annotation that names the setting:", () => {
  const unconfined = { sandbox: "none", "agent-network": "full" };

  test("the agent cannot be installed", async () => {
    const environment = {
      GEMINI_API_KEY: "key-0123456789",
      PATH: pathWith(programs({ npm: "echo no such registry >&2; exit 1" })),
    };
    expect(await fail({ inputs: { ...unconfined, agent: "gemini" }, environment })).toMatch(
      /^error The agent cannot be installed: .*no such registry/,
    );
  });

  test("the model's API does not accept the key of the agent", async () => {
    const model = await listen((_request, response) => void response.writeHead(401).end("{}"));
    onTestFinished(() => model[Symbol.asyncDispose]());
    const environment = {
      PATH: pathWith(programs({ claude: "exit 1" })),
      ANTHROPIC_API_KEY: "sk-ant-0123456789",
      ANTHROPIC_BASE_URL: model.url,
    };
    const annotation = await fail({ inputs: { ...unconfined, agent: "claude" }, environment });
    expect(annotation).toContain("error The model's key is not valid: ");
    expect(annotation).toContain("does not accept the key in ANTHROPIC_API_KEY: replace it, or change agent");
  });

  test("the token may not push", async () => {
    const reply = (route: string, response: { writeHead(status: number): { end(): unknown } }) =>
      route.endsWith("/info/refs") ? Boolean(response.writeHead(403).end()) : false;
    expect(await fail({ inputs: unconfined }, reply)).toMatch(
      /^error The token may not push: .*`permissions: contents: write`/,
    );
  });
});
