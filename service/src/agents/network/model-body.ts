import type { IncomingMessage } from "node:http";
import type { ModelApi } from "../model-api.ts";

/** In bytes. Providers accept no more. */
const maxBytes = 32 * 1024 * 1024;
/** In bytes, of all requests of a proxy at a time. */
const maxBytesTogether = 128 * 1024 * 1024;

/** Thrown for a request that is not sent to the model. */
export class RejectedBody extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

/** Reads the bodies of requests to a model, and checks them. */
export class ModelBodies {
  readonly #api: ModelApi;
  readonly #allowsServerTools: boolean;
  #held = 0;

  constructor(api: ModelApi, allowsServerTools: boolean) {
    this.#api = api;
    this.#allowsServerTools = allowsServerTools;
  }

  /**
   * Returns the body of a request as the model gets it: written anew, so that it means the same there as it did here.
   *
   * @param path - below the path of the endpoint
   * @throws RejectedBody if it is too large, or, unless tools of the server are allowed, is not JSON or lets the provider's machines do something
   */
  async read(request: IncomingMessage, path: string): Promise<string> {
    if (!/^(?:identity)?$/i.test(request.headers["content-encoding"] ?? ""))
      throw new RejectedBody(415, "Requests to the model must not be compressed.");
    let bytes = 0;
    try {
      const chunks: Buffer[] = [];
      // Without destroying it, because the answer takes the same connection.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#held += chunk.length;
        if (bytes > maxBytes) throw new RejectedBody(413, "The request is too large.");
        if (this.#held > maxBytesTogether) throw new RejectedBody(503, "Too many requests are being sent.");
        chunks.push(chunk);
      }
      if (bytes === 0) return "";
      const text = Buffer.concat(chunks).toString();
      return this.#allowsServerTools ? text : this.#check(text, path);
    } finally {
      this.#held -= bytes;
    }
  }

  #check(text: string, path: string): string {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      throw new RejectedBody(400, "The request is not JSON.");
    }
    if (typeof body !== "object" || body === null || Array.isArray(body))
      throw new RejectedBody(400, "The request is not a JSON object.");
    const tool = this.#api.findServerTool(body as Readonly<Record<string, unknown>>, path);
    if (tool !== undefined)
      throw new RejectedBody(
        403,
        `This agent reaches only its model, so the provider must not fetch or run anything for it: ${tool.slice(0, 100)}. --agent-model-tools allows it.`,
      );
    return JSON.stringify(body);
  }
}
