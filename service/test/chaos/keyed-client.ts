import { request } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { Random } from "./random.ts";
import { apiKey } from "./service-process.ts";

const copies = { from: 2, to: 5.999 };
const longestDelayMs = 300;
const retryPauseMs = 200;
const dropShare = 0.3;
/** Within this time, an answer that is dropped may or may not have arrived. */
const longestDropMs = 40;
const responseMs = 90_000;

interface Reply {
  status: number;
  isReplayed: boolean;
  body: unknown;
}

/** A client that sends creates several times with the same key, to any API, and often does not wait for the answer. */
export class KeyedClient {
  readonly #urls: readonly string[];
  readonly #random: Random;
  readonly numbers = new Map<string, number>();
  /** What must not have been answered. */
  readonly wrong: string[] = [];

  /** @param urls - of the APIs */
  constructor(urls: readonly string[], random: Random) {
    this.#urls = urls;
    this.#random = random;
  }

  /** Sends a create several times, each until it is answered. Returns the ids of the jobs that it was answered with. */
  async createOften(project: string, prompt: string, key: string): Promise<string[]> {
    const sends = Array.from({ length: Math.floor(this.#random.between(copies.from, copies.to)) }, async () => {
      await setTimeout(this.#random.between(0, longestDelayMs));
      return this.#create(project, prompt, key);
    });
    return (await Promise.all(sends)).filter((id) => id !== undefined);
  }

  /** Returns the jobs of the turns that were sent for a step. */
  async findStep(url: string, project: string, step: string): Promise<string[]> {
    const { body } = await this.#send(`${url}/v2/agent/${project}/job?step=${step}`, "GET");
    return (body as { turns: { job: string }[] }).turns.map(({ job }) => job);
  }

  /** Returns whether an API shows a job. */
  async isShown(url: string, project: string, job: string): Promise<boolean> {
    return (await this.#send(`${url}/v2/agent/${project}/job/${job}`, "GET")).status === 200;
  }

  async #create(project: string, prompt: string, key: string): Promise<string | undefined> {
    for (;;) {
      const url = this.#random.pick(this.#urls);
      const dropAfterMs = this.#random.next() < dropShare ? this.#random.between(0, longestDropMs) : undefined;
      const options = { key, prompt, ...(dropAfterMs !== undefined && { dropAfterMs }) };
      const reply = await this.#send(`${url}/v2/agent/${project}/job`, "POST", options).catch((error: Error) => error);
      if (reply instanceof Error) this.#count("requests without an answer");
      else {
        const which = this.#urls.indexOf(url);
        this.#count(`API ${which} answered ${reply.status}${reply.isReplayed ? " again" : ""}`);
        if (reply.status === 201) return (reply.body as { id: string }).id;
        if (reply.status < 500) {
          this.wrong.push(`${key} was answered with ${reply.status}: ${JSON.stringify(reply.body)}`);
          return undefined;
        }
      }
      await setTimeout(retryPauseMs);
    }
  }

  #count(name: string): void {
    this.numbers.set(name, (this.numbers.get(name) ?? 0) + 1);
  }

  #send(url: string, method: string, create?: { key: string; prompt: string; dropAfterMs?: number }): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      ...(create && { "idempotency-key": `"${create.key}"` }),
    };
    const sent = request(url, { method, headers, agent: false, timeout: responseMs });
    sent.on("timeout", () => sent.destroy(new Error("no response")));
    sent.on("error", reject);
    sent.on("response", (response) => {
      const { statusCode: status = 0, headers: received } = response;
      const isReplayed = received["idempotent-replayed"] === "true";
      json(response).then((body) => resolve({ status, isReplayed, body }), reject);
    });
    if (create?.dropAfterMs !== undefined)
      void setTimeout(create.dropAfterMs).then(() => sent.destroy(new Error("dropped")));
    sent.end(create && JSON.stringify({ prompt: create.prompt }));
    return promise;
  }
}
