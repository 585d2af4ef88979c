import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { basename, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { pathWith, programs } from "../../../test/support/programs.ts";
import { quoted } from "../../../test/support/quoted.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { listen } from "../../src/http/listen.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { agentStep, jobEnvironment, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/* What a step with an agent checks and installs, what its agent can reach, and what is left of it. */

const obstacle = await findObstacle("bwrap");
const root = resolve(import.meta.dirname, "../../..");
const searchingAgent = resolve(root, "service/test/support/searching-agent.ts");
/** Returns the prompt of the searching agent. */
const searchPrompt = (search: object): string => Buffer.from(JSON.stringify(search)).reverse().toString("base64");
const editPrompt = 'Add a page "Quickstart" that says "Run npm ci."';

test.each(["true", "false"])(
  "asks GitHub once for each thing that it has to know about the token, with --remember %s",
  async (remember) => {
    const { github } = await setUpGitHub();
    const options = `--sandbox none\n--remember ${remember}`;
    const { outputs, log } = await agentStep(github, { prompt: editPrompt, "agent-options": options });
    expect(outputs.outcome, log).toBe("pr-created");
    const asked = (route: string): number => github.requests.filter((one) => one === route).length;
    // Which account it acts for.
    expect(asked("POST /graphql")).toBe(1);
    // Whether it may open pull requests; the other one opens it.
    expect(asked(`POST /repos/${github.owner}/${github.repo}/pulls`)).toBe(2);
  },
);

describe.skipIf(obstacle !== undefined)(`in a sandbox${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
  test("runs from nothing but dist, and leaves nothing behind", async () => {
    const { docs, github } = await setUpGitHub();
    const copy = temporaryFolder();
    for (const dist of ["dist", "service/dist"]) cpSync(join(root, dist), join(copy, dist), { recursive: true });
    const mainFile = join(copy, "dist/index.js");
    const { outputs, log, job, annotations } = await agentStep(github, { prompt: editPrompt }, { mainFile });
    expect(outputs.outcome, log).toBe("pr-created");
    expect(outputs["pr-link"]).toMatch(/\/pull\/1$/);
    expect(docs.read(outputs.ref ?? "", "docs/quickstart.md")).toContain("Run npm ci.");
    expect(annotations).toEqual([
      expect.stringMatching(/^notice Workflows wait for approval: .*\/pull\/1 was opened with /),
    ]);
    expect(log).not.toContain("Log of job_");
    expect(readdirSync(job.RUNNER_TEMP)).toEqual([basename(outputs["log-file"] ?? "")]);
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
      const job = jobEnvironment(github);
      const workspace = temporaryFolder();
      mkdirSync(join(job.RUNNER_TEMP, "_runner_file_commands"), { recursive: true });
      writeFileSync(join(job.RUNNER_TEMP, "_runner_file_commands/set_env"), JSON.stringify(secrets));
      writeFileSync(join(workspace, "config"), JSON.stringify(secrets));
      const bin = programs({ [agent]: `[ "$1" = --version ] || exec ${quoted(process.execPath, searchingAgent)}` });
      const searched = {
        secrets,
        folders: [
          job.RUNNER_TEMP,
          workspace,
          job.HOME,
          resolve(root, "service/dist"),
          "/home",
          "/root",
          "/tmp",
          "/etc",
        ],
      };
      const { outputs, log } = await agentStep(
        github,
        { agent, prompt: searchPrompt(searched), "agent-options": `--agent-reads ${searchingAgent}` },
        {
          job,
          environment: {
            PATH: pathWith(bin),
            GITHUB_WORKSPACE: workspace,
            ...(agent === "claude"
              ? { ANTHROPIC_API_KEY: secrets.key ?? "", ANTHROPIC_BASE_URL: model.url }
              : { COPILOT_API_URL: model.url }),
            ACTIONS_RUNTIME_TOKEN: secrets.runtime ?? "",
          },
        },
      );
      expect(outputs.outcome, log).toBe("pr-created");
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
    const prompt = searchPrompt({ secrets: { token: github.token }, folders: [workspace] });
    const agent = quoted(process.execPath, searchingAgent);
    const { outputs, log } = await agentStep(github, { agent, prompt, "agent-options": unconfined });
    expect(outputs.outcome, log).toBe("pr-created");
    expect(docs.read(outputs.ref ?? "", "report.md")).toContain(`token in ${workspace}/config`);
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
    const environment = {
      PATH: bin,
      RUNNER_ENVIRONMENT: "github-hosted",
      RUNNER_DEBUG: "1",
      CODEX_API_KEY: "sk-0123456789",
      ACTIONS_RUNTIME_TOKEN: "runtime-0123456789",
    };
    const inputs = { agent: "codex", prompt: "Write", "workflow-token": "another" };
    const { outputs, log, job, annotations } = await agentStep(
      github,
      { ...inputs, "agent-options": "--agent-network none" },
      { environment },
    );
    expect(outputs.outcome, log).toBe("pr-created");
    expect(readFileSync(join(record, "sudo"), "utf8")).toBe(
      `--non-interactive apt-get install --yes --no-install-recommends bubblewrap
--non-interactive sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
`,
    );
    const npm = readFileSync(join(record, "npm"), "utf8");
    expect(npm).toMatch(/^install --global .*@openai\/codex@\d+\.\d+\.\d+\n/);
    expect(npm).not.toMatch(/sk-0123456789|runtime-0123456789|INPUT_|GITHUB_/);
    expect(docs.read(outputs.ref ?? "", "prompt.md")).toContain("Write");
    expect(readdirSync(job.RUNNER_TEMP)).toEqual([basename(outputs["log-file"] ?? "")]);
    // Nothing of CI: the token is not the workflow's own.
    expect(annotations).toEqual([]);
    // Because of RUNNER_DEBUG.
    expect(log).toContain(`Log of ${outputs["job-id"]}`);
    expect(log).toContain("Log of the agent service");
  });

  test("a repository without a default branch is an error that leaves no folder of the agent's network", async () => {
    const { docs, github } = await setUpGitHub();
    docs.git("symbolic-ref", "HEAD", "refs/heads/none");
    const TMPDIR = temporaryFolder();
    const inputs = { agent: "cat", prompt: "Write", "agent-options": "--model-host model.example" };
    const { annotations, log } = await agentStep(github, inputs, { environment: { TMPDIR } });
    expect(annotations, log).toEqual([
      expect.stringMatching(/^error The agent service cannot start: .*default branch/),
    ]);
    expect(readdirSync(TMPDIR).filter((name) => name.startsWith("agent-proxy-"))).toEqual([]);
  });
});

test("shows the logs of jobs that failed, without their workflow commands, and names the setting that they need", async () => {
  let asked = 0;
  const { docs, github } = await setUpGitHub((route, response) => {
    if (!/^POST .*\/pulls$/.test(route)) return false;
    // The first one of each step finds out whether one may be opened.
    const status = asked++ % 2 === 0 ? 422 : 403;
    const message = "GitHub Actions is not permitted to create or approve pull requests.";
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
    return true;
  });
  const failing = await agentStep(github, {
    agent: 'echo "::error::forged"; echo "##[error]forged"; exit 3',
    prompt: "Fail",
    "agent-options": unconfined,
  });
  expect(failing.outputs.outcome, failing.log).toBe("failed");
  expect(failing.log).toContain("| ::error::forged");
  expect(failing.log).not.toContain("##[error]");
  asked = 0;
  const agent = 'cat > page.md; [ "$(cat page.md)" = Push ]';
  const pushing = await agentStep(github, { agent, prompt: "Push", "agent-options": unconfined });
  expect(pushing.outputs.outcome, pushing.log).toBe("failed");
  expect(pushing.log).toContain('Turn on "Allow GitHub Actions to create and approve pull requests"');
  expect(docs.branches()).toEqual([pushing.outputs.ref]);
  for (const { outputs, log } of [failing, pushing]) {
    expect(log).toContain(`Log of ${outputs["job-id"]}`);
    expect(log).toContain("Log of the agent service");
  }
});

test("a step that is cancelled while GitHub is asked about the token has started nothing", async () => {
  let cancel = (): void => {};
  // Never answered: the service is still starting.
  const { github } = await setUpGitHub((route) => {
    if (route.endsWith("/pulls")) cancel();
    return route.endsWith("/pulls");
  });
  const onStart = (child: ChildProcess): void => {
    cancel = () => child.kill("SIGINT");
  };
  const inputs = { prompt: editPrompt, "agent-options": "--sandbox none" };
  // It ends when no process has its output any more.
  const { outputs, annotations, log } = await agentStep(github, inputs, { onStart });
  expect(outputs, log).toMatchObject({ outcome: "cancelled", "job-id": "" });
  expect(annotations).toEqual([expect.stringMatching(/^error Cancelled: /)]);
  expect(log).not.toContain("Log of job_");
});

// The other reasons are tested with their texts in unit/step.
describe("fails before an agent runs, with one annotation that names the setting:", () => {
  /** Expects a step to fail with one annotation, which is returned, and to leave nothing. */
  async function fail(
    inputs: Record<string, string>,
    environment: Record<string, string> = {},
    reply?: (route: string, response: ServerResponse) => boolean,
  ): Promise<string | undefined> {
    const { github } = await setUpGitHub(reply);
    const given = { prompt: editPrompt, "agent-options": unconfined, ...inputs };
    const { outputs, annotations, log, job } = await agentStep(github, given, { environment });
    expect(outputs, log).toMatchObject({ outcome: "error", "job-id": "" });
    expect(annotations, log).toHaveLength(1);
    expect(readdirSync(job.RUNNER_TEMP)).toEqual([]);
    return annotations[0];
  }

  test("the agent cannot be installed", async () => {
    const PATH = pathWith(programs({ npm: "echo no such registry >&2; exit 1" }));
    expect(await fail({ agent: "gemini" }, { GEMINI_API_KEY: "key-0123456789", PATH })).toMatch(
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
    const annotation = await fail({ agent: "claude" }, environment);
    expect(annotation).toContain("error The model's key is not valid: ");
    expect(annotation).toContain("does not accept the key in ANTHROPIC_API_KEY: replace it, or change agent");
  });

  test("the token may not push", async () => {
    const reply = (route: string, response: ServerResponse): boolean =>
      route.endsWith("/info/refs") ? Boolean(response.writeHead(403).end()) : false;
    expect(await fail({}, {}, reply)).toMatch(/^error The token may not push: .*`permissions: contents: write`/);
  });
});
