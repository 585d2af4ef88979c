import { existsSync, lstatSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { bubblewrap, explainBubblewrapError } from "../../../../src/agents/sandbox/bubblewrap.ts";
import type { SandboxAccess } from "../../../../src/agents/sandbox/sandbox.ts";

test.runIf(process.platform === "linux")("says what to do if bubblewrap cannot run", () => {
  expect(explainBubblewrapError("spawn bwrap ENOENT")).toMatch(
    /is not installed.*apt-get install bubblewrap.*--sandbox none/,
  );
  expect(explainBubblewrapError("bwrap: Can't set hostname to agent: Operation not permitted")).toMatch(
    /ProtectHostname=yes.*--sandbox none/,
  );
  const denied = explainBubblewrapError("bwrap: setting up uid map: Permission denied");
  for (const part of ["setting up uid map: Permission denied", "AppArmor", "container", "--sandbox none"])
    expect(denied).toContain(part);
  expect(denied.split("\n")).toHaveLength(4);
});

test("says that a sandbox needs Linux", () => {
  const platform = vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
  try {
    expect(explainBubblewrapError("spawn bwrap ENOENT")).toMatch(/^The sandbox requires Linux.*--sandbox none/);
  } finally {
    platform.mockRestore();
  }
});

const access: SandboxAccess = {
  currentDirectory: "/job/tree",
  writable: ["/job/home", "/job/tree"],
  readable: ["/opt/agent", "/ca.pem"],
  hasNetwork: false,
  temporary: "/job/tmp",
};

/** Returns the arguments that run an agent. */
function argumentsFor(changes: Partial<SandboxAccess> = {}): string {
  const { file, args } = bubblewrap.wrap(
    { file: "/opt/agent/bin/agent", args: ["-p", "--"] },
    { ...access, ...changes },
  );
  expect(file).toBe("bwrap");
  return args.join(" ");
}

test.runIf(existsSync("/proc/keys"))("hides the keys of the kernel, of all users", () => {
  for (const file of ["/proc/keys", "/proc/key-users"])
    expect(argumentsFor()).toContain(`--ro-bind /dev/null ${file} `);
});

test("isolates an agent, which dies with the service", () => {
  const args = argumentsFor();
  expect(args).toMatch(/^--unshare-all --die-with-parent --new-session --cap-drop ALL --hostname agent /);
  expect(args).toMatch(/ --chdir \/job\/tree -- \/opt\/agent\/bin\/agent -p --$/);
  expect(argumentsFor({ hasNetwork: true })).toMatch(/^--unshare-all --share-net --die-with-parent /);
});

test("shows what the agent may read, after the files of the system, and what it may write after that", () => {
  expect(argumentsFor()).toContain(
    [
      "--bind /job/tmp /tmp --bind /job/tmp /dev/shm",
      "--ro-bind-try /opt/agent /opt/agent --ro-bind-try /ca.pem /ca.pem",
      "--bind /job/home /job/home --bind /job/tree /job/tree",
      "--remount-ro /dev --remount-ro / --chdir",
    ].join(" "),
  );
});

test("shows of the system only programs, and what they need to start", () => {
  const args = argumentsFor();
  expect(args).toContain(" --ro-bind-try /usr /usr ");
  const kernel = ["/proc/sys", "/proc/sysrq-trigger", "/proc/fs"].map((path) => `--ro-bind-try ${path} ${path}`);
  expect(args).toContain(` --proc /proc ${kernel.join(" ")} --dev /dev `);
  const shown = [...args.matchAll(/--(?:ro-bind-try|bind) (\S+)/g)].map(([, path = ""]) => path);
  const etc = shown.filter((path) => path.startsWith("/etc"));
  for (const path of ["/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs", "/etc/ld.so.cache"])
    expect(etc).toContain(path);
  for (const path of [
    "/",
    "/etc",
    "/etc/ssl",
    "/etc/shadow",
    "/etc/ssh",
    "/etc/ssl/private",
    "/home",
    "/root",
    "/proc",
  ])
    expect(shown).not.toContain(path);
});

test.runIf(process.platform === "linux")("shows a folder of the system that is a link as that link", () => {
  const args = argumentsFor();
  for (const path of ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"]) {
    const link = lstatSync(path, { throwIfNoEntry: false });
    const shown = link?.isSymbolicLink()
      ? `--symlink ${readlinkSync(path)} ${path} `
      : `--ro-bind-try ${path} ${path} `;
    expect(args.includes(` ${shown}`), path).toBe(link !== undefined);
    expect(args.includes(` ${path} --`), path).toBe(link !== undefined);
  }
});

test("mounts nothing over a link in a folder that it shows, but shows what the link leads to", () => {
  const folder = temporaryFolder();
  const other = temporaryFolder();
  writeFileSync(join(other, "tool"), "");
  symlinkSync(join(other, "tool"), join(folder, "tool"));
  symlinkSync("/usr/bin/env", join(folder, "env"));
  const readable = [folder, join(folder, "tool"), join(folder, "env"), "/etc/alternatives/none", "/usr/bin"];
  expect(argumentsFor({ readable })).toContain(
    `/dev/shm --ro-bind-try ${folder} ${folder} --ro-bind-try ${other}/tool ${other}/tool --bind /job/home`,
  );
});
