import type { RequestListener, ServerResponse } from "node:http";
import { createApi } from "../../service/src/api/jobs-endpoints.ts";
import { singleKey } from "../../service/src/http/authentication.ts";
import { dispatch } from "../../service/src/http/dispatch.ts";
import { type LoopbackServer, listen } from "../../service/src/http/listen.ts";
import { type Script, ScriptedEngine } from "../../service/test/support/scripted-engine.ts";

export const serviceKey = "mint_service_key_0123456789";

export interface ScriptedService extends LoopbackServer {
  engine: ScriptedEngine;
  /** Every request, as `POST /v2/…`. */
  requests: string[];
}

/** May answer the `n`-th request, counted from 1, in place of the service. Returns whether it did. */
export type Fault = (n: number, response: ServerResponse) => boolean;

export interface ScriptedServiceOptions {
  script?: (prompt: string, turn: number) => Script;
  fault?: Fault;
  /** A path in front of `/v2`, such as `/docs-api`. Default: none. */
  prefix?: string;
}

/** Starts the agent job service with a scripted engine, for the project `docs`. */
export async function startScriptedService(options: ScriptedServiceOptions = {}): Promise<ScriptedService> {
  const { fault = () => false, prefix = "", script } = options;
  const engine = new ScriptedEngine(script && { script });
  const api = createApi({ engine, authenticator: singleKey(serviceKey, ["docs"]) });
  const serve = dispatch({ ...api, log: console.error });
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    const n = requests.push(`${request.method} ${request.url}`);
    if (fault(n, response)) {
      request.resume();
      return;
    }
    request.url = request.url?.startsWith(prefix) ? request.url.slice(prefix.length) : "/outside-the-prefix";
    serve(request, response);
  };
  return { ...(await listen(listener)), engine, requests };
}

/** Returns the inputs of a step that uses a service, with poll intervals short enough for a test. */
export function inputsFor(service: { url: string }, inputs: Record<string, string> = {}): Record<string, string> {
  return {
    "base-url": service.url,
    "project-id": "docs",
    "api-key": serviceKey,
    prompt: "Update the quickstart",
    "poll-interval-seconds": "0.05",
    "max-poll-interval-seconds": "0.1",
    ...inputs,
  };
}
