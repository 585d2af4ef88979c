import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { createSandbox } from "../../../../src/agents/sandbox/create-sandbox.ts";
import { probe } from "../../../../src/agents/sandbox/probe.ts";
import { type SandboxAccess, unconfined } from "../../../../src/agents/sandbox/sandbox.ts";
import { seccompFilter } from "../../../../src/agents/sandbox/seccomp-filter.ts";

afterEach(() => vi.unstubAllEnvs());

/** Makes `PATH` a folder with one program: a shell script that writes its arguments to a file first. Returns that file. */
function install(program: string, script: string): string {
  const folder = temporaryFolder();
  const file = join(folder, "arguments");
  writeFileSync(join(folder, program), `#!/bin/sh\necho "$*" >> ${file}\n${script}\n`, { mode: 0o755 });
  for (const name of ["true", "sh", "od", "wc"]) symlinkSync(`/bin/${name}`, join(folder, name));
  vi.stubEnv("PATH", folder);
  return file;
}

const access: SandboxAccess = {
  currentDirectory: "/",
  writable: [],
  readable: [],
  hasNetwork: true,
  temporary: "/tmp",
};

const posix = describe.skipIf(process.platform === "win32");

posix("bwrap", () => {
  test.each([true, false])("is tried in a directory of its own, with the network: %s", async (hasNetwork) => {
    const file = install("bwrap", "");
    const folder = temporaryFolder();
    const log: string[] = [];
    const sandbox = await createSandbox("bwrap", folder, hasNetwork, (line) => void log.push(line));
    const args = readFileSync(file, "utf8");
    const directory = join(folder, "sandbox-test");
    expect(args).toContain(
      `--bind ${directory} /tmp --bind ${directory} /dev/shm --bind ${directory} ${directory} --remount-ro `,
    );
    expect(args).toContain(`--chdir ${directory} -- /bin/sh -c : > written\n`);
    expect(args.includes("--share-net")).toBe(hasNetwork);
    expect(existsSync(directory)).toBe(false);
    expect(log).toEqual([]);
    expect(sandbox.isConfining).toBe(true);
  });

  /** Returns the command of an agent if bubblewrap accepts these options. */
  async function createWith(script: string) {
    install("bwrap", script);
    const folder = temporaryFolder();
    const log: string[] = [];
    const sandbox = await createSandbox("bwrap", folder, true, (line) => void log.push(line));
    const { args, inherited } = sandbox.wrap({ file: "agent", args: [] }, access);
    const hardening = ["--seccomp", "--disable-userns"].filter((option) => args.includes(option));
    return { hardening, inherited, folder, log };
  }

  const hasFilter = seccompFilter(process.arch) !== undefined;

  test.runIf(hasFilter)("has a filter for system calls, and no user namespaces", async () => {
    // The filter arrives whole.
    const script = `[ "$(od -An -v -tu1 <&3 | wc -w)" = ${seccompFilter(process.arch)?.length} ]`;
    const { hardening, inherited, folder, log } = await createWith(script);
    expect(hardening).toEqual(["--seccomp", "--disable-userns"]);
    expect(inherited).toBe(join(folder, "system-calls.bpf"));
    expect(readFileSync(inherited ?? "")).toEqual(seccompFilter(process.arch));
    expect(log).toEqual([]);
  });

  test.runIf(hasFilter)("has only what the machine can do, and says what it cannot", async () => {
    const old = await createWith('case "$*" in *--disable-userns*) exit 1; esac');
    expect(old).toMatchObject({ hardening: ["--seccomp"], log: [] });
    const noFilter = await createWith('case "$*" in *--seccomp*) exit 1; esac');
    expect(noFilter.hardening).toEqual(["--disable-userns"]);
    expect(noFilter.log).toEqual([expect.stringContaining("No filter for system calls")]);
    const neither = await createWith('case "$*" in *--seccomp*|*--disable-userns*) exit 1; esac');
    expect(neither).toMatchObject({ hardening: [], inherited: undefined });
    expect(neither.log).toHaveLength(2);
  });

  test("that cannot run is an error that says why", async () => {
    install("bwrap", "echo 'no permissions' >&2; exit 1");
    const folder = join(temporaryFolder(), "new");
    await expect(createSandbox("bwrap", folder, true, () => {})).rejects.toThrow(/no permissions/);
    expect(existsSync(join(folder, "sandbox-test"))).toBe(false);
  });

  test("that is not installed is an error that says so", async () => {
    install("other", "");
    await expect(createSandbox("bwrap", temporaryFolder(), true, () => {})).rejects.toThrow(/is not installed/);
  });
});

posix("none", () => {
  async function create() {
    const log: string[] = [];
    const sandbox = await createSandbox("none", temporaryFolder(), true, (line) => void log.push(line));
    expect(log[0]).toMatch(/^Agents run without a sandbox/);
    return { sandbox, log };
  }

  const namespace = "--pid --mount-proc --fork --kill-child";

  test("runs agents in a PID namespace", async () => {
    const file = install("unshare", "");
    const { sandbox, log } = await create();
    expect(log).toHaveLength(1);
    expect(readFileSync(file, "utf8")).toBe(`${namespace} -- /bin/sh -c "$@"; exit $? sh true\n`);
    expect(sandbox.isConfining).toBe(false);
    const { file: program, args } = sandbox.wrap({ file: "agent", args: ["-p"] }, access);
    expect([program, ...args].join(" ")).toBe(`unshare ${namespace} -- /bin/sh -c "$@"; exit $? sh agent -p`);
  });

  test("uses a user namespace if it needs one", async () => {
    install("unshare", '[ "$1" = --user ]');
    const { sandbox, log } = await create();
    expect(log).toHaveLength(1);
    const { args } = sandbox.wrap({ file: "agent", args: [] }, access);
    expect(args.join(" ")).toBe(`--user --map-current-user ${namespace} -- /bin/sh -c "$@"; exit $? sh agent`);
  });

  test("says that processes can outlive their turn if there are no namespaces", async () => {
    install("unshare", "exit 1");
    const { sandbox, log } = await create();
    expect(log).toHaveLength(2);
    expect(log[1]).toMatch(/has no PID namespaces/);
    expect(sandbox).toBe(unconfined);
    expect(sandbox.isConfining).toBe(false);
    const command = { file: "agent", args: ["-p"] };
    expect(sandbox.wrap(command, access)).toBe(command);
  });
});

posix("a probe", () => {
  const run = (script: string, environment?: NodeJS.ProcessEnv) =>
    probe({ file: "/bin/sh", args: ["-c", script] }, environment);

  test("succeeds with exit code 0, whatever it prints", async () => {
    expect(await run("echo out; echo error >&2")).toBeUndefined();
  });

  test("returns what it printed to stderr, or else how it failed", async () => {
    expect(await run("echo ' broken ' >&2; exit 3")).toBe("broken");
    expect(await run("exit 3")).toMatch(/^Command failed/);
    expect(await probe({ file: "/no/such/program", args: [] })).toMatch(/ENOENT/);
  });

  test("has the environment it is given", async () => {
    expect(await run('[ "$ONLY" = this ] && [ -z "$HOME" ]', { ONLY: "this" })).toBeUndefined();
    vi.stubEnv("ONLY", "that");
    expect(await run('[ "$ONLY" = that ]')).toBeUndefined();
  });
});
