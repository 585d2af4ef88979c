import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import type { AgentCommand } from "../agent.ts";
import type { Sandbox, SandboxAccess } from "./sandbox.ts";

/** Programs and libraries of the system. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/** The part of `/etc` that programs need to start, to find hosts and users, and to check certificates. The rest has keys. */
const systemFiles = [
  "alternatives",
  "ca-certificates",
  "crypto-policies",
  "group",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "pki/ca-trust",
  "pki/tls/cert.pem",
  "pki/tls/certs",
  "protocols",
  "resolv.conf",
  "services",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
].map((name) => `/etc/${name}`);

/** Through these, a service of root could configure the kernel, even without capabilities. */
const kernelFiles = ["/proc/sys", "/proc/sysrq-trigger", "/proc/fs"];

/** Keys in the kernel, of all users, by their names. */
const hiddenFiles = ["/proc/keys", "/proc/key-users"];

/** What not every machine and version of bubblewrap can do. */
export interface Hardening {
  /** A file with a filter for system calls, as `seccompFilter` returns one. Default: no filter. */
  filter?: string | undefined;
  /** Whether agents can create no user namespaces, in which they would have all privileges. From bubblewrap 0.8. Default: no. */
  hasNoUserNamespaces?: boolean | undefined;
}

/**
 * Runs agents with bubblewrap: in namespaces of their own for processes, users, hostname and System V IPC, without
 * capabilities, and with only the system's programs and what `SandboxAccess` names in the file system.
 */
export function createBubblewrap({ filter, hasNoUserNamespaces = false }: Hardening = {}): Sandbox {
  const hardening = [
    ...(filter === undefined ? [] : ["--seccomp", "3"]),
    ...(hasNoUserNamespaces ? ["--unshare-user", "--disable-userns"] : []),
  ];
  return {
    isConfining: true,
    hasProcessNamespace: true,
    wrap: (command, access) => ({
      file: "bwrap",
      args: argumentsFor(command, access, hardening),
      ...(filter !== undefined && { inherited: filter }),
    }),
  };
}

/** Without what not every machine can do. */
export const bubblewrap = createBubblewrap();

function argumentsFor(
  command: AgentCommand,
  { currentDirectory, writable, moved, readable, hasNetwork, temporary }: SandboxAccess,
  hardening: readonly string[],
): string[] {
  return [
    // Everything the agent started dies with it, and all of it with the service.
    ...["--unshare-all", ...(hasNetwork ? ["--share-net"] : []), "--die-with-parent", "--new-session"],
    ...["--cap-drop", "ALL", "--hostname", "agent", ...hardening],
    ...systemFolders.flatMap(showSystemFolder),
    ...systemFiles.flatMap(readOnly),
    ...["--proc", "/proc", ...kernelFiles.flatMap(readOnly), "--dev", "/dev"],
    ...hiddenFiles.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...["--bind", temporary, "/tmp", "--bind", temporary, "/dev/shm"],
    ...notShown(readable).flatMap(readOnly),
    ...writable.flatMap((path) => ["--bind", moved?.to === path ? moved.path : path, path]),
    // Nothing that is only in memory can be written, so that all files count for the limit of the disk.
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", currentDirectory],
    ...["--", command.file, ...command.args],
  ];
}

function showSystemFolder(path: string): string[] {
  if (!existsSync(path)) return [];
  // Such as /bin, a link to /usr/bin on most systems.
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : readOnly(path);
}

/** Leaves out what a folder shows already, where bubblewrap cannot mount over a link. What such a link leads to is shown instead. */
function notShown(readable: readonly string[]): string[] {
  const folders = [...systemFolders, ...systemFiles, ...readable];
  const isShown = (path: string): boolean => folders.some((folder) => path.startsWith(`${folder}/`));
  const real = (path: string): string[] => (existsSync(path) ? [realpathSync(path)] : []);
  return readable.flatMap((path) => (isShown(path) ? real(path).filter((one) => !isShown(one)) : [path]));
}

const readOnly = (path: string): string[] => ["--ro-bind-try", path, path];

/** Returns advice for the operator if bubblewrap cannot run, by the output of bubblewrap. */
export function explainBubblewrapError(error: string): string {
  const without = "or start the service with --sandbox none if its agents may do whatever you can.";
  if (process.platform !== "linux") return `The sandbox requires Linux. Run the service there, ${without}`;
  if (/ENOENT/.test(error))
    return `The sandbox requires bubblewrap, which is not installed. Install your distribution's package, such as with apt-get install bubblewrap, ${without}`;
  if (/hostname/.test(error))
    return `bubblewrap cannot create a sandbox here: ${error}\nThis is forbidden to the service itself, such as by ProtectHostname=yes in its systemd unit. Remove that, ${without}`;
  return [
    `bubblewrap cannot create a sandbox here: ${error}`,
    "If this is Ubuntu 24.04 or later, its AppArmor allows user namespaces only to programs with a profile: service/docs/agents.md has one for bwrap.",
    "In a container, the runtime has to allow user namespaces.",
    `Fix that, ${without}`,
  ].join("\n");
}
