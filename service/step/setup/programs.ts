import { type SpawnOptionsWithoutStdio, spawn } from "node:child_process";

/** How much of a program's output is kept. */
const maxOutputLength = 10_000;

/**
 * Runs a program that prepares the runner.
 *
 * @throws if it cannot be started or fails, with the end of its output
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio = {},
): Promise<void> {
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-maxOutputLength);
    });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "ENOENT" ? new Error(`${file} is not installed on this runner`) : error),
    );
    child.on("close", resolve);
  });
  if (exitCode !== 0) throw new Error(`${file} ${args.join(" ")} exited with ${exitCode}: ${output.trim()}`);
}
