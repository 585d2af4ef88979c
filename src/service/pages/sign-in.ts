import type { IncomingMessage } from "node:http";
import { authenticationError, keyError } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";
import { AttemptLimit } from "./attempt-limit.ts";
import { ExpiringTokens } from "./expiring-tokens.ts";
import type { PageReply } from "./page-reply.ts";
import { renderReloadPage, renderSignInPage } from "./sign-in-page.ts";

export interface SignInOptions {
  apiKey: string;
  /** Returns the URL that browsers reach the service at. */
  baseUrl: () => string;
  /** Milliseconds since any moment. Not the time of day, so that a changed clock neither ends nor extends a session. */
  now: () => number;
}

const sessionMs = 12 * 3_600_000;
const linkMs = 10 * 60_000;
const maxFailures = 10;
const failureWindowMs = 60_000;
const maxFormBytes = 4096;

/** Signs browsers in by the API key or a one-time link, and knows those that are signed in by their cookie. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #sessions: ExpiringTokens<object>;
  /** Each stands for the path that it leads to. */
  readonly #links: ExpiringTokens<{ path: string }>;
  readonly #failures: AttemptLimit;
  readonly #forms = new BodyReader(maxFormBytes);

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#sessions = new ExpiringTokens(sessionMs, options.now);
    this.#links = new ExpiringTokens(linkMs, options.now);
    this.#failures = new AttemptLimit(maxFailures, failureWindowMs, options.now);
  }

  isSignedIn(request: IncomingMessage): boolean {
    return sessionTokens(request).some((token) => this.#sessions.has(token));
  }

  /** Returns a URL that signs in who opens it first, within 10 minutes, and leads to a page. */
  createLink(path: string): string {
    return `${this.#options.baseUrl()}/sign-in/${this.#links.create({ path: localPath(path) })}`;
  }

  /** Asks who is not signed in to sign in, and leads back to `path` then. */
  challenge(request: IncomingMessage, path: string): PageReply {
    // A browser sends no `SameSite=Strict` cookie if a link of another site, such as GitHub, is followed.
    if (request.headers["sec-fetch-site"] === "cross-site") return { status: 200, body: [renderReloadPage(path)] };
    return redirect(path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`);
  }

  showForm(request: IncomingMessage): PageReply {
    const next = localPath(queryOf(request).get("next"));
    return this.isSignedIn(request) ? redirect(next) : { status: 200, body: [renderSignInPage(next)] };
  }

  /** Handles the form: a `POST` of `key` and `next`. */
  async submitForm(request: IncomingMessage): Promise<PageReply> {
    requireSameOrigin(request);
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
      throw new HttpException(400, "Content-Type must be application/x-www-form-urlencoded");
    const form = new URLSearchParams(await this.#forms.read(request));
    const next = localPath(form.get("next"));
    const waitMs = this.#failures.waitMs();
    if (waitMs !== undefined) {
      const seconds = Math.ceil(waitMs / 1000);
      const error = `Too many attempts with a wrong key. Try again in ${seconds} seconds, or create a link with the key: see "Pages" in docs/service.md.`;
      return { status: 429, headers: { "retry-after": String(seconds) }, body: [renderSignInPage(next, error)] };
    }
    const error = keyError(form.get("key")?.trim(), this.#options.apiKey);
    if (error === undefined) return this.#startSession(request, next);
    this.#failures.addFailure();
    return { status: 401, headers: { "www-authenticate": "Bearer" }, body: [renderSignInPage(next, error)] };
  }

  /**
   * Creates a link, as text, for who sends the key as in the API, with no limit on attempts, as there. So nobody can lock out
   * the operator by using up the attempts of the form.
   */
  requestLink(request: IncomingMessage): PageReply {
    const error = authenticationError(request.headers.authorization, this.#options.apiKey);
    if (error !== undefined) throw new HttpException(401, error, { "www-authenticate": "Bearer" });
    const url = this.createLink(localPath(queryOf(request).get("next")));
    return { status: 201, headers: { "content-type": "text/plain" }, body: [`${url}\n`] };
  }

  /** Handles the first visit of a link. The redirect removes the token from the browser's address bar. */
  followLink(request: IncomingMessage, token: string): PageReply {
    // A browser that loads pages in advance must not use it up.
    if (String(request.headers["sec-purpose"]).startsWith("prefetch"))
      throw new HttpException(503, "The link is not loaded in advance");
    const link = this.#links.take(token);
    if (link !== undefined) return this.#startSession(request, link.path);
    const error = "This link was already used, or has expired. Sign in with the key.";
    return { status: 403, body: [renderSignInPage("/", error)] };
  }

  signOut(request: IncomingMessage): PageReply {
    requireSameOrigin(request);
    for (const token of sessionTokens(request)) this.#sessions.take(token);
    return redirect("/sign-in", `${cookieName(request)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`);
  }

  #startSession(request: IncomingMessage, path: string): PageReply {
    const attributes = ["Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${sessionMs / 1000}`];
    const { protocol, host } = new URL(this.#options.baseUrl());
    if (protocol === "https:" && request.headers.host === host) attributes.push("Secure");
    return redirect(path, `${cookieName(request)}=${this.#sessions.create({})}; ${attributes.join("; ")}`);
  }
}

/** With the port, because browsers share cookies between all ports of a host. */
function cookieName({ socket }: IncomingMessage): string {
  return `agent-job-service-${socket.localPort}`;
}

/** All of that name, because another server on this machine can add one. */
function sessionTokens(request: IncomingMessage): string[] {
  const prefix = `${cookieName(request)}=`;
  const cookies = (request.headers.cookie ?? "").split(/; */);
  return cookies.filter((cookie) => cookie.startsWith(prefix)).map((cookie) => cookie.slice(prefix.length));
}

/** Rejects forms that another site, or another server on this machine, made a browser send. */
function requireSameOrigin({ headers }: IncomingMessage): void {
  const { host, origin, "sec-fetch-site": site } = headers;
  // Only a browser sends these headers. One without `Sec-Fetch-Site` sends `Origin` with forms.
  const isOwn =
    site === undefined
      ? origin === undefined || [`http://${host}`, `https://${host}`].includes(origin)
      : ["same-origin", "none"].includes(site);
  if (!isOwn) throw new HttpException(403, "The form was sent from another site");
}

/** Returns a path if it is that of a page here, otherwise `/`, so that no link can lead to another site. */
function localPath(path: string | null): string {
  return path !== null && /^\/pull\/\d{1,9}$/.test(path) ? path : "/";
}

function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.split("?")[1]);
}

function redirect(location: string, cookie?: string): PageReply {
  return { status: 303, headers: { location, ...(cookie !== undefined && { "set-cookie": cookie }) }, body: [] };
}
