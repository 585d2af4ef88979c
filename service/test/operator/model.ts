import type { IncomingMessage, ServerResponse } from "node:http";
import { type LoopbackServer, listen } from "../../src/http/listen.ts";
import { file } from "../chaos/agent.ts";

/**
 * Stands for Claude Code: asks the model when it begins and when it has ended, and makes its prompt the last line of a file. What it
 * prints is what Claude Code prints.
 */
export const claude = `#!/bin/bash
set -o pipefail
prompt=$(tail -n 1 "$AGENT_PROMPT_FILE")
ask() {
  curl --silent --show-error --fail-with-body --header "x-api-key: $ANTHROPIC_API_KEY" --header "content-type: application/json" \\
    --data "{\\"model\\":\\"m\\",\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"$1 $prompt\\"}]}" "$ANTHROPIC_BASE_URL/v1/messages" 2>&1
}
end() {
  printf '{"type":"result","is_error":%s,"result":"%s","session_id":"1","total_cost_usd":0.01}\\n' "$1" "$2"
  [ "$1" = false ]
  exit
}
answer=$(ask begin | tr -d '"\\n') || end true "$answer"
echo "$prompt" >> ${file} || end true "cannot write"
ask work > /dev/null || end true "no model"
ask end > /dev/null || end true "no model"
end false "Wrote it down"
`;

/** A model's API with one valid key. It can let agents wait, and knows which ones run. */
export class Model implements AsyncDisposable {
  key = "model_key_of_before";
  /** How often an agent has begun, by its prompt. */
  readonly begun = new Map<string, number>();
  readonly ended = new Set<string>();
  /** Prompts for which two agents ran at the same time. */
  readonly beside: string[] = [];
  readonly #held = new Map<string, PromiseWithResolvers<void>>();
  /** The prompts of agents that the model lets wait. */
  readonly waiting = new Set<string>();
  #server: LoopbackServer | undefined;

  static async start(): Promise<Model> {
    const model = new Model();
    model.#server = await listen((request, response) => model.#answer(request, response));
    return model;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  /** Lets the agent for a prompt wait after it has changed the repository. */
  hold(...prompts: string[]): void {
    for (const prompt of prompts) this.#held.set(prompt, Promise.withResolvers());
  }

  release(...prompts: string[]): void {
    for (const prompt of prompts) {
      this.#held.get(prompt)?.resolve();
      this.#held.delete(prompt);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const send = (status: number, data: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(data));
    if (request.headers["x-api-key"] !== this.key) return void send(401, { error: { message: "invalid x-api-key" } });
    if (request.method === "GET") return void send(200, { data: [] });
    const { messages } = JSON.parse(body) as { messages: [{ content: string }] };
    const [, step, prompt = ""] = /^(\S+) (.*)$/.exec(messages[0].content) ?? [];
    if (step === "begin") this.begun.set(prompt, (this.begun.get(prompt) ?? 0) + 1);
    if (step === "end") this.ended.add(prompt);
    if (step === "work") {
      if (this.waiting.has(prompt)) this.beside.push(prompt);
      this.waiting.add(prompt);
      const gone = Promise.withResolvers<void>();
      response.on("close", gone.resolve);
      await Promise.race([this.#held.get(prompt)?.promise, gone.promise]);
      this.waiting.delete(prompt);
    }
    send(200, { content: [{ type: "text", text: "Go on" }] });
  }
}
