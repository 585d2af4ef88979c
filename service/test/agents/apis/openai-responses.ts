import type { ModelApi } from "../scripted-model.ts";
import { serverSentEvents } from "./server-sent-events.ts";

interface Tool {
  type: string;
  name?: string;
  /** The tools of a namespace. */
  tools?: Tool[];
}

interface Item {
  type?: string;
  role?: string;
  content?: string | { text?: string }[];
  /** The tools of `additional_tools`, which Codex sends in place of the body's `tools`. */
  tools?: Tool[];
}

interface Body {
  model: string;
  stream?: boolean;
  input: string | Item[];
  tools?: Tool[];
}

const namesOf = (tools: Tool[]): string[] =>
  tools.flatMap(({ type, name, tools }) => (type === "namespace" ? namesOf(tools ?? []) : (name ?? type)));

const itemsOf = (input: string | Item[]): Item[] =>
  typeof input === "string" ? [{ role: "user", content: input }] : input;

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

/** OpenAI's documentation: "Responses" and "Streaming events". */
export const openAiResponses: ModelApi = {
  path: /\/responses$/,
  read: ({ input, tools = [] }: Body) => ({
    messages: itemsOf(input)
      .filter(({ role }) => role === "user" || role === "assistant")
      .map(({ role, content = "" }) => ({
        role: role === "user" ? "user" : "model",
        text: typeof content === "string" ? content : content.map(({ text = "" }) => text).join("\n"),
      })),
    tools: namesOf([...tools, ...itemsOf(input).flatMap((item) => item.tools ?? [])]),
    isToolResult:
      itemsOf(input).findLast(({ type }) => type === "message" || type?.endsWith("_call_output"))?.type !== "message",
  }),
  write: ({ text, tool }, { model, stream = false }: Body) => {
    const id = `resp_${Date.now()}`;
    const message = {
      type: "message",
      id: `msg_${id}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    };
    const called = { id: `fc_${id}`, call_id: `call_${id}`, name: tool?.name, status: "completed" };
    const call =
      tool &&
      (typeof tool.input === "string"
        ? { type: "custom_tool_call", ...called, input: tool.input }
        : { type: "function_call", ...called, arguments: JSON.stringify(tool.input) });
    const output = call ? [message, call] : [message];
    const response = { id, object: "response", created_at: 1, model, status: "completed", output, usage };
    if (!stream) return { stream, body: JSON.stringify(response) };
    const created = { ...response, status: "in_progress", output: [], usage: null };
    const items = output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ]);
    const events = [
      { type: "response.created", response: created },
      ...items,
      { type: "response.completed", response },
    ];
    return { stream, body: serverSentEvents(events.map((event, sequence_number) => ({ ...event, sequence_number }))) };
  },
  error: (_status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};
