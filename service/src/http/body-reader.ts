import type { IncomingMessage } from "node:http";
import { HttpException } from "./http-exception.ts";

/** Reads request bodies into memory, no more than its budget at a time. */
export class BodyReader {
  readonly #maxBytes: number;
  readonly #budgetBytes: number;
  #reservedBytes = 0;

  /**
   * @param maxBytes - per body
   * @param budgetBytes - for all bodies that are being read; default: no limit
   */
  constructor(maxBytes: number, budgetBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
    this.#budgetBytes = budgetBytes;
  }

  /**
   * Returns the body as text.
   *
   * @throws HttpException 413 if it is too large, 503 if too many are being read, and 400 if the client closes the
   *   connection
   */
  async read(request: IncomingMessage): Promise<string> {
    // A body of unknown length may become as large as the limit.
    const declared = Number(request.headers["content-length"] ?? this.#maxBytes);
    const reserved = Math.min(declared, this.#maxBytes);
    if (this.#reservedBytes + reserved > this.#budgetBytes)
      throw new HttpException(503, "Too many large requests at a time", { "retry-after": "5" });
    this.#reservedBytes += reserved;
    try {
      return await readText(request, this.#maxBytes);
    } finally {
      this.#reservedBytes -= reserved;
    }
  }
}

async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Read to the end anyway: a client that is still writing would not read the response.
      if (bytes <= maxBytes) chunks.push(chunk);
    }
  } catch {
    // The client closed the connection, so nobody reads this response.
    throw new HttpException(400, "Request body is incomplete");
  }
  if (bytes > maxBytes) throw new HttpException(413, "Request body too large");
  return Buffer.concat(chunks).toString("utf8");
}
