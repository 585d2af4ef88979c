import { restoreCache, saveCache } from "@actions/cache";
import type { Operation, Reply } from "./run-cache-process.ts";

// A process of its own, which `run-cache-process.ts` starts with these arguments. It never outlives the action.
process.on("disconnect", () => process.exit());

const [operation = "", key = "", file = ""] = process.argv.slice(3);

/** What is saved on one operating system can be restored on another. */
const enableCrossOsArchive = true;

const operations: Record<Operation, () => Promise<boolean>> = {
  restore: async () => (await restoreCache([file], key, [key], undefined, enableCrossOsArchive)) !== undefined,
  save: async () => (await saveCache([file], key, undefined, enableCrossOsArchive)) !== -1,
};

function send(reply: Reply): void {
  const exit = () => process.exit();
  process.send?.(reply, undefined, undefined, () => process.stdout.write("", exit));
}

try {
  send({ isDone: await operations[operation as Operation]() });
} catch (error) {
  send({ error: error instanceof Error ? error.message : String(error) });
}
