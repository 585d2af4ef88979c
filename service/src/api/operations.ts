import type { ServerResponse } from "node:http";
import type { Authenticator } from "../http/authentication.ts";
import type { Endpoints } from "../http/dispatch.ts";
import type { operationRoutes } from "../http/routes.ts";
import { sendJson } from "../http/send-json.ts";
import type { Metrics, ReadableMetrics } from "../metrics/metrics.ts";
import type { TurnLimits } from "../store/ready-turns.ts";
import type { Store } from "../store/store.ts";
import { cached } from "./cached.ts";
import { createHealth, type HealthReport } from "./health.ts";
import { type CheckedWorker, checkDisk, checkLiveness, checkStore, checkWorker } from "./health-checks.ts";
import { type MetricsReaders, metricsEndpoint } from "./metrics-endpoint.ts";
import type { Problems } from "./problems.ts";

export interface OperationsOptions {
  store: Store;
  folder: string;
  /** Returns the worker of this process, once it has started. Default: it has none. */
  worker?: (() => CheckedWorker | undefined) | undefined;
  /** Decides who may read metrics besides programs on this machine. Default: nobody. */
  authenticator?: Pick<Authenticator, "authenticate"> | undefined;
  projects: readonly string[];
  /** Default: who is on this machine, or has a key. */
  metricsReaders?: MetricsReaders | undefined;
  /** Returns the limits of the workers on the store. */
  limits: () => Promise<TurnLimits>;
  /** Problems of others, which do not change the status. Default: none is known. */
  problems?: Pick<Problems, "current"> | undefined;
  /** Default: nothing is counted, and nobody can read metrics. */
  metrics?: Metrics | ReadableMetrics | undefined;
}

/** Metrics that cannot be read have no endpoint. */
export type OperationEndpoints = Omit<Endpoints<keyof typeof operationRoutes>, "metrics"> &
  Partial<Pick<Endpoints<"metrics">, "metrics">>;

const censusKeptMs = 5000;
/** The share of time that may be spent on counting all jobs. */
const censusRatio = 1 / 100;

/** Returns the endpoints for those who operate the service: whether it works, whether this process does, and metrics. */
export function createOperations(options: OperationsOptions): OperationEndpoints {
  const { store, folder, worker, authenticator, projects, metrics, metricsReaders: readers, limits } = options;
  const health = createHealth({
    store: checkStore(store),
    disk: checkDisk(folder),
    ...(worker && { worker: checkWorker(worker) }),
  });
  // Depends on nothing that a restart cannot fix.
  const liveness = createHealth(worker === undefined ? {} : { worker: checkLiveness(worker) });
  const census = cached(
    async () => {
      try {
        return await store.counts.census(await limits());
      } catch {
        return undefined;
      }
    },
    (tookMs) => Math.max(censusKeptMs, tookMs / censusRatio),
  );
  return {
    health: healthEndpoint(health, options.problems),
    liveness: healthEndpoint(liveness),
    ...(metrics &&
      "render" in metrics && {
        metrics: metricsEndpoint({ metrics, census, authenticator, projects, readers }),
      }),
  };
}

/**
 * Returns an endpoint that tells anyone whether the service works: 200 or 503.
 *
 * @param report - never rejects
 */
function healthEndpoint(report: () => Promise<HealthReport>, problems?: Pick<Problems, "current">) {
  return {
    access: "anyone",
    answer: async (_request: unknown, response: ServerResponse): Promise<void> => {
      const result = await report();
      const body = { ...result, ...(problems && { problems: problems.current }) };
      sendJson(response, result.status === "ok" ? 200 : 503, body);
    },
  } as const;
}
