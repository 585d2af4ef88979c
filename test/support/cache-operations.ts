import { restoreFile, saveFile } from "../../src/runner-kit/cache-protocol.ts";
import type { Operation, Reply } from "../../src/runner-kit/run-cache-process.ts";

// A program that runs operations of the cache as the action's cache process does, but any number of them: loading the library
// takes far longer than using it. `run-cache-operations.ts` starts it.

/** An operation, with the environment of a runner. */
export interface Request {
  operation: Operation;
  key: string;
  file: string;
  environment: NodeJS.ProcessEnv;
}

async function run({ operation, key, file, environment }: Request): Promise<boolean> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  if (operation === "restore") return restoreFile(key, file);
  await saveFile(key, file);
  return true;
}

let last: Promise<unknown> = Promise.resolve();
process.on("disconnect", () => process.exit());
process.on("message", (request) => {
  // One after another, in the order of their replies: the library reads the environment of the process.
  last = last
    .then(() => run(request as Request))
    .then(
      (isDone): Reply => ({ isDone }),
      (error: unknown): Reply => ({ error: String(error) }),
    )
    .then((reply) => process.send?.(reply));
});
