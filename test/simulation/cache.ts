import { type Cache, CacheEntryError, CacheReadOnlyError } from "../../src/runner-kit/cache.ts";
import type { CacheBehavior, CacheExchange, CacheMode } from "./history.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Kill } from "./scenario.ts";
import { order, type Timeline } from "./timeline.ts";

/** The branch for which an entry was saved: the default branch, whose entries all runs see, or a pull request. */
export type CacheScope = "" | "pull-request";

/** An entry of the Actions cache, and which attempt saved it. */
export interface CacheEntry {
  key: string;
  text: string;
  /** Index of the attempt in the scenario. */
  owner: number;
  isForSession: boolean;
  /** The pull request whose runs see it; every run if empty. */
  scope: CacheScope;
  storedAt: number;
  /** It is no longer what was saved. */
  isCorrupt: boolean;
}

/** One restore of the action, and what really became of it. Times of the timeline. */
export interface CacheRestore {
  startedAt: number;
  answeredAt?: number;
  prefix: string;
  isForSession: boolean;
  /** `unusable`: there is an entry that is not one of the action's. */
  result?: "found" | "none" | "failed" | "unusable";
  found?: CacheEntry;
  /** Everything that was in the cache then, and that the run sees. */
  entries: readonly CacheEntry[];
}

/** One save of the action. Times of the timeline. */
export interface CacheSave {
  key: string;
  text: string;
  isForSession: boolean;
  startedAt: number;
  /** When the cache service answers, if nothing is wrong with the save. */
  answersAt?: number;
  storedAt?: number;
  /** When the step learned that the cache may only be read. */
  refusedAt?: number;
}

/** What one attempt did with the cache. */
export interface CacheUse {
  /** Everything that was in the cache when the attempt began, and that it sees. */
  entriesAtStart: readonly CacheEntry[];
  restores: CacheRestore[];
  saves: CacheSave[];
}

/** The limits of the real cache, in milliseconds. */
const restoreTimeoutMs = 10_000;
const saveTimeoutMs = 5000;

/** The repository's Actions cache, which all attempts share. The last entry is the newest. */
export class SimulatedCache {
  entries: CacheEntry[] = [];

  /** Loses everything, as after a week without use. */
  evict(): void {
    this.entries = [];
  }

  /** Replaces the newest entry. */
  corrupt(text: string): void {
    const newest = this.entries.at(-1);
    if (newest) this.entries = [...this.entries.slice(0, -1), { ...newest, text, isCorrupt: true }];
  }
}

export interface CachePorts {
  timeline: Timeline;
  process: SimulatedProcess;
  cache: SimulatedCache;
  behavior: CacheBehavior;
  mode: CacheMode;
  scope: CacheScope;
  /** Index of the attempt in the scenario. */
  owner: number;
  onMoment: (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => void;
}

const smoothExchange: CacheExchange = { fault: "none", outlivesStep: true, requestMs: 50, responseMs: 50, text: "" };

/** Creates the port to the simulated cache. It keeps the contract of the real one, also its timeouts. */
export function connectSimulatedCache(ports: CachePorts): { cache: Cache; use: CacheUse } {
  const { timeline, process, cache, behavior, mode, scope, owner, onMoment } = ports;
  const visible = (): CacheEntry[] => cache.entries.filter((entry) => entry.scope === "" || entry.scope === scope);
  const use: CacheUse = { entriesAtStart: visible(), restores: [], saves: [] };
  const exchangeOf = (index: number): CacheExchange => behavior.exchanges[index] ?? smoothExchange;
  let count = 0;

  /** Calls `act` when the request reaches the cache service, and settles with what it returns when that has answered. */
  function request<T>(operation: "restore" | "save", timeoutMs: number, act: () => T): Promise<T> {
    const index = count++;
    const { fault, outlivesStep, requestMs, responseMs, text } = exchangeOf(index);
    const isDown = behavior.state === "down" || (behavior.state === "no-saves" && operation === "save");
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void): void =>
        void process.after(responseMs, order.read, () => {
          settle();
          onMoment(index, "answered");
        });
      const fail = (): void => reject(new Error(`the cache service failed ${text}`));
      process.after(timeoutMs, order.timer, () => reject(new Error("the cache service did not respond")));
      onMoment(index, "sent");
      if (requestMs > timeoutMs) return;
      timeline.at(timeline.now + requestMs, order.read, () => {
        if (!process.isAlive && !outlivesStep) return;
        if (isDown || fault === "failed") return answer(fail);
        if (fault === "unusable" && operation === "restore")
          return answer(() => reject(new CacheEntryError("no text")));
        let result: T;
        try {
          result = act();
        } catch (error) {
          return answer(() => reject(error));
        }
        onMoment(index, "acted");
        if (fault !== "hangs") answer(fault === "failed-after-acting" ? fail : () => resolve(result));
      });
    });
  }

  return {
    use,
    cache: {
      async restore(prefix) {
        const isForSession = isSessionKey(prefix);
        const restore: CacheRestore = { startedAt: timeline.now, isForSession, prefix, entries: visible() };
        use.restores.push(restore);
        try {
          const found = await request("restore", restoreTimeoutMs, () => {
            restore.entries = visible();
            const isFound = ({ key }: CacheEntry): boolean => key.startsWith(prefix);
            const own = restore.entries.findLast((entry) => entry.scope === scope && isFound(entry));
            return own ?? restore.entries.findLast(isFound);
          });
          restore.result = found ? "found" : "none";
          if (found) restore.found = found;
          return found?.text;
        } catch (error) {
          restore.result = error instanceof CacheEntryError ? "unusable" : "failed";
          throw error;
        } finally {
          restore.answeredAt = timeline.now;
        }
      },
      save(key, text) {
        const isForSession = isSessionKey(key);
        const { fault, requestMs, responseMs } = exchangeOf(count);
        const isGood =
          behavior.state === "works" && mode === "write" && fault === "none" && requestMs + responseMs < saveTimeoutMs;
        const save: CacheSave = {
          isForSession,
          key,
          text,
          startedAt: timeline.now,
          ...(isGood && { answersAt: timeline.now + requestMs + responseMs }),
        };
        use.saves.push(save);
        return request("save", saveTimeoutMs, () => {
          if (mode !== "write") throw new CacheReadOnlyError("the cache may only be read");
          if (cache.entries.some((entry) => entry.key === key)) throw new Error("the key already exists");
          const storedAt = timeline.now;
          cache.entries = [...cache.entries, { key, text, owner, isForSession, scope, storedAt, isCorrupt: false }];
          save.storedAt = timeline.now;
        }).catch((error: unknown) => {
          if (error instanceof CacheReadOnlyError) save.refusedAt = timeline.now;
          throw error;
        });
      },
    },
  };
}

function isSessionKey(key: string): boolean {
  return key.startsWith("agent-session-");
}
