import { type Cache, CacheReadOnlyError } from "../../../../src/runner-kit/cache.ts";
import type { JobCopy } from "../../../src/model.ts";
import type { JobCopies, SentForStep } from "../../../src/store/job-copies.ts";
import type { KeptCommits } from "../../../src/store/kept-commits.ts";
import type { Link } from "./link.ts";
import type { CacheMode } from "./plan.ts";

/** The Actions cache of the repository. */
export class MemoryCache {
  /** What the action saves, oldest first. */
  texts: { key: string; text: string }[] = [];
  readonly jobs = new Map<string, string>();
  readonly steps = new Map<string, readonly string[]>();
  readonly commits = new Map<string, Uint8Array>();

  evict(): void {
    this.texts = [];
    for (const all of [this.jobs, this.steps, this.commits]) all.clear();
  }

  /** Returns the cache as the action has it. */
  ofAction(link: Link, mode: CacheMode): Cache {
    return {
      restore: (prefix) =>
        link.call(
          { place: "cache", isWrite: false },
          () => this.texts.findLast(({ key }) => key.startsWith(prefix))?.text,
          failure,
        ),
      save: (key, text) => save(link, mode, () => void this.texts.push({ key, text })),
    };
  }

  /** Returns the copies of jobs as the service has them. Homes of agents are not kept. */
  ofService(link: Link, mode: CacheMode): JobCopies {
    const read = <T>(effect: () => T): Promise<T> => link.call({ place: "cache", isWrite: false }, effect, failure);
    const keptCommits: KeptCommits = {
      save: ({ job }, packed) => save(link, mode, () => void this.commits.set(job, packed)),
      load: (job) => read(() => this.commits.get(job)),
    };
    return {
      keptCommits,
      save: (job) =>
        save(link, mode, () => {
          this.jobs.set(job.id, JSON.stringify(job));
          for (const { step = "" } of job.turns)
            this.steps.set(step, [...new Set([...(this.steps.get(step) ?? []), job.id])]);
        }),
      restore: (job) =>
        read(() => {
          const text = this.jobs.get(job);
          return text === undefined ? undefined : (JSON.parse(text) as JobCopy);
        }),
      jobsOfStep: ({ step }: SentForStep) => read(() => this.steps.get(step) ?? []),
    };
  }
}

const failure = (): Error => new Error("the cache service does not respond");

function save(link: Link, mode: CacheMode, effect: () => void): Promise<void> {
  const put = (): void => {
    if (mode !== "write") throw new CacheReadOnlyError("cache write denied: token has no writable scopes");
    effect();
  };
  return link.call({ place: "cache", isWrite: true }, put, failure);
}
