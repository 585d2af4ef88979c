import * as z from "zod/mini";
import { isUsableJobId } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import type { Settings } from "../inputs/schema.ts";
import { type Cache, CacheEntryError } from "../runner/cache.ts";
import { hash } from "./hash.ts";

const entry = z.object({ version: z.literal(1), jobId: z.string().check(z.refine(isUsableJobId)) });

/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
export class SessionMemory {
  readonly #connect: () => Cache;
  readonly #prefix: string;
  readonly #run: string;
  #saves = 0;

  /** @param run - identifies this run attempt: `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT` */
  constructor(
    connect: () => Cache,
    run: string,
    session: string,
    { baseUrl, projectId }: Pick<Settings, "baseUrl" | "projectId">,
  ) {
    this.#connect = connect;
    this.#run = run;
    this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session]))}-`;
  }

  /** Returns the id of the session's last job; `undefined` if there is none. Never rejects. */
  async find(): Promise<{ jobId: string | undefined } | { error: string }> {
    try {
      const text = await this.#connect().restore(this.#prefix);
      return { jobId: text === undefined ? undefined : parseEntry(text) };
    } catch (error) {
      // An entry that cannot be used will not become usable, so the session goes on without it.
      return error instanceof CacheEntryError ? { jobId: undefined } : { error: messageOf(error) };
    }
  }

  /** Saves the session's job. Rejects if it cannot be saved. */
  async save(jobId: string): Promise<void> {
    const key = `${this.#prefix}${this.#run}-${++this.#saves}`;
    await this.#connect().save(key, JSON.stringify({ version: 1, jobId }));
  }
}

/** Parses an entry, which anyone who can write the cache may have written; `undefined` if it cannot be used. */
function parseEntry(text: string): string | undefined {
  try {
    return entry.safeParse(JSON.parse(text)).data?.jobId;
  } catch {
    return undefined;
  }
}
