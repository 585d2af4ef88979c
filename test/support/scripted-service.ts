import type { RequestListener, ServerResponse } from "node:http";
import { createHttpFace } from "../../src/service/http/api.ts";
import { type Listening, listen } from "../../src/service/http/listen.ts";
import { type Script, ScriptedEngine } from "./scripted-engine.ts";
import { memoryLimits } from "./sliding-window.ts";

export const serviceKey = "mint_service_key_0123456789";

export interface TestService extends Listening {
  engine: ScriptedEngine;
  /** Every request, as `POST /v2/…`. */
  requests: string[];
}

/** Answers the `n`-th request, counted from 1, in the service's place: true where it did. */
export type Fault = (n: number, response: ServerResponse) => boolean;

/** The agent job service on loopback, for the project `docs`. */
export async function startService(
  options: { script?: (prompt: string, round: number) => Script; fault?: Fault; prefix?: string } = {},
): Promise<TestService> {
  const { fault = () => false, prefix = "", script } = options;
  const engine = new ScriptedEngine(script && { script });
  const face = createHttpFace({
    engine,
    limits: memoryLimits(),
    keys: [{ value: serviceKey, projects: ["docs"] }],
    prefix,
  });
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    const n = requests.push(`${request.method} ${request.url}`);
    if (fault(n, response)) request.resume();
    else face(request, response);
  };
  return { ...(await listen(listener)), engine, requests };
}

/** Inputs of a step against a service, with polls fast enough for a test. */
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
