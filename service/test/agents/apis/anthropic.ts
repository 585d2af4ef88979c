import type { ModelApi } from "../scripted-model.ts";
import { serverSentEvents } from "./server-sent-events.ts";

interface Block {
  type: string;
  text?: string;
}

interface Body {
  model: string;
  stream?: boolean;
  messages: { role: "user" | "assistant"; content: string | Block[] }[];
  tools?: { name: string }[];
}

const blocksOf = (content: string | Block[]): Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const usage = { input_tokens: 1, output_tokens: 1 };

/** Anthropic's documentation: "Messages" and "Streaming messages". */
export const anthropic: ModelApi = {
  path: /\/v1\/messages$/,
  read: ({ messages, tools = [] }: Body) => ({
    messages: messages.map(({ role, content }) => ({
      role: role === "user" ? "user" : "model",
      text: blocksOf(content)
        .map(({ text = "" }) => text)
        .join("\n"),
    })),
    tools: tools.map(({ name }) => name),
    isToolResult: blocksOf(messages.at(-1)?.content ?? []).some(({ type }) => type === "tool_result"),
  }),
  write: ({ text, tool }, { model, stream = false }: Body) => {
    const content = [
      { type: "text", text },
      ...(tool ? [{ type: "tool_use", id: `toolu_${Date.now()}`, name: tool.name, input: tool.input }] : []),
    ];
    const stop_reason = tool ? "tool_use" : "end_turn";
    const message = { id: "msg_1", type: "message", role: "assistant", model, usage, stop_sequence: null };
    if (!stream) return { stream, body: JSON.stringify({ ...message, content, stop_reason }) };
    const blocks = content.flatMap((block, index) => [
      {
        type: "content_block_start",
        index,
        content_block: block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} },
      },
      {
        type: "content_block_delta",
        index,
        delta:
          "input" in block
            ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
            : { type: "text_delta", text },
      },
      { type: "content_block_stop", index },
    ]);
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      ...blocks,
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    return { stream, body: serverSentEvents(events) };
  },
  error: (status, message) => ({
    type: "error",
    error: { type: status === 401 ? "authentication_error" : "invalid_request_error", message },
  }),
};
