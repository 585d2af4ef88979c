import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import { type Access, type Authenticator, bearerOf } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";
import { belowBasePath } from "../http/public-url.ts";
import { queryOf } from "../http/request-url.ts";
import type { Machine } from "../machine.ts";
import type { TokenStore } from "../store/tokens.ts";
import { AttemptLimit } from "./attempt-limit.ts";
import { ExpiringTokens } from "./expiring-tokens.ts";
import { readForm, requireSameOrigin } from "./form.ts";
import { type Html, html } from "./html.ts";
import { pageEnd, pageStart } from "./layout.ts";
import { type PageReply, redirect } from "./page-reply.ts";

export interface SignInOptions {
  authenticator: Authenticator;
  /** See `basePathOf`. */
  basePath: string;
  /** Returns the URL at which browsers reach the service. */
  baseUrl: () => string;
  /** Stores sessions and links. */
  tokens: TokenStore;
  machine: Pick<Machine, "now">;
}

const sessionMs = 12 * 3_600_000;
const linkMs = 10 * 60_000;
const maxFailures = 10;
const failureWindowMs = 60_000;
const maxFormBytes = 4096;

/** Signs browsers in with the API key or a one-time link, and recognizes them by their cookie. */
export class SignIn {
  readonly #options: SignInOptions;
  /** The meaning of each is `Access.signInAs` of the key that it began with. */
  readonly #sessions: ExpiringTokens;
  /** The meaning of each is the path that it leads to and, after a space, `Access.signInAs` of its key. */
  readonly #links: ExpiringTokens;
  readonly #failures: AttemptLimit;
  readonly #forms = new BodyReader(maxFormBytes);

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#sessions = new ExpiringTokens(options.tokens, "session", sessionMs);
    this.#links = new ExpiringTokens(options.tokens, "link", linkMs);
    this.#failures = new AttemptLimit(maxFailures, failureWindowMs, options.machine);
  }

  /** Returns the access of a browser's session; `undefined` if the browser is not signed in. */
  async access(request: IncomingMessage): Promise<Access | undefined> {
    for (const token of this.#sessionTokens(request)) {
      const signInAs = await this.#sessions.find(token);
      const access = signInAs === undefined ? undefined : await this.#options.authenticator.accessOf(signInAs);
      if (access !== undefined) return access;
    }
    return undefined;
  }

  /**
   * Returns a one-time URL, valid for 10 minutes, that signs a browser in and leads to a page.
   *
   * @param path - of the page, with or without the base path. Default: of the list of jobs
   * @param access - of the session that begins
   * @throws HttpException 403 if nobody can sign in with this access
   */
  async createLink(path: string | null, access: Access): Promise<string> {
    const meaning = `${this.#localPath(path)} ${requireSignInAs(access)}`;
    return `${this.#options.baseUrl()}/sign-in/${await this.#links.create(meaning)}`;
  }

  /** Leads to the sign-in form, and from there back to `path`, which is below the base path. */
  challenge(request: IncomingMessage, path: string): PageReply {
    const { basePath } = this.#options;
    // A browser sends no `SameSite=Strict` cookie if it follows a link on another site, such as GitHub.
    if (request.headers["sec-fetch-site"] === "cross-site")
      return { status: 200, body: [renderReloadPage(basePath + path)] };
    return redirect(`${basePath}/sign-in${path === "/" ? "" : `?next=${encodeURIComponent(path)}`}`);
  }

  async showForm(request: IncomingMessage): Promise<PageReply> {
    const next = this.#localPath(queryOf(request).get("next"));
    if (await this.access(request)) return redirect(this.#options.basePath + next);
    return { status: 200, body: [this.#renderForm(next)] };
  }

  /** Handles the form: a `POST` of `key` and `next`. */
  async submitForm(request: IncomingMessage): Promise<PageReply> {
    requirePublicHost(request, this.#options.baseUrl());
    const form = await readForm(request, this.#forms);
    const next = this.#localPath(form.get("next"));
    const client = clientOf(request);
    const waitMs = this.#failures.waitMs(client);
    if (waitMs !== undefined) {
      const seconds = Math.ceil(waitMs / 1000);
      const error = `Too many attempts with a wrong key. Try again in ${seconds} seconds, or create a link with the key: see "Pages" in service/docs/jobs-and-pages.md.`;
      return { status: 429, headers: { "retry-after": String(seconds) }, body: [this.#renderForm(next, error)] };
    }
    try {
      const access = await this.#options.authenticator.authenticate(form.get("key")?.trim());
      return await this.#startSession(request, next, requireSignInAs(access));
    } catch (error) {
      if (!(error instanceof HttpException) || error.status !== 401) throw error;
      this.#failures.addFailure(client);
      return { status: 401, headers: error.headers, body: [this.#renderForm(next, error.message)] };
    }
  }

  /**
   * Returns the access of a request with a key, sent as in the API. As there, attempts are not limited, so that nobody can lock
   * out the operator by using up the attempts of the form.
   *
   * @throws HttpException 401
   */
  requireKey(request: IncomingMessage): Promise<Access> {
    return this.#options.authenticator.authenticate(bearerOf(request.headers.authorization));
  }

  /** Creates a sign-in link, as text, for a request with a key. */
  async requestLink(request: IncomingMessage): Promise<PageReply> {
    const access = await this.requireKey(request);
    const url = await this.createLink(queryOf(request).get("next"), access);
    return { status: 201, headers: { "content-type": "text/plain" }, body: [Buffer.from(`${url}\n`)] };
  }

  /** Handles the first visit to a link. The redirect removes the token from the browser's address bar. */
  async followLink(request: IncomingMessage, token: string): Promise<PageReply> {
    // A browser that loads pages in advance must not use up the link.
    if (String(request.headers["sec-purpose"]).startsWith("prefetch"))
      throw new HttpException(503, "The link is not loaded in advance");
    const target = await this.#links.take(token);
    if (target !== undefined) {
      const [path = "/", ...signInAs] = target.split(" ");
      return this.#startSession(request, path, signInAs.join(" "));
    }
    const error = "This link was already used, or has expired. Sign in with the key.";
    return { status: 403, body: [this.#renderForm("/", error)] };
  }

  /** Returns a path below the base path if one of the service's pages has it, otherwise `/`, so that no link can lead to another site. */
  #localPath(given: string | null): string {
    const path = belowBasePath(given ?? "", this.#options.basePath);
    return isPage(path) ? path : "/";
  }

  #renderForm(next: string, error?: string): Html {
    return renderSignInPage(this.#options.basePath, next, error);
  }

  async signOut(request: IncomingMessage): Promise<PageReply> {
    requireSameOrigin(request);
    for (const token of this.#sessionTokens(request)) await this.#sessions.take(token);
    return redirect(`${this.#options.basePath}/sign-in`, this.#cookie(request, "", 0));
  }

  /** Whether a request came to the public URL, and that is https. */
  #isSecure({ headers }: IncomingMessage): boolean {
    const { protocol, host } = new URL(this.#options.baseUrl());
    return protocol === "https:" && headers.host === host;
  }

  async #startSession(request: IncomingMessage, path: string, signInAs: string): Promise<PageReply> {
    const token = await this.#sessions.create(signInAs);
    return redirect(this.#options.basePath + path, this.#cookie(request, token, sessionMs / 1000));
  }

  /** Other services on the same host do not get the cookie, if each has its own path. */
  #cookie(request: IncomingMessage, token: string, maxAgeSeconds: number): string {
    const path = this.#options.basePath || "/";
    const attributes = [`Path=${path}`, "HttpOnly", "SameSite=Strict", `Max-Age=${maxAgeSeconds}`];
    if (this.#isSecure(request)) attributes.push("Secure");
    return `${this.#cookieName(request)}=${token}; ${attributes.join("; ")}`;
  }

  /** Has the port, because browsers share cookies between all ports of a host. All machines behind a public URL use its port. */
  #cookieName(request: IncomingMessage): string {
    const { socket, headers } = request;
    const { protocol, host, port } = new URL(this.#options.baseUrl());
    const publicPort = port || (protocol === "https:" ? 443 : 80);
    const name = `agent-job-service-${headers.host === host ? publicPort : socket.localPort}`;
    if (!this.#isSecure(request)) return name;
    // Browsers let no other host of the domain set a cookie with `__Host-`, which they require to be for all paths.
    return `${this.#options.basePath === "" ? "__Host-" : "__Secure-"}${name}`;
  }

  /** Returns all cookies with the name, because another server on this machine can add one. */
  #sessionTokens(request: IncomingMessage): string[] {
    const prefix = `${this.#cookieName(request)}=`;
    const cookies = (request.headers.cookie ?? "").split(/; */);
    return cookies.filter((cookie) => cookie.startsWith(prefix)).map((cookie) => cookie.slice(prefix.length));
  }
}

/**
 * Rejects a form that was sent to the public URL, but arrives with another host: its cookie would not be protected.
 *
 * @throws HttpException 421 with what to change in the configuration of the reverse proxy
 */
function requirePublicHost({ headers }: IncomingMessage, baseUrl: string): void {
  const { origin, host } = new URL(baseUrl);
  if (headers.origin !== origin || headers.host === host) return;
  const advice = "Let it pass the Host header on, as in service/deploy/nginx.conf: proxy_set_header Host $http_host";
  throw new HttpException(
    421,
    `The reverse proxy sends the request to ${headers.host}, and --public-url is ${baseUrl}. ${advice}`,
  );
}

/** A workflow that leaks its token, which ends in minutes, must not leak a session of hours. */
function requireSignInAs({ signInAs }: Access): string {
  if (signInAs === undefined) throw new HttpException(403, "Only a key can sign in, no token of a workflow");
  return signInAs;
}

/** Whether one of the service's pages has a path. */
const isPage = (path: string): boolean =>
  /^\/(costs|settings|pull\/\d{1,9}|job\/[\w-]{1,64}(\/turn\/\d{1,16})?(\/log)?)?(\?[!-~]*)?$/.test(path);

/** Addresses of this machine and of private networks, from which a reverse proxy connects. */
const isNear = /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd]/i;

/**
 * Returns a name for the sender of a request: their address, or the network of it for IPv6, in which one person has many. Behind a reverse
 * proxy, it is the last one in `X-Forwarded-For`, which the proxy itself added. A proxy that adds none stands for everybody.
 */
function clientOf({ socket, headers }: IncomingMessage): string {
  const { remoteAddress = "" } = socket;
  const forwarded = String(headers["x-forwarded-for"] ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  const address = forwarded && isNear.test(remoteAddress) ? forwarded : remoteAddress;
  return isIPv6(address) && !address.startsWith("::ffff:") ? networkOf(address) : address.slice(0, 64);
}

/** Returns the first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const [first, last] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const missing = Math.max(0, 8 - (first?.length ?? 0) - (last?.length ?? 0));
  const groups = [...(first ?? []), ...Array<string>(tail === undefined ? 0 : missing).fill("0"), ...(last ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/**
 * Renders the form that asks for the API key.
 *
 * @param basePath - see `basePathOf`
 * @param next - the path to go to after signing in, below the base path
 * @param error - why the last attempt failed
 */
function renderSignInPage(basePath: string, next: string, error?: string): Html {
  return html`${pageStart("Sign in")}<main class="narrow">
<h1>Sign in</h1>
<p>This page is only for those who have an API key of the agent job service.</p>
${error !== undefined && html`<p class="minus" role="alert">${error}</p>\n`}<form method="post" action="${basePath}/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="key">API key</label>
<input id="key" type="password" name="key" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>
${pageEnd}`;
}

/** Renders a page that loads `path` again, now from this site, so that the browser sends the cookie along. */
function renderReloadPage(path: string): Html {
  return html`${pageStart("Agent job service", html`<meta http-equiv="refresh" content="0; url=${path}">\n`)}<main>
<p><a href="${path}">Continue</a></p>
${pageEnd}`;
}
