/** How long a request may take in all. The action waits as long. */
const requestMs = 30_000;

export interface Request {
  method?: "GET" | "POST";
  /** Below `/v2/agent`, encoded. */
  path: string;
  /** Sent as it is if it is a text, otherwise as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Default: the key of the service. `undefined`: no `Authorization` header. */
  key?: string | undefined;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body, `undefined` if it is not JSON. */
  json: unknown;
}

/** No complete answer: it is unknown whether the service acted on the request. */
export interface NoAnswer {
  error: string;
}

/** Sends requests to the service under test, each of them once. */
export class Connection {
  readonly origin: string;
  readonly #base: string;
  readonly #key: string;

  constructor(baseUrl: URL, key: string) {
    this.origin = baseUrl.origin;
    this.#base = baseUrl.href.replace(/\/+$/, "");
    this.#key = key;
  }

  async send(request: Request): Promise<Answer | NoAnswer> {
    const { method = "GET", path, body, headers = {} } = request;
    const key = "key" in request ? request.key : this.#key;
    try {
      const response = await fetch(`${this.#base}/v2/agent${path}`, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        // A redirect could lead the key elsewhere.
        redirect: "manual",
        signal: AbortSignal.timeout(requestMs),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    } catch (error) {
      const { name, message, cause } = error as Error;
      if (name === "TimeoutError") return { error: `no complete answer within ${requestMs / 1000} seconds` };
      return { error: `no answer: ${cause instanceof Error ? cause.message : message}` };
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
