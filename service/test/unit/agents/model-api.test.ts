import { expect, test } from "vitest";
import { anthropicApi, copilotApi, geminiApi, type ModelApi, openAiApi } from "../../../src/agents/model-api.ts";

test.each<[ModelApi, string, string]>([
  [anthropicApi, "POST", "/v1/messages"],
  [anthropicApi, "POST", "/messages"],
  [anthropicApi, "POST", "/v1/messages/count_tokens"],
  [anthropicApi, "GET", "/v1/models"],
  [openAiApi, "POST", "/responses"],
  [openAiApi, "POST", "/chat/completions"],
  [openAiApi, "GET", "/models"],
  [geminiApi, "POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent"],
  [geminiApi, "POST", "/v1/models/gemini-2.5-pro:countTokens"],
  [geminiApi, "GET", "/v1beta/models/gemini-2.5-pro"],
  [copilotApi, "POST", "/chat/completions"],
  [copilotApi, "POST", "/v1/messages"],
  [copilotApi, "GET", "/models"],
])("%j allows %s %s", (api, method, path) => {
  expect(api.allows(method, path)).toBe(true);
});

const image = { type: "image", source: { type: "url", url: "https://evil.example/?data" } };

test.each<[ModelApi, object, string]>([
  [anthropicApi, { tools: [{ name: "own" }, { type: "web_fetch_20250910" }] }, "the tool web_fetch_20250910"],
  [anthropicApi, { tools: [{ type: "code_execution_20250825" }] }, "the tool code_execution_20250825"],
  [anthropicApi, { mcp_servers: [{ url: "https://evil.example" }] }, "mcp_servers"],
  [anthropicApi, { container: { skills: [] } }, "container"],
  [anthropicApi, { messages: [{ role: "user", content: [image] }] }, "a file by its URL"],
  [anthropicApi, { messages: [{ content: [{ type: "tool_result", content: [image] }] }] }, "a file by its URL"],
  [openAiApi, { tools: [{ type: "function" }, { type: "web_search" }] }, "the tool web_search"],
  [openAiApi, { tools: [{ type: "mcp", server_url: "https://evil.example" }] }, "the tool mcp"],
  [openAiApi, { tools: [{ type: "code_interpreter" }] }, "the tool code_interpreter"],
  [openAiApi, { tools: { type: "web_search_preview" } }, "the tool web_search_preview"],
  [openAiApi, { web_search_options: {} }, "web_search_options"],
  [openAiApi, { prompt: { id: "stored" } }, "prompt"],
  [openAiApi, { model: "gpt-4o-search-preview" }, "the model gpt-4o-search-preview"],
  [
    openAiApi,
    { input: [{ content: [{ type: "input_image", image_url: "https://evil.example/" }] }] },
    "a file by its URL",
  ],
  [
    openAiApi,
    { input: [{ output: [{ type: "input_file", file_url: "https://evil.example/" }] }] },
    "a file by its URL",
  ],
  [openAiApi, { messages: [{ content: [{ image_url: { url: "http://evil.example/" } }] }] }, "a file by its URL"],
  [geminiApi, { tools: [{ functionDeclarations: [] }, { googleSearch: {} }] }, "the tool googleSearch"],
  [geminiApi, { tools: [{ url_context: {} }] }, "the tool url_context"],
  [geminiApi, { tools: { codeExecution: {} } }, "the tool codeExecution"],
  [geminiApi, { contents: [{ parts: [{ fileData: { fileUri: "https://evil.example/" } }] }] }, "a file by its URL"],
  [geminiApi, { generateContentRequest: { tools: [{ googleMaps: {} }] } }, "the tool googleMaps"],
])("%j finds in %j %s", (api, body, found) => {
  expect(api.findServerTool(body as Record<string, unknown>, "")).toBe(found);
});

test.each<[ModelApi, object]>([
  [anthropicApi, { tools: [{ name: "Bash" }, { type: "custom" }, { type: "bash_20250124" }], mcp_servers: [] }],
  [anthropicApi, { tools: [{ type: "tool_search_tool_regex_20251119" }] }],
  [anthropicApi, { messages: [{ content: "https://example.com" }], system: [{ type: "text", text: "x" }] }],
  // What a tool of the agent's own gets is only text.
  [anthropicApi, { messages: [{ content: [{ type: "tool_use", input: { source: { type: "url" } } }] }] }],
  [openAiApi, { model: "gpt-5-codex", tools: [{ type: "function" }, { type: "custom" }, { type: "local_shell" }] }],
  [openAiApi, { input: [{ content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }] }] }],
  [openAiApi, { messages: [{ content: [{ image_url: { url: "data:image/png;base64,AA" } }] }] }],
  [
    geminiApi,
    { tools: [{ functionDeclarations: [] }, { function_declarations: [] }], contents: [{ parts: [{ text: "x" }] }] },
  ],
])("%j finds nothing in %j", (api, body) => {
  expect(api.findServerTool(body as Record<string, unknown>, "")).toBeUndefined();
});

test("Copilot's tools of the provider are those of the API that a path belongs to", () => {
  const tools = { anthropic: [{ name: "view", input_schema: {} }], openAi: [{ type: "function" }] };
  expect(copilotApi.findServerTool({ tools: tools.anthropic }, "/v1/messages")).toBeUndefined();
  expect(copilotApi.findServerTool({ tools: tools.openAi }, "/responses")).toBeUndefined();
  expect(copilotApi.findServerTool({ tools: [{ type: "web_search_20250305" }] }, "/v1/messages")).toBe(
    "the tool web_search_20250305",
  );
  expect(copilotApi.findServerTool({ tools: [{ type: "web_search" }] }, "/responses")).toBe("the tool web_search");
});
