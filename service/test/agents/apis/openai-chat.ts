import type { ModelApi } from "../scripted-model.ts";
import { serverSentEvents } from "./server-sent-events.ts";

interface Body {
  model: string;
  stream?: boolean;
  messages: { role: string; content?: string | { text?: string }[] | null }[];
  tools?: ({ function: { name: string } } | { custom: { name: string } })[];
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** OpenAI's documentation: "Chat completions". */
export const openAiChat: ModelApi = {
  path: /\/chat\/completions$/,
  read: ({ messages, tools = [] }: Body) => ({
    messages: messages
      .filter(({ role }) => role === "user" || role === "assistant")
      .map(({ role, content }) => ({
        role: role === "user" ? "user" : "model",
        text: typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n"),
      })),
    tools: tools.map((tool) => ("function" in tool ? tool.function.name : tool.custom.name)),
    isToolResult: messages.at(-1)?.role === "tool",
  }),
  write: ({ text, tool }, { model, stream = false }: Body) => {
    const call = tool && {
      index: 0,
      id: `call_${Date.now()}`,
      type: "function",
      function: { name: tool.name, arguments: JSON.stringify(tool.input) },
    };
    const message = { role: "assistant", content: text, ...(call && { tool_calls: [call] }) };
    const finish_reason = call ? "tool_calls" : "stop";
    const completion = { id: "chatcmpl-1", created: 1, model };
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason }];
      return { stream, body: JSON.stringify({ ...completion, object: "chat.completion", choices, usage }) };
    }
    const chunk = { ...completion, object: "chat.completion.chunk" };
    const events = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ];
    return { stream, body: `${serverSentEvents(events)}data: [DONE]\n\n` };
  },
  error: (_status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};
