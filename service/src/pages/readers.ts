import type { IncomingMessage } from "node:http";
import { type Access, requireWrite } from "../http/authentication.ts";
import { keepConnection } from "../http/connections.ts";
import { HttpException } from "../http/http-exception.ts";
import type { PageJob } from "../model.ts";
import { StoreUnavailable } from "../store-errors.ts";
import { requireSameOrigin } from "./form.ts";
import type { PageReply } from "./page-reply.ts";
import type { SignIn } from "./sign-in.ts";

/** Finds out who reads a page: a browser with a session, or a program with a key. */
export class Readers {
  readonly #signIn: SignIn;

  constructor(signIn: SignIn) {
    this.#signIn = signIn;
  }

  /** Returns the access of a browser's session; `undefined` if the browser is not signed in. */
  async session(request: IncomingMessage): Promise<Access | undefined> {
    const access = await this.#signIn.access(request);
    if (access !== undefined) keepConnection(request);
    return access;
  }

  /** Shows a page to a signed-in browser, and leads others to the sign-in form. */
  async signedIn<Reply>(
    request: IncomingMessage,
    show: (access: Access) => Promise<Reply>,
  ): Promise<Reply | PageReply> {
    const access = await this.session(request);
    return access === undefined ? this.#signIn.challenge(request, request.url ?? "/") : show(access);
  }

  /**
   * Shows a page to a signed-in browser, or to a program that sends the key as in the API.
   *
   * @throws HttpException 401 if the key is not valid, 403 if another site made a browser send a form, or the key can only read and
   *   the request is a `POST`
   */
  async withKeyOrSignedIn<Reply>(
    request: IncomingMessage,
    show: (access: Access) => Promise<Reply>,
  ): Promise<Reply | PageReply> {
    const isWrite = request.method === "POST";
    const showAllowed = (access: Access) => {
      if (isWrite) requireWrite(access);
      return show(access);
    };
    if (request.headers.authorization === undefined) {
      if (isWrite) requireSameOrigin(request);
      return this.signedIn(request, showAllowed);
    }
    const access = await this.#signIn.requireKey(request);
    keepConnection(request);
    return showAllowed(access);
  }

  /** Returns whether the sender of a request may still read a job: no longer after signing out, or if the key is revoked. */
  async mayStillRead(request: IncomingMessage, { project }: PageJob): Promise<boolean> {
    try {
      const hasKey = request.headers.authorization !== undefined;
      const access = hasKey ? await this.#signIn.requireKey(request) : await this.#signIn.access(request);
      return access?.projects.includes(project) === true;
    } catch (error) {
      if (error instanceof HttpException) return false;
      // An outage of the store ends no log.
      if (error instanceof StoreUnavailable) return true;
      throw error;
    }
  }
}
