import type * as z from "zod/mini";
import type { Clock } from "../../client/clock.ts";
import type { GitHub } from "./github.ts";

export interface ReadingLimits {
  /** For one request with its retries, in milliseconds. Default: 10,000. */
  timeoutMs?: number;
  /** For all requests together, from now on, in milliseconds. Default: the same. */
  totalMs?: number;
}

/** Reads a repository on GitHub. Both functions throw if GitHub cannot be asked, or if its answer is not what the schema says. */
export interface RepositoryReader {
  /** @param path - in the repository, such as `pulls/{pull_number}` */
  get<T>(path: string, schema: z.ZodMiniType<T>, parameters?: Record<string, unknown>): Promise<T>;
  /** Reads all pages of a list. */
  list<T>(path: string, item: z.ZodMiniType<T>, parameters?: Record<string, unknown>): Promise<T[]>;
}

/** Returns a reader of a repository, whose time begins now. */
export function readerOf(
  github: GitHub,
  { owner, repo }: { owner: string; repo: string },
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  { timeoutMs = 10_000, totalMs = timeoutMs }: ReadingLimits,
): RepositoryReader {
  const deadline = clock.now() + totalMs;
  const limits = () => {
    const totalTimeoutMs = deadline - clock.now();
    return { timeoutMs: Math.min(timeoutMs, totalTimeoutMs), totalTimeoutMs, signal };
  };
  const routeOf = (path: string): string => `GET /repos/{owner}/{repo}/${path}`;
  return {
    get: async (path, schema, parameters) =>
      parse(schema, await github.request(routeOf(path), { owner, repo, ...parameters }, limits())),
    list: async (path, item, parameters) => {
      const items = await github.paginate(routeOf(path), { owner, repo, ...parameters }, limits());
      return items.map((each) => parse(item, each));
    },
  };
}

/** @throws with the name of the data and of their wrong fields, if they are not what the schema says */
export function parse<T>(schema: z.ZodMiniType<T>, value: unknown, name = "GitHub's response"): T {
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  const paths = error?.issues.map(({ path }) => path.join(".")).filter(Boolean) ?? [];
  throw new Error(
    paths.length === 0 ? `${name} is not usable` : `${name} lacks, or has a wrong type for: ${paths.join(", ")}`,
  );
}
