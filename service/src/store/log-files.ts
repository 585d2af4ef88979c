import { open, stat } from "node:fs/promises";
import { jobLogFile } from "../service-folder.ts";
import { type LogMark, readLogTimes } from "./log-times.ts";
import type { JobLogs } from "./logs.ts";

const maxReadBytes = 64 * 1024;
const defaultPollMs = 500;

/** The logs of jobs whose turns all run on this machine: files in the service's folder. */
export class LogFiles implements JobLogs {
  readonly #folder: string;
  readonly #pollMs: number;

  /**
   * @param folder - the service's folder
   * @param pollMs - how often followers look at a log. Default: 500
   */
  constructor(folder: string, pollMs = defaultPollMs) {
    this.#folder = folder;
    this.#pollMs = pollMs;
  }

  read(jobId: string, from: number): Promise<Buffer> {
    return readPart(jobLogFile(this.#folder, jobId), from, maxReadBytes);
  }

  async end(jobId: string): Promise<number> {
    const status = await stat(jobLogFile(this.#folder, jobId)).catch(ignoreMissing);
    return status?.size ?? 0;
  }

  marks(jobId: string): Promise<LogMark[]> {
    return readLogTimes(this.#folder, jobId);
  }

  follow(_jobId: string, listener: () => void): () => void {
    const timer = setInterval(listener, this.#pollMs).unref();
    return () => clearInterval(timer);
  }
}

/** Returns the part of a file that begins at a position, at most `maxBytes`; an empty buffer if the file does not exist. */
export async function readPart(file: string, from: number, maxBytes: number): Promise<Buffer> {
  const handle = await open(file).catch(ignoreMissing);
  if (handle === undefined) return Buffer.alloc(0);
  try {
    const length = Math.min((await handle.stat()).size - from, maxBytes);
    if (length <= 0) return Buffer.alloc(0);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
