import { type SpawnOptionsWithoutStdio, spawn } from "node:child_process";
import type { Identity } from "../model.ts";
import { ownFile } from "../own-file.ts";
import { signalGroup, waitForExit } from "../processes/process-group.ts";
import { failedForLack, ResourceExhausted } from "../processes/resource-exhausted.ts";
import { watchStall } from "../processes/stall-watch.ts";
import { startProcess } from "../processes/start-process.ts";
import { gitEnvironment } from "./git-environment.ts";
import { type Settings, settingVariables } from "./settings.ts";

export interface GitOptions {
  /** The directory it runs in: a worktree, or the folder of a bare repository. */
  cwd: string;
  /** Added to the environment of Git. */
  environment?: Readonly<Record<string, string>>;
  /** Settings of Git, such as its credentials. It reads no others, except the repository's own. */
  settings?: Settings;
  /** Called before every command. */
  prepare?: () => Promise<void>;
  /**
   * Kills the running command; every later one fails at once. What needs only this machine gets half a minute more: an agent may have ended,
   * whose change is lost without a commit.
   */
  signal?: AbortSignal | undefined;
  /** Kills a command that talks to the repository's host and gets no byte for this time. Default: 60 s. */
  stallMs?: number | undefined;
  /** Returns the free bytes on the disk of a folder. Default: this machine's. */
  freeBytes?: ((folder: string) => Promise<number>) | undefined;
}

export interface GitCommandOptions {
  /** Default: the directory of the `Git`. */
  cwd?: string;
  environment?: Readonly<Record<string, string>>;
  /** Written to stdin. Default: empty. */
  input?: string | Buffer;
  /** `latin1`: each character of the output is a byte, for names that need not be UTF-8. Default: `utf8`. */
  encoding?: "utf8" | "latin1";
  /** Kills Git, as the signal of the `Git` does. */
  signal?: AbortSignal | undefined;
  /** Whether the exit code 1 is no error: what it printed is returned. Default: no. */
  isAnswer?: boolean;
  /** Kills Git once it has printed this much, and returns only that much. Default: no limit. */
  maxBytes?: number;
  /** Kills Git after this time. Default: 10 minutes, however slow the network is. */
  timeLimitMs?: number;
}

/** Thrown when a Git command fails or is killed. The message holds the end of stderr. */
export class GitError extends Error {
  /** `null` if Git was killed. */
  readonly exitCode: number | null;
  /** Whether the repository's host cannot be reached now. The same can succeed later. */
  readonly isRemoteOutage: boolean;
  /** Whether the host rejects the credentials, or what they may do. Others may do it. */
  readonly isDenied: boolean;

  /** @param isLate - whether it took too long. Default: no */
  constructor(args: readonly string[], how: string, stderr: string, exitCode: number | null, isLate = false) {
    super(`git ${args[0]} ${how}: ${stderr.trim()}`);
    this.exitCode = exitCode;
    this.isRemoteOutage = isRemote(args[0]) && (isLate || saysRemoteOutage(args[0], stderr));
    this.isDenied = isRemote(args[0]) && !this.isRemoteOutage && denials.test(stderr);
  }
}

/** Who made a commit that no account and no person stands for. */
export const agentIdentity: Identity = { name: "Agent", email: "agent@localhost" };

/**
 * No hooks, no file system monitor, no files of the user, no files of agents, unquoted paths, no background maintenance, and an end to stalled
 * transfers.
 */
const fixedSettings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.attributesFile=/dev/null",
  // Applies to untracked files only, and after every `.gitignore` of the repository, which can include them again.
  `core.excludesFile=${ownFile("git/agent-files.gitignore")}`,
  "core.quotePath=false",
  // The graft file that is named below would make each error begin with eight lines about it.
  "advice.graftFileDeprecated=false",
  "gc.auto=0",
  "maintenance.auto=false",
  `user.name=${agentIdentity.name}`,
  `user.email=${agentIdentity.email}`,
  "http.lowSpeedLimit=1",
  "http.lowSpeedTime=60",
].flatMap((setting) => ["-c", setting]);

/** Git reads no configuration of the machine and the user, which an agent may have changed, and follows no `refs/replace`. */
const isolation = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_GRAFT_FILE: "/dev/null",
  GIT_NO_REPLACE_OBJECTS: "1",
};

/** How long commands that need only this machine may still take after the signal, in milliseconds. */
const graceMs = 30_000;

const defaultTimeLimitMs = 10 * 60_000;
const defaultStallMs = 60_000;

/** Runs Git in one directory, without a shell. Callers put untrusted values behind `--` or into stdin. */
export class Git {
  readonly #options: GitOptions;
  readonly #localSignal: AbortSignal | undefined;

  constructor(options: GitOptions) {
    this.#options = options;
    this.#localSignal = options.signal && delayed(options.signal, graceMs);
  }

  /**
   * Runs a command and returns its stdout.
   *
   * @throws GitError if the exit code is not 0
   * @throws ResourceExhausted if the machine lacks something for now, such as disk space
   */
  async run(args: readonly string[], options: GitCommandOptions = {}): Promise<string> {
    const { settings = () => [], prepare, stallMs = defaultStallMs, freeBytes } = this.#options;
    const { cwd = this.#options.cwd, input = "", maxBytes = Number.POSITIVE_INFINITY } = options;
    const { timeLimitMs = defaultTimeLimitMs, encoding = "utf8", isAnswer = false } = options;
    const signal = eitherOf(isRemote(args[0]) ? this.#options.signal : this.#localSignal, options.signal);
    signal?.throwIfAborted();
    await prepare?.();
    const spawnOptions: SpawnOptionsWithoutStdio = {
      cwd,
      // A process group of its own, so that its helpers, which hold its pipes, are killed with it.
      detached: true,
      env: {
        ...gitEnvironment(),
        ...isolation,
        ...settingVariables(settings()),
        GIT_TERMINAL_PROMPT: "0",
        LC_ALL: "C",
        ...this.#options.environment,
        ...options.environment,
      },
    };
    const child = await startProcess(() => spawn("git", [...fixedSettings, ...args], spawnOptions));
    // Git may exit without reading its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const stdout: Buffer[] = [];
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      stdout.push(chunk);
      if (bytes > maxBytes) signalGroup(child.pid, "SIGKILL");
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-10_000);
    });
    // Git's own limit is only for HTTP.
    using stall = isRemote(args[0]) ? watchStall(child.pid, stallMs) : undefined;
    const waitSignal = eitherOf(signal, stall?.signal);
    const { exitCode, terminated } = await waitForExit(child, { until: "close", timeLimitMs, signal: waitSignal });
    if (stall?.signal.aborted && !signal?.aborted)
      throw new GitError(args, `got no byte from the repository's host for ${stallMs / 1000} s`, stderr, null, true);
    if (terminated === "aborted") throw new GitError(args, "was stopped", stderr, null);
    if (terminated === "timed-out")
      throw new GitError(args, `timed out after ${timeLimitMs / 60_000} min`, stderr, null, true);
    if (exitCode !== 0 && !(isAnswer && exitCode === 1) && bytes <= maxBytes) {
      const { signalCode } = child;
      const how = signalCode === null ? `exited with ${exitCode}` : `was killed by ${signalCode}`;
      // With 1, it answers no.
      const read = exitCode === 1 ? async () => Number.POSITIVE_INFINITY : freeBytes;
      if (await failedForLack({ signal: signalCode, stderr, folder: cwd }, read))
        throw new ResourceExhausted(`git ${args[0]} ${how}: ${stderr.trim()}`);
      throw new GitError(args, how, stderr, exitCode);
    }
    return Buffer.concat(stdout).toString(encoding, 0, Math.min(bytes, maxBytes));
  }

  /**
   * Runs a yes/no query: trimmed stdout on exit code 0, `undefined` on exit code 1.
   *
   * @throws GitError on any other exit code, and if Git was killed: that is not an answer
   */
  async query(args: readonly string[], options: GitCommandOptions = {}): Promise<string | undefined> {
    try {
      return (await this.run(args, options)).trim();
    } catch (error) {
      if (error instanceof GitError && error.exitCode === 1) return undefined;
      throw error;
    }
  }
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

/** Returns a signal that aborts some time after another. */
function delayed(signal: AbortSignal, ms: number): AbortSignal {
  if (signal.aborted) return signal;
  const end = new AbortController();
  signal.addEventListener("abort", () => setTimeout(() => end.abort(signal.reason), ms).unref(), { once: true });
  return end.signal;
}

/** Commands that talk to the repository's host. */
const remoteCommands: readonly (string | undefined)[] = ["ls-remote", "fetch", "push"];
const isRemote = (command: string | undefined): boolean => remoteCommands.includes(command);

/** What Git, curl and ssh say if a host cannot be reached, or answers with an error of its own. */
const outages =
  /Could not resolve host|Temporary failure in name resolution|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed out|closed by)|Operation (?:timed out|too slow)|Network is unreachable|No route to host|Empty reply from server|unexpected disconnect|early EOF|HTTP (?:429|5\d\d)|returned error: (?:429|5\d\d)|RPC failed; curl|SSL_ERROR_SYSCALL|TLS connection was non-properly terminated|unexpected eof while reading|Internal Server Error/i;

/** What Git says of an HTTP status 401, 403 or 404, before the host reads what is pushed. */
const denials =
  /Authentication failed|could not read (?:Username|Password)|returned error: 40[134]|^fatal: repository '.*' not found/im;

/** What it says besides if a retry would not help. */
const rejections = /Permission denied|Authentication failed|Host key verification failed|returned error: 4(?!29)\d\d/i;

/**
 * Returns whether a failed command says that the repository's host cannot be reached now.
 *
 * @param stderr - its end
 */
export function saysRemoteOutage(command: string | undefined, stderr: string): boolean {
  return isRemote(command) && outages.test(stderr) && !rejections.test(stderr);
}
