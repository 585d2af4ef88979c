import { appendFileSync, constants } from "node:fs";
import { glob, mkdir, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runAgent } from "../agents/run-agent.ts";
import { hasOwnCommits, mayHaveLeftWork } from "../git/agent-repository.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";
import type { JobDirectory } from "../service-folder.ts";

/** The disk and processes that a turn uses besides Git: a port for simulations. */
export interface TurnHost {
  /** Creates the job's directory and log folder. Returns whether the job's home directory is new. */
  prepare(directory: JobDirectory, logFile: string): Promise<boolean>;
  /** Removes everything that does not outlive a turn. */
  clean(directory: JobDirectory): Promise<void>;
  appendLog(file: string, text: string): void;
  /** Returns the last lines that an agent printed to a log; empty if there are none or the log is unreadable. */
  lastOutput(file: string): Promise<string>;
  /** Overwrites secrets in a log with asterisks of the same length, so that readers keep their position. Ignores a missing file. */
  hideSecrets(file: string, secrets: Iterable<Secret>): Promise<void>;
  /** Returns the non-empty files in a home directory that match a pattern. */
  findSessions(home: string, pattern: string, maxEntries?: number): Promise<string[]>;
  runAgent: typeof runAgent;
  /** See `JobDirectory`. */
  replaceHome(directory: JobDirectory): ReturnType<JobDirectory["replaceHome"]>;
  hasOwnCommits: typeof hasOwnCommits;
  mayHaveLeftWork: typeof mayHaveLeftWork;
}

export const turnHost: TurnHost = {
  prepare: async (directory, logFile) => {
    await mkdir(dirname(logFile), { recursive: true });
    return directory.prepare();
  },
  clean: (directory) => directory.clean(),
  appendLog: appendFileSync,
  lastOutput,
  hideSecrets,
  findSessions,
  runAgent,
  replaceHome: (directory) => directory.replaceHome(),
  hasOwnCommits,
  mayHaveLeftWork,
};

/** In bytes. */
const maxBytes = 4096;
const maxLines = 3;

async function lastOutput(logFile: string): Promise<string> {
  try {
    await using file = await open(logFile);
    const { size } = await file.stat();
    const end = await file.read({ position: Math.max(0, size - maxBytes), buffer: Buffer.alloc(maxBytes) });
    const lines = end.buffer.toString("utf8", 0, end.bytesRead).split("\n");
    const own = lines.filter((line) => line.startsWith("| ")).map((line) => line.slice(2).trim());
    return own
      .filter((line) => line !== "")
      .slice(-maxLines)
      .join("\n");
  } catch {
    return "";
  }
}

/** In directory entries: an agent can create any number of them. */
const maxEntries = 10_000;

async function findSessions(home: string, pattern: string, max = maxEntries): Promise<string[]> {
  const found: string[] = [];
  let entries = 0;
  for await (const file of glob(pattern, { cwd: home, exclude: () => ++entries > max })) {
    if (++entries > max) break;
    if ((await stat(join(home, file)).catch(() => undefined))?.size) found.push(file);
  }
  return found;
}

/** In bytes: more than one run appends. */
const maxSearchedBytes = 24 * 1024 * 1024;

async function hideSecrets(file: string, secrets: Iterable<Secret>): Promise<void> {
  const patterns = new SecretPatterns(secrets);
  if (patterns.isEmpty) return;
  // An agent without a sandbox could put a link or a pipe there.
  const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (handle === undefined) return;
  await using opened = handle;
  const stat = await opened.stat();
  const size = stat.isFile() ? stat.size : 0;
  if (size === 0) return;
  const position = Math.max(0, size - maxSearchedBytes);
  const { buffer, bytesRead } = await opened.read({ position, buffer: Buffer.alloc(size - position) });
  const masked = await patterns.mask(buffer.subarray(0, bytesRead));
  if (masked !== undefined) await opened.write(masked, 0, masked.length, position);
}
