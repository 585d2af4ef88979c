import type { ModelApi } from "../scripted-model.ts";
import { serverSentEvents } from "./server-sent-events.ts";

interface Body {
  contents: { role?: string; parts: { text?: string; functionResponse?: unknown }[] }[];
  tools?: { functionDeclarations?: { name: string }[] }[];
}

/** Google's documentation: "Generating content". */
export const gemini: ModelApi = {
  path: /:(stream)?generateContent$/i,
  read: ({ contents, tools = [] }: Body) => ({
    messages: contents.map(({ role, parts }) => ({
      role: role === "model" ? "model" : "user",
      text: parts.map(({ text = "" }) => text).join("\n"),
    })),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    isToolResult: contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined) ?? false,
  }),
  write: ({ text, tool }, _body, url) => {
    const parts = [{ text }, ...(tool ? [{ functionCall: { name: tool.name, args: tool.input } }] : [])];
    const response = {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    const stream = url.pathname.endsWith(":streamGenerateContent");
    return { stream, body: stream ? serverSentEvents([response]) : JSON.stringify(response) };
  },
  error: (code, message) => ({ error: { code, message, status: "INVALID_ARGUMENT" } }),
};
