import type { IncomingMessage } from "node:http";
import { type Access, type Authenticator, bearerOf } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";
import { queryOf } from "../http/request-url.ts";
import type { Machine } from "../machine.ts";
import type { TokenStore } from "../store/tokens.ts";
import { AttemptLimit } from "./attempt-limit.ts";
import { clientOf } from "./client-address.ts";
import { ExpiringTokens } from "./expiring-tokens.ts";
import { readForm, requireSameOrigin } from "./form.ts";
import { type PageReply, redirect } from "./page-reply.ts";
import { renderReloadPage, renderSignInPage } from "./sign-in-page.ts";

export interface SignInOptions {
  authenticator: Authenticator;
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
   * @param access - of the session that begins
   * @throws HttpException 403 if nobody can sign in with this access
   */
  async createLink(path: string, access: Access): Promise<string> {
    const meaning = `${localPath(path)} ${requireSignInAs(access)}`;
    return `${this.#options.baseUrl()}/sign-in/${await this.#links.create(meaning)}`;
  }

  /** Leads to the sign-in form, and from there back to `path`. */
  challenge(request: IncomingMessage, path: string): PageReply {
    // A browser sends no `SameSite=Strict` cookie if it follows a link on another site, such as GitHub.
    if (request.headers["sec-fetch-site"] === "cross-site") return { status: 200, body: [renderReloadPage(path)] };
    return redirect(path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`);
  }

  async showForm(request: IncomingMessage): Promise<PageReply> {
    const next = localPath(queryOf(request).get("next"));
    return (await this.access(request)) ? redirect(next) : { status: 200, body: [renderSignInPage(next)] };
  }

  /** Handles the form: a `POST` of `key` and `next`. */
  async submitForm(request: IncomingMessage): Promise<PageReply> {
    requirePublicHost(request, this.#options.baseUrl());
    const form = await readForm(request, this.#forms);
    const next = localPath(form.get("next"));
    const client = clientOf(request);
    const waitMs = this.#failures.waitMs(client);
    if (waitMs !== undefined) {
      const seconds = Math.ceil(waitMs / 1000);
      const error = `Too many attempts with a wrong key. Try again in ${seconds} seconds, or create a link with the key: see "Pages" in service/docs/jobs-and-pages.md.`;
      return { status: 429, headers: { "retry-after": String(seconds) }, body: [renderSignInPage(next, error)] };
    }
    try {
      const access = await this.#options.authenticator.authenticate(form.get("key")?.trim());
      return await this.#startSession(request, next, requireSignInAs(access));
    } catch (error) {
      if (!(error instanceof HttpException) || error.status !== 401) throw error;
      this.#failures.addFailure(client);
      return { status: 401, headers: error.headers, body: [renderSignInPage(next, error.message)] };
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
    const url = await this.createLink(localPath(queryOf(request).get("next")), access);
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
    return { status: 403, body: [renderSignInPage("/", error)] };
  }

  async signOut(request: IncomingMessage): Promise<PageReply> {
    requireSameOrigin(request);
    for (const token of this.#sessionTokens(request)) await this.#sessions.take(token);
    return redirect(
      "/sign-in",
      `${this.#cookieName(request)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0${this.#isSecure(request) ? "; Secure" : ""}`,
    );
  }

  /** Whether a request came to the public URL, and that is https. */
  #isSecure({ headers }: IncomingMessage): boolean {
    const { protocol, host } = new URL(this.#options.baseUrl());
    return protocol === "https:" && headers.host === host;
  }

  async #startSession(request: IncomingMessage, path: string, signInAs: string): Promise<PageReply> {
    const attributes = ["Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${sessionMs / 1000}`];
    if (this.#isSecure(request)) attributes.push("Secure");
    const token = await this.#sessions.create(signInAs);
    return redirect(path, `${this.#cookieName(request)}=${token}; ${attributes.join("; ")}`);
  }

  /** Has the port, because browsers share cookies between all ports of a host. All machines behind a public URL use its port. */
  #cookieName(request: IncomingMessage): string {
    const { socket, headers } = request;
    const { protocol, host, port } = new URL(this.#options.baseUrl());
    const publicPort = port || (protocol === "https:" ? 443 : 80);
    const name = `agent-job-service-${headers.host === host ? publicPort : socket.localPort}`;
    // Browsers let no other host of the domain set it then.
    return this.#isSecure(request) ? `__Host-${name}` : name;
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
  const advice = "Let it pass the Host header on, as in service/deploy/nginx.conf: proxy_set_header Host $host";
  throw new HttpException(
    421,
    `The reverse proxy sends the request to ${headers.host}, and --public-url is ${origin}. ${advice}`,
  );
}

/** A workflow that leaks its token, which ends in minutes, must not leak a session of hours. */
function requireSignInAs({ signInAs }: Access): string {
  if (signInAs === undefined) throw new HttpException(403, "Only a key can sign in, no token of a workflow");
  return signInAs;
}

const isPage = (path: string): boolean => /^\/(pull\/\d{1,9}|job\/[\w-]{1,64}(\/log)?)$/.test(path);

/** Returns a path if one of the service's pages has it, otherwise `/`, so that no link can lead to another site. */
function localPath(path: string | null): string {
  return path !== null && isPage(path) ? path : "/";
}
