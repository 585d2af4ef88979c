import type { IncomingMessage, ServerResponse } from "node:http";
import { type LoopbackServer, listen } from "../../src/http/listen.ts";
import { anthropic } from "./apis/anthropic.ts";
import { bedrock, vertex } from "./apis/clouds.ts";
import { copilotModels } from "./apis/copilot-models.ts";
import { gemini } from "./apis/gemini.ts";
import { openAiChat } from "./apis/openai-chat.ts";
import { openAiResponses } from "./apis/openai-responses.ts";

/** A request of an agent to its model, whichever API it uses. */
export interface ModelRequest {
  /** What was said so far, except by the system. Tool calls and results have no text. */
  messages: readonly { role: "user" | "model"; text: string }[];
  /** The names of the tools that the agent offers. */
  tools: readonly string[];
  /** Whether the request returns the result of a tool. */
  isToolResult: boolean;
}

/** A text ends the model's turn. With `tool`, the agent calls that tool and asks again; OpenAI's custom tools take a string. */
export type ModelReply =
  | { text: string; tool?: { name: string; input: Record<string, unknown> | string } }
  | { error: { status: number; message: string } };

/** Decides what the model replies. May wait, like a slow model. */
export type ModelScript = (request: ModelRequest) => ModelReply | Promise<ModelReply>;

/** One of the APIs: how a request is read and a reply is written. */
export interface ModelApi {
  path: RegExp;
  read(body: never): ModelRequest;
  /** Writes a reply that is not an error, as a stream if the request asks for one. */
  write(
    reply: Extract<ModelReply, { text: string }>,
    body: never,
    url: URL,
  ): { stream: boolean; body: string | Buffer };
  /** Of a stream. Default: `text/event-stream`. */
  streamType?: string;
  error(status: number, message: string): unknown;
}

/** A request as it arrived. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface ScriptedModel extends LoopbackServer {
  /** Every request, in order. */
  requests: readonly ReceivedRequest[];
}

const apis: readonly ModelApi[] = [anthropic, bedrock, vertex, openAiResponses, openAiChat, gemini];

/**
 * Starts a model on loopback that follows a script and speaks the APIs of Anthropic, also of Amazon and Google, OpenAI and Gemini.
 *
 * @param findProblem - returns why a request is rejected with 403. Default: none is
 */
export async function startScriptedModel(
  script: ModelScript,
  findProblem: (request: ReceivedRequest) => string | undefined = () => undefined,
): Promise<ScriptedModel> {
  const requests: ReceivedRequest[] = [];
  const server = await listen(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const received = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    requests.push(received);
    const problem = findProblem(received);
    if (problem !== undefined) return send(response, 403, { message: problem });
    const url = new URL(request.url ?? "/", "http://localhost");
    const api = apis.find(({ path }) => request.method === "POST" && path.test(url.pathname));
    // Makes Codex fall back from WebSockets to HTTP at once, without five attempts to connect.
    if (request.headers.upgrade !== undefined) return send(response, 426, { error: { message: "use HTTP" } });
    // Other agents do without a list.
    if (request.headers["copilot-integration-id"] !== undefined && url.pathname === "/models")
      return send(response, 200, copilotModels);
    if (api === undefined) return send(response, 404, { error: { message: "not found" } });
    // As clouds are asked whether they accept a credential.
    if (body === "{}") return send(response, 400, { message: "The request is empty." });
    const data = JSON.parse(body) as never;
    const reply = await script(api.read(data));
    if ("error" in reply) return send(response, reply.error.status, api.error(reply.error.status, reply.error.message));
    const { stream, body: text } = api.write(reply, data, url);
    const type = stream ? (api.streamType ?? "text/event-stream") : "application/json";
    response.writeHead(200, { "content-type": type }).end(text);
  });
  return { ...server, requests };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
