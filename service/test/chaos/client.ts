import { type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { apiKey } from "./service-process.ts";

/** What a client knows of a create or a message. */
export type Submission =
  | { acceptance: "accepted"; job: JobRecord }
  | { acceptance: "unknown"; reason: string }
  | { acceptance: "rejected"; reason: string };

/** What is checked of a job as the API shows it. */
export interface JobRecord {
  id: string;
  status: string;
  prLink: string | null;
}

interface Reply {
  status: number;
  retryAfter: number | undefined;
  body: string;
}

/** How long a create or message is tried that is certainly not accepted. */
const retryMs = 10 * 60_000;
const connectPauseMs = 300;
const responseMs = 90_000;
const longestWaitMs = 60_000;

/** Thrown if a request was not sent, because no connection could be made. */
class NotConnected extends Error {}

/** A client that asks one API after the other. It sends again only what was certainly not accepted. */
export class Client {
  readonly #urls: readonly string[];
  readonly #key: () => string;
  #next = 0;
  /** How often requests were repeated, by the reason. */
  readonly retries = new Map<string, number>();

  /**
   * @param urls - of the APIs
   * @param key - returns the API key of now. Default: that of all processes
   */
  constructor(urls: readonly string[], key = () => apiKey) {
    this.#urls = urls;
    this.#key = key;
  }

  create(project: string, prompt: string): Promise<Submission> {
    return this.#submit(`${project}/job`, prompt);
  }

  message(project: string, jobId: string, prompt: string): Promise<Submission> {
    return this.#submit(`${project}/job/${jobId}/message`, prompt);
  }

  /** Returns the job; `undefined` if the API does not answer now. Throws if it says that there is none. */
  async get(project: string, jobId: string): Promise<JobRecord | undefined> {
    const reply = await this.#send("GET", `${project}/job/${jobId}`).catch(() => undefined);
    if (reply === undefined || reply.status >= 500) return undefined;
    if (reply.status !== 200) throw new Error(`a poll of ${jobId} was answered with ${reply.status}: ${reply.body}`);
    return JSON.parse(reply.body) as JobRecord;
  }

  /** Checks on each API that the page of a pull request shows the text. Returns the failures. */
  async checkPage(number: number, text: string): Promise<string[]> {
    const wrong: string[] = [];
    for (const url of this.#urls) {
      const body = new URLSearchParams({ key: apiKey });
      const signedIn = await fetch(`${url}/sign-in`, { method: "POST", body, redirect: "manual" });
      const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
      const page = await fetch(`${url}/pull/${number}`, { headers: { cookie } });
      if (page.status !== 200) wrong.push(`page ${number} of ${url} was answered with ${page.status}`);
      else if (!(await page.text()).includes(text)) wrong.push(`page ${number} of ${url} does not show "${text}"`);
    }
    return wrong;
  }

  async #submit(path: string, prompt: string): Promise<Submission> {
    const end = performance.now() + retryMs;
    for (;;) {
      const attempt = await this.#attempt(path, prompt);
      if (!("retryAfterMs" in attempt)) return attempt;
      const { reason, retryAfterMs } = attempt;
      if (performance.now() + retryAfterMs > end || retryAfterMs > longestWaitMs)
        return { acceptance: "rejected", reason };
      this.retries.set(reason, (this.retries.get(reason) ?? 0) + 1);
      await setTimeout(retryAfterMs);
    }
  }

  async #attempt(path: string, prompt: string): Promise<Submission | { reason: string; retryAfterMs: number }> {
    try {
      const { status, retryAfter, body } = await this.#send("POST", path, JSON.stringify({ prompt }));
      if (status === 200 || status === 201) return { acceptance: "accepted", job: JSON.parse(body) as JobRecord };
      if (retryAfter !== undefined && (status === 429 || status === 503))
        return { reason: String(status), retryAfterMs: retryAfter * 1000 };
      const reason = `${status}: ${body}`;
      return { acceptance: status >= 500 || status === 408 ? "unknown" : "rejected", reason };
    } catch (error) {
      if (error instanceof NotConnected) return { reason: "no connection", retryAfterMs: connectPauseMs };
      return { acceptance: "unknown", reason: (error as Error).message };
    }
  }

  /** A connection for each request: one that was kept may be closed at any moment, without saying what was received. */
  #send(method: string, path: string, body?: string): Promise<Reply> {
    const url = this.#urls[this.#next++ % this.#urls.length];
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    let isConnected = false;
    const headers = { authorization: `Bearer ${this.#key()}`, "content-type": "application/json" };
    const sent = request(`${url}/v2/agent/${path}`, { method, headers, agent: false, timeout: responseMs });
    sent.on("socket", (socket) => {
      socket.once("connect", () => {
        isConnected = true;
      });
    });
    sent.on("timeout", () => sent.destroy(new Error("no response")));
    sent.on("error", (error) => reject(isConnected ? error : new NotConnected(error.message)));
    sent.on("response", (response) => void readReply(response).then(resolve, reject));
    sent.end(body);
    return promise;
  }
}

async function readReply(response: IncomingMessage): Promise<Reply> {
  let body = "";
  response.setEncoding("utf8");
  for await (const chunk of response) body += chunk;
  const retryAfter = response.headers["retry-after"];
  return {
    status: response.statusCode ?? 0,
    retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
    body,
  };
}
