import { open } from "node:fs/promises";

/** In bytes. */
const maxBytes = 4096;
const maxLines = 3;

/** Returns the last lines that an agent has printed to the log of its job; empty if there are none, or the log cannot be read. */
export async function lastOutput(logFile: string): Promise<string> {
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
