export interface BoundedFetchOptions {
  /** Base URL of the REST API. No other origin gets a request, because each request has the token. */
  apiUrl: string;
  /** Called with the path of a request and the path that GitHub redirects it to. */
  onRedirect: (from: string, to: string) => void;
  /** For a request with its redirects and the body of the response, in milliseconds. Default: 30 s. */
  timeoutMs?: number;
  /** Default: 32 MB. A page of 100 pull requests with the longest descriptions that GitHub allows has less. */
  maxBodyBytes?: number;
}

/** Thrown when GitHub redirects to where the service does not follow. */
export class RedirectError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const maxRedirects = 3;
/** GitHub's documentation, "Best practices for using the REST API": the request is repeated with the same method and body. */
const redirectStatuses = [301, 302, 307, 308];

/**
 * Returns a `fetch` for GitHub's API. It limits the time and the size of a response, and follows redirects to the same origin,
 * which GitHub sends after a repository was renamed or transferred.
 */
export function createBoundedFetch(options: BoundedFetchOptions): typeof fetch {
  const { apiUrl, onRedirect, timeoutMs = 30_000, maxBodyBytes = 32_000_000 } = options;
  const { origin } = new URL(apiUrl);
  return async (input, init = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      let url = new URL(String(input));
      for (let redirects = 0; ; redirects++) {
        const response = await fetch(url.href, { ...init, signal, redirect: "manual" });
        const location = redirectStatuses.includes(response.status) ? response.headers.get("location") : null;
        if (location === null) return await readBounded(response, maxBodyBytes);
        await response.body?.cancel();
        const target = URL.parse(location, url.href);
        if (target?.origin !== origin)
          throw new RedirectError(
            `the token is not sent to ${target?.origin ?? "an invalid URL"}, where GitHub redirects`,
            response.status,
          );
        if (redirects === maxRedirects) throw new RedirectError("GitHub redirects in a circle", response.status);
        onRedirect(url.pathname, target.pathname);
        url = target;
      }
    } catch (error) {
      if (timeout.aborted) throw new Error(`no complete response within ${timeoutMs / 1000} s`, { cause: error });
      throw error;
    }
  };
}

async function readBounded(response: Response, maxBytes: number): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the response has more than ${maxBytes / 1_000_000} MB`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(response.body === null ? null : Buffer.concat(chunks), { status, statusText, headers });
}
