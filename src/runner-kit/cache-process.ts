import { restoreFile, saveFile } from "./cache-protocol.ts";
import type { Operation, Reply } from "./run-cache-process.ts";

// A process of its own, which `run-cache-process.ts` starts with these arguments. It never outlives the action.
process.on("disconnect", () => process.exit());

const [operation = "", key = "", file = ""] = process.argv.slice(3);

const operations: Record<Operation, () => Promise<boolean>> = {
  restore: () => restoreFile(key, file),
  save: async () => {
    await saveFile(key, file);
    return true;
  },
};

function send(reply: Reply): void {
  const exit = () => process.exit();
  process.send?.(reply, undefined, undefined, () => process.stdout.write("", exit));
}

try {
  send({ isDone: await operations[operation as Operation]() });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  // What GitHub's cache service says to a token without write access, in both protocols.
  const isReadOnly = operation === "save" && message.includes("cache write denied:");
  send({ error: message, isReadOnly });
}
