import type { IncomingMessage } from "node:http";
import { HttpException } from "../http/http-exception.ts";
import type { PageReply } from "./page-reply.ts";
import type { StreamReply } from "./stream-reply.ts";

export type Reply = PageReply | StreamReply;

/** @param parameter - the part of the path that the pattern captures; empty if it captures none */
export type Handler = (request: IncomingMessage, parameter: string) => Promise<Reply>;

export interface Route {
  /** Of the whole path. */
  pattern: RegExp;
  /** By method, in the order in which `Allow` names them. */
  methods: Readonly<Partial<Record<"GET" | "HEAD" | "POST", Handler>>>;
}

/**
 * Returns what handles a request; `undefined` if no route has its path.
 *
 * @throws HttpException 405 if the route of the path does not have its method
 */
export function findHandler(
  routes: readonly Route[],
  method: string,
  path: string,
): ((request: IncomingMessage) => Promise<Reply>) | undefined {
  for (const { pattern, methods } of routes) {
    const match = pattern.exec(path);
    if (!match) continue;
    const [, handler] = Object.entries(methods).find(([name]) => name === method) ?? [];
    if (!handler) throw new HttpException(405, "Method not allowed", { allow: Object.keys(methods).join(", ") });
    return (request) => handler(request, match[1] ?? "");
  }
  return undefined;
}

/** Methods of what is only read. Node.js sends no body for a `HEAD`. */
export const read = (handler: Handler): Route["methods"] => ({ GET: handler, HEAD: handler });
