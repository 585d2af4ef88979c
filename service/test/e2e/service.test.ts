import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inputsFor, serviceKey } from "../../../test/support/scripted-service.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { rows } from "../../../test/support/thorough.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { docsRepository, runJob, send, waitForJob } from "../support/agent-service.ts";
import { freePort } from "../support/free-port.ts";
import { mainFile, spawnService } from "../support/service-process.ts";

/** Writes its prompt to a page. For tests of other things: the built-in one is a Node process in a sandbox. */
const shellAgentOptions = ["--agent", "cat > docs/page.md", "--sandbox", "none"];

test("resumes a job after the service is killed, and the waiting step gets its pull request", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const gate = join(folder, "gate");
  const beats = join(folder, "beats");
  mkdirSync(beats);
  // Each attempt has a file that grows while it runs.
  const session = 'echo begun >> "$HOME/session"';
  const agent = `${session}; beat=$(mktemp ${beats}/XXXXXX); while [ ! -e ${gate} ]; do echo >> $beat; sleep 0.05; done; cat > docs/answer.md; cp "$HOME/session" docs`;
  const args = [
    "--repository",
    docs.path,
    "--agent",
    agent,
    "--sandbox",
    "none",
    "--project",
    "docs",
    "--store",
    join(folder, "jobs.sqlite"),
  ];
  const first = await spawnService(args);
  const { port } = new URL(first.url);
  const running = step(inputsFor(first, { prompt: "Answer the question" }));
  await waitUntil(() => readdirSync(beats).length === 1);
  const [orphan = ""] = readdirSync(beats);
  first.child.kill("SIGKILL");
  await waitUntil(() => first.child.signalCode !== null);

  await spawnService([...args, "--port", port]);
  await waitUntil(() => readdirSync(beats).length === 2);
  const size = statSync(join(beats, orphan)).size;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(statSync(join(beats, orphan)).size, "the agent of the killed service was killed too").toBe(size);
  writeFileSync(gate, "");
  const { exitCode, outputs, log } = await running;
  expect(outputs).toMatchObject({ outcome: "pr-created", "pr-number": "1", ref: `agent/${outputs["job-id"]}` });
  expect(exitCode).toBe(0);
  expect(log).toContain("The service is responding again.");
  expect(docs.branches()).toEqual([outputs.ref]);
  expect(docs.git("rev-list", "--count", `main..${outputs.ref}`)).toBe("1");
  expect(docs.read(outputs.ref ?? "", "docs/answer.md")).toBe("Answer the question");
  // A session of the first attempt would remember what is gone.
  expect(docs.read(outputs.ref ?? "", "docs/session").trim()).toBe("begun");
});

test.each([
  ["SIGTERM", 1],
  ["SIGKILL", 2],
] as const)(
  "what an agent made is published although %s ends the service while Git commits it",
  async (signal, runs) => {
    const [folder, bin] = [temporaryFolder(), temporaryFolder()];
    const [ran, slow, inside] = [join(folder, "ran"), join(bin, "slow"), join(bin, "inside")];
    writeFileSync(ran, "");
    writeFileSync(slow, "");
    const path = process.env.PATH ?? "";
    const git = `#!/bin/sh
case " $* " in *" write-tree "*) [ ! -e '${slow}' ] || { : > '${inside}'; sleep 2; };; esac
PATH='${path}' exec git "$@"
`;
    writeFileSync(join(bin, "git"), git, { mode: 0o755 });
    // It makes nothing if it finds in its home that it has done that.
    const agent = `printf x >> '${ran}'; [ -e "$HOME/done" ] || date > docs/page.md; : > "$HOME/done"`;
    const store = ["--project", "docs", "--store", join(folder, "jobs.sqlite")];
    const args = ["--repository", docsRepository().path, "--agent", agent, "--sandbox", "none", ...store];
    const environment = { PATH: `${bin}:${path}` };
    const first = await spawnService(args, environment);
    const { job } = await send(first, "docs/job", "Go on");
    await waitUntil(() => existsSync(inside));
    first.child.kill(signal);
    await once(first.child, "exit");
    rmSync(slow);
    const ended = await waitForJob(await spawnService(args, environment), job.id);
    expect(ended).toMatchObject({ status: "completed", prLink: expect.stringContaining("/pull/1") });
    expect(readFileSync(ran, "utf8")).toHaveLength(runs);
  },
);

test.each(rows(["SIGTERM", "SIGINT"] as const, 1))(
  "stops when npm receives %s, and is not left behind",
  async (signal) => {
    const store = join(temporaryFolder(), "jobs.sqlite");
    const args = ["run", "--silent", "service", "--", "--repository", docsRepository().path, "--store", store];
    const npm = spawn("npm", args, { stdio: ["ignore", "pipe", "inherit"], detached: true });
    onTestFinished(() => {
      // The group may be gone.
      spawnSync("kill", ["-KILL", "--", `-${npm.pid}`], { stdio: "ignore" });
    });
    let output = "";
    npm.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    await waitUntil(() => output.includes("Listening on"));
    npm.kill(signal);
    // It is closed when every process that has it is gone.
    await once(npm.stdout, "close");
    expect(output).toContain("Stopping the agents.");
  },
);

test("without a store, keeps its files in the user's state folder while it runs, which it does whoever reads its output", async () => {
  const state = temporaryFolder();
  const service = await spawnService(["--repository", docsRepository().path, "--project", "docs"], {
    XDG_STATE_HOME: state,
  });
  const [folder = ""] = readdirSync(join(state, "agent-job-service"));
  expect(readdirSync(join(state, "agent-job-service", folder))).toContain("mirror.git");
  // Whoever read the output has ended.
  service.child.stdout?.destroy();
  expect((await runJob(service, 'Add a page "X"')).status).toBe("completed");
  service.child.kill("SIGINT");
  expect(await once(service.child, "exit")).toEqual([0, null]);
  expect(readdirSync(join(state, "agent-job-service"))).toEqual([]);
});

test.runIf(existsSync("/dev/full"))("runs jobs while its output cannot be written", async () => {
  const port = await freePort();
  const full = openSync("/dev/full", "w");
  const repository = ["--repository", docsRepository().path, "--project", "docs", ...shellAgentOptions];
  const args = [mainFile, ...repository, "--port", String(port)];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, AGENT_SERVICE_KEY: serviceKey, XDG_STATE_HOME: temporaryFolder() },
    stdio: ["ignore", full, "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    closeSync(full);
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await waitUntil(answers);
  expect((await runJob({ url }, "X")).status).toBe("completed");
});

test("with --log-format json, all that it prints is JSON, without the key, and nobody else can read what it writes", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const start = (environment: NodeJS.ProcessEnv = {}) => {
    const store = ["--store", join(folder, "jobs.sqlite")];
    const repository = ["--repository", docs.path, "--project", "docs", ...shellAgentOptions];
    const child = spawn(process.execPath, [mainFile, ...repository, ...store, "--log-format", "json"], {
      env: { ...process.env, AGENT_SERVICE_KEY: serviceKey, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
      });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, output };
  };
  const parse = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  const { child, output } = start();
  await waitUntil(() => output.stdout.includes("Job logs"));
  const url = /Listening on ([^"]+)/.exec(output.stdout)?.[1] ?? "";
  const { id } = await runJob({ url }, 'Add a page "X"');
  await waitUntil(() => output.stdout.includes("turn 1 completed"));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  expect(files).toEqual(
    expect.arrayContaining(["jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite.files/mirror.git/config"]),
  );
  for (const file of files) expect(statSync(join(folder, file)).mode & 0o077, file).toBe(0);
  // Except in the repository.
  const branch = join(docs.path, "refs/heads/agent", id);
  expect(statSync(branch).mode & 0o777).toBe(0o666 & ~process.umask());
  child.kill("SIGTERM");
  await once(child, "close");
  const lines = parse(output.stdout);
  for (const line of lines)
    expect(line).toMatchObject({ level: "info", time: expect.any(String), msg: expect.any(String) });
  expect(lines).toContainEqual(expect.objectContaining({ msg: "API key from AGENT_SERVICE_KEY" }));
  expect(lines).toContainEqual(expect.objectContaining({ msg: `${id}: turn 1 completed`, job: id, turn: 1 }));
  expect(lines).toContainEqual(
    expect.objectContaining({ msg: "create accepted", job: id, request: expect.any(String) }),
  );
  expect(lines.at(-1)).toMatchObject({ msg: expect.stringMatching(/^Stopping the agents\./) });
  expect(output.stdout).not.toContain(serviceKey);
  expect(output.stderr).toBe("");

  // On a full disk.
  const bin = temporaryFolder();
  const reason = "error: failed to write new configuration file config.lock";
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh\n[ "$1" = --version ] && echo git version 2.39.0 && exit\necho "${reason}" >&2; exit 128\n`,
    { mode: 0o755 },
  );
  const failing = start({ PATH: `${bin}:${process.env.PATH}` });
  expect(await once(failing.child, "close")).toEqual([1, null]);
  expect(parse(failing.output.stdout)).toEqual([
    expect.objectContaining({ level: "info", msg: expect.stringContaining("without a sandbox") }),
    expect.objectContaining({
      level: "error",
      msg: expect.stringMatching(
        /^The service cannot start: .*The machine lacks .*disk space.* Start the service again/s,
      ),
    }),
  ]);
  expect(failing.output.stdout).toContain(reason);
  expect(failing.output.stderr).toBe("");
});

test("accepts the keys of a file that its commands write", async () => {
  const folder = temporaryFolder();
  const command = [mainFile, "key", "add", "ci", "--keys", "keys.json", "--project", "docs"];
  const added = spawnSync(process.execPath, command, { cwd: folder });
  expect(String(added.stderr)).toBe("Added ci for docs. The key is not shown again.\n");
  const args = ["--project", "docs", "--project", "site", "--keys", join(folder, "keys.json"), "--trust", "acme/docs"];
  const { url } = await spawnService(["--repository", docsRepository().path, ...args], {
    AGENT_SERVICE_KEY: "",
    XDG_STATE_HOME: folder,
  });
  const get = async (project: string, key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${url}/v2/agent/${project}/job/x`, { headers })).json();
  };
  const key = String(added.stdout).trim();
  expect(await get("docs", key)).toEqual({ error: "Job not found" });
  expect(await get("site", key)).toEqual({ error: "Project not found" });
  expect(await get("docs", "mint_wrong")).toEqual({ error: "Invalid API key" });
  expect(await get("docs", "eyJh.eyJp.c2ln")).toEqual({ error: "The token is malformed" });
});

test("does not start without bubblewrap, and says what to do", async () => {
  const bin = temporaryFolder();
  for (const program of ["git", "sh"])
    symlinkSync(execFileSync("which", [program], { encoding: "utf8" }).trim(), join(bin, program));
  const args = ["--repository", docsRepository().path, "--agent", "true"];
  const { status, stderr } = spawnSync(process.execPath, [mainFile, ...args], {
    env: { ...process.env, PATH: bin, XDG_STATE_HOME: bin },
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The service cannot start: .*--sandbox none/);
});

test("says in one line what is wrong with the options", () => {
  const { status, stderr } = spawnSync(process.execPath, [mainFile, "--repositry", "x"], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toBe("Unknown option '--repositry'\nnpm run service -- --help lists all options.\n");
});

test("gives the token of a project to no program, says which repository it cannot reach, and leaves no proxy's folder", () => {
  const [folder, TMPDIR, bin] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
  const [config, environment] = [join(folder, "service.json"), join(folder, "environment")];
  const projects = {
    docs: { repository: docsRepository().path, agent: "true", agentNetwork: "model", modelHosts: ["a.example"] },
    site: { repository: "git@127.0.0.1:site", githubTokenEnv: "SITE_TOKEN" },
  };
  writeFileSync(config, JSON.stringify({ projects }));
  const { status, stderr } = spawnSync(process.execPath, [mainFile, "--config", config], {
    env: {
      ...process.env,
      PATH: `${bin}:${process.env.PATH}`,
      TMPDIR,
      XDG_STATE_HOME: folder,
      SITE_TOKEN: "token_0123456789",
      // What Git runs to reach the repository.
      GIT_SSH_COMMAND: `env > ${environment}; false`,
    },
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The service cannot start: project site, repository git@127\.0\.0\.1:site: /);
  const given = readFileSync(environment, "utf8");
  expect(given).toContain("PATH=");
  expect(given).not.toContain("token_0123456789");
  expect(readdirSync(TMPDIR).filter((name) => name.startsWith("agent-proxy-"))).toEqual([]);
});
