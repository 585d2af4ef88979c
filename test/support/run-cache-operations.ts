import { fork } from "node:child_process";
import { join } from "node:path";
import type { Reply } from "../../src/runner-kit/run-cache-process.ts";
import type { Request } from "./cache-operations.ts";

export interface CacheOperations extends Disposable {
  /**
   * Runs an operation after those before it.
   *
   * @returns `false` if there was no entry to restore
   * @throws if it failed
   */
  run(request: Request): Promise<boolean>;
}

/** Starts a process that runs operations of `src/runner-kit/cache-protocol.ts`, with nothing between them and the test. */
export function startCacheOperations(): CacheOperations {
  const child = fork(join(import.meta.dirname, "cache-operations.ts"), {
    execArgv: [],
    // The library logs.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const waiting: ((reply: Reply) => void)[] = [];
  child.on("message", (reply) => waiting.shift()?.(reply as Reply));
  child.on("close", () => {
    for (const end of waiting) end({ error: "The process ended" });
  });
  return {
    run: async (request) => {
      const reply = await new Promise<Reply>((resolve) => {
        waiting.push(resolve);
        child.send(request);
      });
      if ("error" in reply) throw new Error(reply.error);
      return reply.isDone;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
