import type { RequestListener } from "node:http";
import { cached } from "./cached.ts";
import { createHealth } from "./health.ts";
import { checkDisk, checkStore, checkWorker } from "./health-checks.ts";
import type { Authenticator } from "./http/authentication.ts";
import { serveHealth } from "./http/health-endpoint.ts";
import { serveMetrics } from "./http/metrics-endpoint.ts";
import type { Log } from "./log.ts";
import type { Metrics, ReadableMetrics } from "./metrics/metrics.ts";
import type { Store } from "./store/store.ts";

export interface OperationsOptions {
  store: Store;
  folder: string;
  /** Returns the worker of this process, once it has started. Default: it has none. */
  worker?: (() => { readonly isStuck: boolean } | undefined) | undefined;
  /** Who else than programs of this machine may read metrics. Default: nobody. */
  authenticator?: Pick<Authenticator, "authenticate"> | undefined;
  /** Default: there are none to read. */
  metrics?: Metrics | ReadableMetrics | undefined;
  log: Log;
}

const censusKeptMs = 5000;
/** Counting all jobs may take this part of the time. */
const censusRatio = 1 / 100;

/**
 * Answers what those who operate the service ask, and passes every other request to `next`: `/healthz`, whether it works;
 * `/healthz/live`, whether this process does; and `/metrics`, if they can be read.
 */
export function serveOperations(options: OperationsOptions, next: RequestListener): RequestListener {
  const { store, folder, worker, authenticator, metrics, log } = options;
  const ofProcess = worker === undefined ? {} : { worker: checkWorker(worker) };
  const reports = {
    "/healthz": createHealth({ store: checkStore(store), disk: checkDisk(folder), ...ofProcess }),
    // Does not depend on what a restart cannot help.
    "/healthz/live": createHealth(ofProcess),
  };
  const census = cached(
    () => store.census().catch(() => undefined),
    (tookMs) => Math.max(censusKeptMs, tookMs / censusRatio),
  );
  const canBeRead = metrics !== undefined && "render" in metrics;
  return serveHealth(reports, canBeRead ? serveMetrics({ metrics, census, authenticator, log }, next) : next);
}
