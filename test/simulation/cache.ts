import { type Cache, CacheEntryError } from "../../src/runner-kit/cache.ts";
import type { CacheBehavior, CacheExchange } from "./history.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Kill } from "./scenario.ts";
import { order, type Timeline } from "./timeline.ts";

/** An entry of the Actions cache, and which attempt saved it. */
export interface CacheEntry {
  key: string;
  text: string;
  /** Index of the attempt in the scenario. */
  owner: number;
  isForSession: boolean;
  /** It is no longer what was saved. */
  isCorrupt: boolean;
}

/** One restore of the action, and what really became of it. Times of the timeline. */
export interface CacheRestore {
  startedAt: number;
  answeredAt?: number;
  isForSession: boolean;
  /** `unusable`: there is an entry that is not one of the action's. */
  result?: "found" | "none" | "failed" | "unusable";
  found?: CacheEntry;
  /** Everything that was in the cache then. */
  entries: readonly CacheEntry[];
}

/** One save of the action. Times of the timeline. */
export interface CacheSave {
  isForSession: boolean;
  startedAt: number;
  /** When the cache service answers, if nothing is wrong with the save. */
  answersAt?: number;
  storedAt?: number;
}

/** What one attempt did with the cache. */
export interface CacheUse {
  /** Everything that was in the cache when the attempt began. */
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
  /** Index of the attempt in the scenario. */
  owner: number;
  onMoment: (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => void;
}

const smoothExchange: CacheExchange = { fault: "none", outlivesStep: true, requestMs: 50, responseMs: 50, text: "" };

/** Creates the port to the simulated cache. It keeps the contract of the real one, also its timeouts. */
export function connectSimulatedCache(ports: CachePorts): { cache: Cache; use: CacheUse } {
  const { timeline, process, cache, behavior, owner, onMoment } = ports;
  const use: CacheUse = { entriesAtStart: cache.entries, restores: [], saves: [] };
  const exchangeOf = (index: number): CacheExchange => behavior.exchanges[index] ?? smoothExchange;
  let count = 0;

  /** Calls `act` when the request reaches the cache service, and settles with what it returns when that has answered. */
  function request<T>(operation: "restore" | "save", timeoutMs: number, act: () => T): Promise<T> {
    const index = count++;
    const { fault, outlivesStep, requestMs, responseMs, text } = exchangeOf(index);
    const isDown = behavior.state === "down" || (behavior.state === "read-only" && operation === "save");
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
        const restore: CacheRestore = { startedAt: timeline.now, isForSession, entries: cache.entries };
        use.restores.push(restore);
        try {
          const found = await request("restore", restoreTimeoutMs, () => {
            restore.entries = cache.entries;
            return cache.entries.findLast(({ key }) => key.startsWith(prefix));
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
        const isGood = behavior.state === "works" && fault === "none" && requestMs + responseMs < saveTimeoutMs;
        const save: CacheSave = {
          isForSession,
          startedAt: timeline.now,
          ...(isGood && { answersAt: timeline.now + requestMs + responseMs }),
        };
        use.saves.push(save);
        return request("save", saveTimeoutMs, () => {
          if (cache.entries.some((entry) => entry.key === key)) throw new Error("the key already exists");
          cache.entries = [...cache.entries, { key, text, owner, isForSession, isCorrupt: false }];
          save.storedAt = timeline.now;
        });
      },
    },
  };
}

function isSessionKey(key: string): boolean {
  return key.startsWith("agent-session-");
}
