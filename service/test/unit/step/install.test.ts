import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { isInPath } from "../../../../src/runner-kit/agent-service.ts";
import { programs } from "../../../../test/support/programs.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { type InstallAgentOptions, installAgent } from "../../../step/setup/install-agent.ts";
import { runProgram } from "../../../step/setup/programs.ts";

describe("a program", () => {
  test("is in PATH if one of the folders has a file that can be executed", () => {
    const folder = programs({ agent: "" });
    const others = temporaryFolder();
    expect(isInPath("agent", folder)).toBe(true);
    expect(isInPath("agent", [others, folder].join(delimiter))).toBe(true);
    expect(isInPath("agent", others)).toBe(false);
    mkdirSync(join(others, "agent"));
    expect(isInPath("agent", others)).toBe(false);
    writeFileSync(join(others, "other"), "");
    chmodSync(join(others, "other"), 0o644);
    expect(isInPath("other", others)).toBe(false);
  });

  test("that fails is reported with its arguments and the end of its output", async () => {
    const script = "printf %020000d 7; echo; echo error >&2; exit 3";
    const error = await runProgram("/bin/sh", ["-c", script]).catch((reason: Error) => reason);
    expect(error).toMatchObject({ message: expect.stringMatching(/exited with 3: 0+7\nerror$/) });
    expect((error as Error).message).toMatch(/^\/bin\/sh -c printf /);
    expect((error as Error).message.length).toBeLessThan(10_100);
    expect((error as Error).message.length).toBeGreaterThan(10_000);
  });

  test("that cannot be started is reported", async () => {
    await expect(runProgram("/nowhere/agent", [])).rejects.toThrow("/nowhere/agent is not installed");
  });

  test("that succeeds is not, whatever it prints, and has no input", async () => {
    await expect(runProgram("/bin/sh", ["-c", "echo error >&2; cat"])).resolves.toBeUndefined();
  });
});

describe("an agent", () => {
  const npmAgent = { program: "codex", registry: "npm", name: "@acme/codex", version: "1.2.3" } as const;
  const pypiAgent = { program: "aider", registry: "pypi", name: "acme-aider", version: "4.5.6" } as const;
  let folder = "";
  let record = "";
  let lines: string[] = [];
  beforeEach(() => {
    folder = join(temporaryFolder(), "new/agent");
    record = join(temporaryFolder(), "record");
    lines = [];
    vi.stubEnv("KEY", "secret");
    onTestFinished(() => void vi.unstubAllEnvs());
  });

  /** Returns a script that records how it is run. */
  const recording = (then = "") => `echo "$(basename "$0") $@ in $(pwd), key $KEY" >> ${record}; ${then}`;

  const install = (PATH: string, options: Partial<InstallAgentOptions> = {}) =>
    installAgent({
      agent: npmAgent,
      isAllowed: true,
      folder,
      environment: { PATH, KEY: "secret" },
      info: (line) => void lines.push(line),
      signal: new AbortController().signal,
      ...options,
    });

  test("that is in PATH is not installed", async () => {
    const path = programs({ codex: "", npm: recording() });
    expect(await install(path)).toBe(path);
    expect(existsSync(record)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    expect(lines).toEqual(["Using codex in PATH; the version that was tested is 1.2.3"]);
  });

  test("is installed if its version was chosen, whatever is in PATH", async () => {
    const path = programs({ codex: "", npm: recording() }, ["basename"]);
    expect(await install(path, { isChosen: true })).toBe([join(folder, "bin"), path].join(delimiter));
    expect(lines).toEqual(["Installing @acme/codex 1.2.3, as agent-options says"]);
  });

  test("of npm is installed in a folder, whose programs come first", async () => {
    const path = programs({ npm: recording() }, ["basename"]);
    expect(await install(path)).toBe([join(folder, "bin"), path].join(delimiter));
    expect(readFileSync(record, "utf8")).toBe(
      `npm install --global --no-audit --no-fund --prefix=${folder} @acme/codex@1.2.3 in ${folder}, key \n`,
    );
    expect(lines).toEqual(["Installing @acme/codex 1.2.3, the version that was tested"]);
  });

  test("of PyPI is installed in an environment of its own", async () => {
    const pip = join(temporaryFolder(), "pip");
    writeFileSync(pip, `#!/bin/sh\n${recording()}\n`);
    chmodSync(pip, 0o755);
    const python3 = recording(`mkdir -p ${folder}/bin; ln -s ${pip} ${folder}/bin/pip`);
    const path = programs({ python3 }, ["basename", "mkdir", "ln"]);
    expect(await install(path, { agent: pypiAgent })).toBe([join(folder, "bin"), path].join(delimiter));
    expect(readFileSync(record, "utf8")).toBe(
      `python3 -m venv ${folder} in ${process.cwd()}, key \npip install --quiet acme-aider==4.5.6 in ${process.cwd()}, key \n`,
    );
  });

  test("that is missing and may not be installed is an error that says how", async () => {
    const path = programs({ npm: recording() });
    await expect(install(path, { isAllowed: false })).rejects.toMatchObject({
      title: "The agent is not installed",
      message: expect.stringMatching(
        /^codex was not found in PATH, and `--install` is false\. Run `npm install --global @acme\/codex@1\.2\.3` in a step before/,
      ),
    });
    expect(existsSync(record)).toBe(false);
  });

  test.each([
    [npmAgent, "npm", "npm install --global @acme/codex@1.2.3"],
    [pypiAgent, "python3", "pip install acme-aider==4.5.6"],
  ])("that cannot be installed is an error that says why: %j", async (agent, installer, command) => {
    const path = programs({ [installer]: "echo no such registry >&2; exit 1" });
    await expect(install(path, { agent })).rejects.toMatchObject({
      title: "The agent cannot be installed",
      message: expect.stringMatching(
        new RegExp(`^${installer} .*: no such registry\\nInstall it in a step before this one with \`${command}\`\\.`),
      ),
    });
  });

  test.each([npmAgent, pypiAgent])("is no longer installed once the run is cancelled: %j", async (agent) => {
    const path = programs({ npm: "exec sleep 300", python3: "exec sleep 300" }, ["sleep"]);
    await expect(install(path, { agent, signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      title: "The agent cannot be installed",
      message: expect.stringContaining("aborted"),
    });
  });
});
