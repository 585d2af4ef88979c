import { existsSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import { errorMessage } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import type { JobsChange } from "./run-jobs-command.ts";

// Who may write a store in a file can change its jobs while a service runs on it: through a socket beside the file, without a key.

const timeLimitMs = 30_000;

const change = z.union([
  z.strictObject({ command: z.literal("stop"), job: z.string(), turn: z.optional(z.number()) }),
  z.strictObject({ command: z.literal("retry"), job: z.string() }),
]);

const reply = z.union([z.strictObject({ lines: z.array(z.string()) }), z.strictObject({ error: z.string() })]);

/** Returns the socket of the service that runs on a store. @param store - an existing file */
const socketOf = (store: string): string => `${realpathSync(store)}.socket`;

/**
 * Answers the commands of other processes. Only this process has the store, so that a socket that exists is one that was left.
 *
 * @param run - returns lines for people, or throws
 */
export async function listenForChanges(
  store: string,
  run: (command: JobsChange) => Promise<string[]>,
  log: Log,
): Promise<AsyncDisposable> {
  const path = socketOf(store);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    open.add(client);
    client.setTimeout(timeLimitMs, () => client.destroy());
    client.once("close", () => open.delete(client)).on("error", () => client.destroy());
    text(client)
      .then(async (sent) => {
        const { data } = z.safeParse(change, JSON.parse(sent));
        if (data === undefined) throw new Error("the service that runs does not know this command");
        return { lines: await run("turn" in data ? { ...data, turn: data.turn } : (data as JobsChange)) };
      })
      .catch((error: unknown) => ({ error: errorMessage(error) }))
      .then((answer) => client.end(JSON.stringify(answer)));
  });
  rmSync(path, { force: true });
  // It is created while this runs, and nobody else may open it for a moment.
  const umask = process.umask(0o177);
  const listening = new Promise<void>((resolve, reject) => {
    server.once("listening", resolve).once("error", reject).listen(path);
  });
  process.umask(umask);
  await listening.catch((error: unknown) => {
    // Such as a path of more than about 100 bytes.
    log(`The commands jobs stop and jobs retry cannot reach this service: ${errorMessage(error)}`);
  });
  return {
    [Symbol.asyncDispose]: async () => {
      for (const client of open) client.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Lets the service that runs on a store change its jobs.
 *
 * @returns lines for people; `undefined` if no service listens
 * @throws with the reason as the message if it cannot be done
 */
export async function askForChange(store: string, command: JobsChange): Promise<string[] | undefined> {
  const path = socketOf(store);
  if (!existsSync(path)) return undefined;
  const client = connect({ path, allowHalfOpen: true });
  try {
    await new Promise<void>((resolve, reject) => client.once("connect", resolve).once("error", reject));
  } catch (error) {
    // Nobody listens: the socket was left by a service that was killed.
    if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return undefined;
    throw new Error(`cannot reach the service through ${path}: ${errorMessage(error)}`);
  }
  client.setTimeout(timeLimitMs, () => client.destroy(new Error(`no answer within ${timeLimitMs / 1000} s`)));
  client.end(JSON.stringify(command));
  const answer = z.parse(reply, JSON.parse(await text(client)));
  if ("error" in answer) throw new Error(answer.error);
  return answer.lines;
}
