import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { type Agent, shellAgent } from "../../../src/agents/agent.ts";
import { noNetwork } from "../../../src/agents/network/agent-network.ts";
import { bubblewrap } from "../../../src/agents/sandbox/bubblewrap.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import type { JobRecord } from "../../../src/model.ts";
import { jobLogFile } from "../../../src/service-folder.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  readPage,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { findObstacle } from "../../support/sandbox-obstacle.ts";

const obstacle = await findObstacle("bwrap");

interface Commands {
  setup?: string;
  check?: string;
}

const commandsOf = ({ setup, check }: Commands) => ({ setup, check, reads: [], setupNetwork: noNetwork });

describe.skipIf(obstacle !== undefined)(`in a sandbox${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
  /** What is ignored is installed; the check passes if no page has the word. */
  const check = '. ./deps/lib && ! grep -rn "$word" docs';
  const setup = 'mkdir -p deps && echo "word=broken" > deps/lib';
  const files = { ".gitignore": "deps/\n", "docs/index.md": "# Docs\n" };

  const start = (
    docs: ReturnType<typeof docsRepository>,
    agent: Agent,
    commands: Commands,
    more: AgentServiceOptions = {},
  ) => startAgentService(docs, { agent, sandbox: bubblewrap, commands: commandsOf(commands), ...more });

  let steps = 0;
  /** Sends a prompt, and returns what its job and its turn became. */
  async function run(service: AgentService, prompt: string, job?: string) {
    const step = `step-${++steps}`;
    const path = job === undefined ? "docs/job" : `docs/job/${job}/message`;
    const sent = await send(service, path, prompt, { "idempotency-key": `"${step}.1"` });
    const ended = await waitForJob(service, sent.job.id);
    return { job: ended, ...(await ofStep(service, step)), log: logOf(service, ended) };
  }

  async function ofStep(service: { url: string }, step: string) {
    const headers = { authorization: `Bearer ${serviceKey}` };
    const found = await fetch(`${service.url}/v2/agent/docs/job?step=${step}`, { headers });
    const [turn] = ((await found.json()) as { turns: Record<string, unknown>[] }).turns;
    return { turn };
  }

  const logOf = ({ folder }: AgentService, { id }: JobRecord) =>
    existsSync(jobLogFile(folder, id)) ? readFileSync(jobLogFile(folder, id), "utf8") : "";

  test("what setup leaves in ignored files is there for the agent and the check, which is a fact of the turn", async () => {
    const docs = docsRepository(files);
    const metrics = new PrometheusMetrics();
    const agent = shellAgent(
      'cat deps/lib > docs/seen.md; echo "word=nothing" > deps/lib; sed -i s/broken/seen/ docs/seen.md',
    );
    await using service = await start(
      docs,
      agent,
      { setup: `${setup}; echo left > left.txt; git config core.hooksPath x`, check },
      { metrics },
    );
    const { job, turn, log } = await run(service, "Go on");
    expect(turn).toMatchObject({ status: "completed", check: "passed" });
    expect(docs.read(`agent/${job.id}`, "docs/seen.md")).toBe("word=seen");
    expect(docs.git("ls-tree", "-r", "--name-only", `agent/${job.id}`)).not.toContain("left.txt");
    expect(log).toContain("because no .gitignore of agent/");
    expect(log).toContain("left.txt");
    expect(await metrics.render(undefined)).toContain('agent_service_checks_total{result="passed"} 1');
    expect(await readPage(service, `/job/${job.id}`)).toContain("check passed");
  });

  test("an agent whose commit breaks the check gets one more go, and both goes are one commit and one cost", async () => {
    const docs = docsRepository(files);
    const agent = shellAgent(`prompt=$(cat); echo "$prompt" >> "$HOME/prompts"; cp "$HOME/prompts" docs/prompts.txt
      case "$prompt" in *"check of your change"*) echo fixed > docs/a.md; sed -i s/broken/BROKEN/ docs/prompts.txt;; *) echo broken > docs/a.md;; esac
      echo '{"message":"I did it","costUsd":0.5}' > "$AGENT_RESULT_FILE"`);
    await using service = await start(docs, agent, { setup, check });
    const { job, turn } = await run(service, "Go on");
    expect(turn).toMatchObject({ status: "completed", check: "passed", usage: { costUsd: 1 } });
    expect(docs.read(`agent/${job.id}`, "docs/a.md")).toBe("fixed");
    expect(docs.read(`agent/${job.id}`, "docs/prompts.txt")).toContain("docs/a.md:1:BROKEN");
    expect(docs.git("rev-list", "--count", `main..agent/${job.id}`).trim()).toBe("1");
  });

  test("a second go that repairs nothing leaves the first commit, and the next turn is told what failed", async () => {
    const docs = docsRepository(files);
    const agent = shellAgent(`prompt=$(cat); case "$prompt" in
      *"check of your change"*) exit 1;;
      *"last commit of this job"*) echo good > docs/a.md;;
      *) echo "broken" > docs/a.md; echo '{"message":"First words"}' > "$AGENT_RESULT_FILE";; esac`);
    await using service = await start(docs, agent, { setup, check });
    const first = await run(service, "Go on");
    expect(first.turn).toMatchObject({ status: "completed", check: "failed", message: "First words" });
    expect(docs.read(`agent/${first.job.id}`, "docs/a.md")).toBe("broken");
    expect(await readPage(service, `/job/${first.job.id}`)).toContain("docs/a.md:1:broken");
    const next = await run(service, "More", first.job.id);
    expect(next.turn).toMatchObject({ status: "completed", check: "passed" });
    expect(docs.read(`agent/${first.job.id}`, "docs/a.md")).toBe("good");
  });

  test("if setup fails, no agent runs, and nothing is pushed", async () => {
    const docs = docsRepository(files);
    await using service = await start(docs, shellAgent("echo x > docs/x.md"), {
      setup: "echo no such package; exit 3",
    });
    const { job, turn } = await run(service, "Go on");
    expect(turn).toMatchObject({
      status: "failed",
      reason: expect.stringMatching(/--setup ended with exit code 3.*\n.*no such package/),
    });
    expect(docs.branches()).not.toContain(`agent/${job.id}`);
  });

  test("setup runs only what the project's own branch has, whatever an agent wrote or ignores", async () => {
    const docs = docsRepository({
      ...files,
      "install.sh": "mkdir -p deps; echo own > deps/lib",
      "docs/page.mdx": "own",
    });
    const agent = shellAgent(`cp deps/lib docs/seen.txt; cat > docs/prompt.md
      echo 'mkdir -p deps; echo hostile > deps/lib' > install.sh; echo hostile > docs/page.mdx; echo hostile > deps/lib
      mkdir -p deps/bin; echo hostile > deps/bin/tool`);
    const all = "sh install.sh; cat docs/page.mdx >> deps/lib; cp -r deps/. deps2 2>/dev/null; true";
    await using service = await start(docs, agent, {
      setup: all,
      check: "! test -e deps/bin && cat deps/lib && ! grep hostile deps/lib",
    });
    const first = await run(service, "Go on");
    expect(first.turn).toMatchObject({ check: "passed" });
    const second = await run(service, "Again", first.job.id);
    expect(second.turn).toMatchObject({ check: "passed" });
    expect(docs.read(`agent/${first.job.id}`, "docs/seen.txt")).toBe("own\nown");
  });

  test("what setup leaves is no part of the change, although the agent no longer ignores it", async () => {
    const docs = docsRepository(files);
    const many = `${setup}; cd deps; seq 1500 | xargs touch; git init -q repo; echo x > repo/x; ln -s / up`;
    const agent =
      shellAgent(`case "$(cat)" in *"check of your change"*) cat deps/lib deps/repo/x > docs/seen.txt; echo fixed > docs/a.md;; *) echo broken > docs/a.md;; esac
      echo 'build/' > .gitignore; echo changed >> deps/1; rm deps/2; echo own > deps/own.txt; mkdir -p build deps/new; echo own > deps/new/file`);
    await using service = await start(docs, agent, { setup: many, check });
    const { job, turn, log } = await run(service, "Go on");
    expect(turn, log).toMatchObject({ status: "completed", check: "failed" });
    const names = docs.git("diff", "--name-only", `main..agent/${job.id}`).trim().split("\n");
    expect(names).toEqual([".gitignore", "deps/new/file", "deps/own.txt", "docs/a.md", "docs/seen.txt"]);
    expect(docs.read(`agent/${job.id}`, "docs/seen.txt")).toBe("word=broken\nx");
    expect(log).toMatch(/These files of --setup are no part of the change, .*deps\/\S+, .* and \d+ more\n/);
  });

  test("links in ignored files lead neither the service nor the check out of the worktree", async () => {
    const secret = join(temporaryFolder(), "secret");
    writeFileSync(secret, "secret of the operator");
    const docs = docsRepository(files);
    const agent = shellAgent(
      `ls -l deps > docs/links.txt; (cat deps/file; cat deps/up/* ) > docs/got.txt 2>/dev/null; rm -rf deps; ln -s / deps`,
    );
    const links = `mkdir deps; ln -s ${secret} deps/file; ln -s ../../../.. deps/up; ln -s ${secret} docs/index.md 2>/dev/null; rm docs/index.md; ln -s ${secret} docs/index.md`;
    await using service = await start(docs, agent, {
      setup: links,
      check: "! cat deps/file && ! grep -r secret docs/got.txt docs/index.md",
    });
    const { job, turn } = await run(service, "Go on");
    expect(turn).toMatchObject({ status: "completed", check: "passed" });
    expect(docs.read(`agent/${job.id}`, "docs/got.txt")).not.toContain("secret of");
    expect(docs.read(`agent/${job.id}`, "docs/index.md")).toBe("# Docs");
    expect(readFileSync(secret, "utf8")).toBe("secret of the operator");
  });

  test("a check reaches no network, changes nothing, and what it prints and starts ends with it", async () => {
    const docs = docsRepository(files);
    const hostile = `echo more >> docs/a.md; git add -A; git -c user.name=x -c user.email=x commit -qm more; git update-ref refs/heads/main HEAD
      (sleep 1000 &); (setsid sleep 1000 &)
      head -c 60000000 /dev/zero | tr '\\0' 'x'; printf '\\033[31mred\\n@everyone [skip ci]\\n'
      ! node -e 'require("net").connect(80, "1.1.1.1").on("error", () => process.exit(1)).on("connect", () => process.exit(0))' && test -z "$HTTPS_PROXY" && exit 1`;
    await using service = await start(docs, shellAgent("echo a > docs/a.md"), { check: hostile });
    const { job, turn, log } = await run(service, "Go on");
    // It fails at the start, too.
    expect(turn).toMatchObject({ status: "completed", check: "failed-before" });
    expect(docs.read(`agent/${job.id}`, "docs/a.md")).toBe("a");
    expect(log.length).toBeLessThan(25_000_000);
    const page = await readPage(service, `/job/${job.id}`);
    expect(page).toContain("red\n@everyone");
  });

  test("a stop in setup means that nothing happens", async () => {
    const docs = docsRepository(files);
    await using service = await start(docs, shellAgent("echo a > docs/a.md"), { setup: "echo begun; sleep 1000" });
    const { job } = await send(service, "docs/job", "Go on", { "idempotency-key": '"stop.1"' });
    await waitUntil(() => logOf(service, job).includes("| begun"));
    const { turn } = await ofStep(service, "stop");
    const stop = `${service.url}/v2/agent/docs/job/${job.id}/turn/${turn?.turn}/stop`;
    await fetch(stop, { method: "POST", headers: { authorization: `Bearer ${serviceKey}` } });
    await waitForJob(service, job.id);
    expect((await ofStep(service, "stop")).turn).toMatchObject({ status: "stopped" });
    expect(docs.branches()).not.toContain(`agent/${job.id}`);
  });

  test("a turn that is interrupted between its goes goes on with the check, and runs no agent again", async () => {
    const docs = docsRepository(files);
    const folder = temporaryFolder();
    const store = join(folder, "jobs.sqlite");
    const { openSqliteStore } = await import("../../../src/store/sqlite/open-store.ts");
    const options = { folder: join(folder, "files"), openStore: async () => openSqliteStore(store) };
    const agent = shellAgent(`echo run >> "$HOME/runs"; cp "$HOME/runs" docs/runs.md
      case "$(cat)" in *"check of your change"*) echo again; sleep 1000;; *) echo broken > docs/a.md;; esac`);
    const first = await start(docs, agent, { setup, check }, options);
    const { job } = await send(first, "docs/job", "Go on", { "idempotency-key": '"again.1"' });
    await waitUntil(() => logOf(first, job).includes("| again"));
    await first[Symbol.asyncDispose]();
    await using second = await start(docs, agent, { setup, check }, options);
    await waitForJob(second, job.id);
    expect((await ofStep(second, "again")).turn).toMatchObject({ status: "completed", check: "failed" });
    expect(docs.read(`agent/${job.id}`, "docs/a.md")).toBe("broken");
    expect(docs.read(`agent/${job.id}`, "docs/runs.md")).toBe("run");
  });

  test("hooks and settings that setup leaves in .git are gone when the agent begins", async () => {
    const docs = docsRepository(files);
    const hooks = `mkdir -p .git/hooks deps; printf '#!/bin/sh\\ntouch docs/hooked.md\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
      git config core.hooksPath deps; echo docs/ >> .git/info/exclude 2>/dev/null || { mkdir -p .git/info; echo docs/ > .git/info/exclude; }`;
    const agent = shellAgent(
      `git config core.hooksPath > docs/path.md; ls .git/hooks .git/info > docs/hooks.md 2>/dev/null; git add -A; git commit -qm x; git status --short > docs/status.md; true`,
    );
    await using service = await start(docs, agent, { setup: hooks });
    const { job, turn } = await run(service, "Go on");
    expect(turn).toMatchObject({ status: "completed" });
    const branch = `agent/${job.id}`;
    expect([docs.read(branch, "docs/path.md"), docs.read(branch, "docs/hooks.md")]).toEqual(["", ""]);
    expect(docs.git("ls-tree", "-r", "--name-only", branch)).not.toContain("docs/hooked.md");
  });
});
