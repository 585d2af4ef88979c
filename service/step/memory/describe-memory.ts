import type { CacheAccess } from "../../../src/runner-kit/cache.ts";
import { say, trusted } from "../../../src/runner-kit/text.ts";
import { forAnnotation } from "../../../src/runner-kit/untrusted.ts";
import { guide } from "../guide.ts";
import type { Runner } from "../runner.ts";

/** What later runs will know about this one. */
export interface Memory {
  /** Whether jobs are rebuilt from branches and pull requests. `unknown`: GitHub could not be asked. */
  branches: "yes" | "no" | "unknown";
  cache: CacheAccess;
  /** Whether the agent works on the workflow's repository. */
  isOwnRepository: boolean;
}

const closed = (guide: string) => {
  const risk = `That lets text from people who cause such runs into a cache that other workflows trust: see ${guide}.`;
  return {
    read: `the Actions cache of this run is read-only. \`cache-mode: write\` on the workflow's job changes that. ${risk}`,
    none: `this run may not read the Actions cache. \`cache-mode: read\` on the workflow's job lets it continue sessions that other runs saved, and \`write\` lets it save them. ${risk}`,
    absent: "this runner offers no Actions cache.",
  };
};

/**
 * Returns log lines that say what is remembered, and which setting changes that.
 *
 * @param guide - explains the risk
 */
export function describeMemory({ branches, cache, isOwnRepository }: Memory, guide: string): string[] {
  const inCache = cache === "write" ? "in the Actions cache" : undefined;
  const onGitHub = branches === "no" ? undefined : "by their branches and pull requests";
  const places = [onGitHub, inCache].filter((place) => place !== undefined).join(", and ");
  const jobs = places === "" ? "not remembered" : `remembered ${places}`;
  const reason = isOwnRepository
    ? cache !== "write" && closed(guide)[cache]
    : "the cache belongs to the workflow's repository, and they have files of another one.";
  return [
    `Jobs are ${jobs}`,
    ...(branches === "no"
      ? [
          "They are not known by their branches, because GitHub does not tell which account `github-token` acts for, and so not which pull requests are the service's own. The workflow's own token and GitHub Apps' are known",
        ]
      : []),
    ...(branches === "unknown"
      ? ["GitHub could not be asked which account `github-token` acts for, and is asked again"]
      : []),
    reason === false
      ? "Sessions of the agent are kept in the Actions cache, unless it denies that to this run"
      : `Sessions of the agent are not kept, because ${reason} Instead, a follow-up begins with the earlier prompts and the agent's last messages`,
  ];
}

/** Logs what later runs will know about this one; an annotation only if there is something to fix. */
export function tellMemory(runner: Runner, memory: Memory, environment: NodeJS.ProcessEnv): void {
  const lines = describeMemory(memory, guide("what-is-remembered-and-who-can-read-it", environment));
  if (memory.branches === "no" && ["absent", "none"].includes(memory.cache))
    runner.annotate("warning", "Jobs are not remembered", forAnnotation(say`${trusted(`${lines.join(". ")}.`)}`));
  else for (const line of lines) runner.info(line);
}
