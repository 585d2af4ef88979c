import type { RequestListener } from "node:http";
import type { Authenticator } from "../http/authentication.ts";
import { checkHost } from "../http/host.ts";
import type { Log } from "../log/log.ts";
import type { Metrics, ReadableMetrics } from "../metrics/metrics.ts";
import type { Store } from "../store/store.ts";
import { cached } from "./cached.ts";
import { createHealth } from "./health.ts";
import { type CheckedWorker, checkDisk, checkLiveness, checkStore, checkWorker } from "./health-checks.ts";
import { serveHealth } from "./health-endpoint.ts";
import { serveMetrics } from "./metrics-endpoint.ts";

export interface OperationsOptions {
  /** What a reverse proxy serves the service as. */
  publicUrl?: string | undefined;
  store: Store;
  folder: string;
  /** Returns the worker of this process, once it has started. Default: it has none. */
  worker?: (() => CheckedWorker | undefined) | undefined;
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
 * Answers what those who operate the service ask: `/healthz`, whether it works; `/healthz/live`, whether this process does; and
 * `/metrics`, if they can be read. Passes every other request to `next` if its `Host` is one of the service.
 */
export function serveOperations(options: OperationsOptions, next: RequestListener): RequestListener {
  const { publicUrl, store, folder, worker, authenticator, metrics, log } = options;
  const reports = {
    "/healthz": createHealth({
      store: checkStore(store),
      disk: checkDisk(folder),
      ...(worker && { worker: checkWorker(worker) }),
    }),
    // Does not depend on what a restart cannot help.
    "/healthz/live": createHealth(worker === undefined ? {} : { worker: checkLiveness(worker) }),
  };
  const census = cached(
    () => store.counts.census().catch(() => undefined),
    (tookMs) => Math.max(censusKeptMs, tookMs / censusRatio),
  );
  const checked = checkHost(publicUrl, serveHealth(reports, next));
  if (metrics === undefined || !("render" in metrics)) return checked;
  // Who collects metrics knows each process by its address in a network, and no website has the key.
  return serveMetrics({ metrics, census, authenticator, log }, checked);
}
