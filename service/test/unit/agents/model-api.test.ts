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

const url = "https://evil.example/?data";
const image = { type: "image", source: { type: "url", url } };
const byUrl = "a file by its URL";
const mcp = { type: "mcp", server_url: url };

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
  // Anthropic's reference of "Messages".
  [anthropicApi, { messages: [{ content: [{ type: "document", source: { content: [image] } }] }] }, byUrl],
  [
    anthropicApi,
    { messages: [{ content: [{ type: "tool_result", content: [{ source: { content: [image] } }] }] }] },
    byUrl,
  ],
  [anthropicApi, { system: [image] }, byUrl],
  [anthropicApi, { messages: [{ content: [{ type: "web_fetch_tool_result", content: { content: image } }] }] }, byUrl],
  [anthropicApi, { messages: [{ content: [{ type: "image", source: { uri: "s3://evil/data" } }] }] }, byUrl],
  [
    anthropicApi,
    { messages: [{ content: [{ type: "tool_addition", tool: { definition: { type: "web_search_20260318" } } }] }] },
    "the tool web_search_20260318",
  ],
  [anthropicApi, { fallbacks: [{ tools: [{ type: "mcp_toolset" }] }] }, "the tool mcp_toolset"],
  [anthropicApi, { tools: [{ type: "advisor_20260301" }] }, "the tool advisor_20260301"],
  // OpenAI's reference of "Responses".
  [openAiApi, { input: [{ type: "tool_search_output", tools: [mcp] }] }, "the tool mcp"],
  [openAiApi, { input: [{ type: "additional_tools", tools: [{ type: "web_search" }] }] }, "the tool web_search"],
  [openAiApi, { tools: [{ type: "namespace", tools: [{ type: "namespace", tools: [mcp] }] }] }, "the tool mcp"],
  [openAiApi, { tools: [{ type: "shell", environment: { type: "container_auto" } }] }, "the tool shell"],
  [openAiApi, { input: [{ type: "computer_call_output", output: { image_url: url } }] }, byUrl],
  [openAiApi, { input: [{ type: "input_file", file_url: url }] }, byUrl],
  // OpenAI's reference of "Chat Completions", and what OpenRouter and other gateways add.
  [openAiApi, { messages: [{ content: [{ type: "file", file: { file_data: url } }] }] }, byUrl],
  [openAiApi, { messages: [{ content: [{ type: "file", file: { file_id: url } }] }] }, byUrl],
  [openAiApi, { messages: [{ content: [{ type: "file", file: { data: url } }] }] }, byUrl],
  [openAiApi, { messages: [{ content: [{ type: "audio_url", audio_url: { url } }] }] }, byUrl],
  [openAiApi, { messages: [{ content: [{ type: "input_video", video_url: [` ${url}`] }] }] }, byUrl],
  [openAiApi, { messages: [{ images: [{ image_url: { url } }] }] }, byUrl],
  [openAiApi, { messages: [{ annotations: [{ type: "file", file: { content: [{ image_url: { url } }] } }] }] }, byUrl],
  [openAiApi, { prediction: { content: [{ type: "image_url", imageUrl: url }] } }, byUrl],
  [openAiApi, { tools: [{ type: "openrouter:web_fetch" }] }, "the tool openrouter:web_fetch"],
  [openAiApi, { plugins: [{ id: "web" }] }, "plugins"],
  // What gateways take though no reference has it.
  [openAiApi, { type: "tool_use", input: [{ content: [{ image_url: url }] }] }, byUrl],
  [openAiApi, { messages: [{ content: [{ image_url: { type: "web_search_result", url } }] }] }, byUrl],
  [openAiApi, { messages: [{ content: [{ file: { type: "text", data: url } }] }] }, byUrl],
  [openAiApi, { messages: [{ Content: [{ Image_URL: { URL: url } }] }] }, byUrl],
  [anthropicApi, { plugins: [{ id: "web-fetch" }] }, "plugins"],
  [openAiApi, { search_parameters: { mode: "on" } }, "search_parameters"],
  [openAiApi, { model: "x/y:online" }, "the model x/y:online"],
  [openAiApi, { model: "x/y", models: ["a/b", "x/y:online"] }, "the model x/y:online"],
  [anthropicApi, { models: ["x/y:online"] }, "the model x/y:online"],
  [anthropicApi, { fallbacks: [{ model: "x/y:online" }] }, "the model x/y:online"],
  // Google's reference of "Generating content".
  [geminiApi, { contents: [{ parts: [{ functionResponse: { parts: [{ fileData: { fileUri: url } }] } }] }] }, byUrl],
  [geminiApi, { system_instruction: { parts: [{ file_data: { file_uri: "gs://evil/data" } }] } }, byUrl],
  [geminiApi, { tools: [{ mcpServers: [] }] }, "the tool mcpServers"],
])("%j finds in %j %s", (api, body, found) => {
  expect(api.findServerTool(body as Record<string, unknown>, "")).toBe(found);
});

test.each<[ModelApi, object]>([
  [anthropicApi, { tools: [{ name: "Bash" }, { type: "custom" }, { type: "bash_20250124" }], mcp_servers: [] }],
  [anthropicApi, { tools: [{ type: "tool_search_tool_regex_20251119" }] }],
  [anthropicApi, { messages: [{ content: "https://example.com" }], system: [{ type: "text", text: "x" }] }],
  [anthropicApi, { messages: [{ content: [{ type: "tool_use", input: { source: { type: "url" } } }] }] }],
  [openAiApi, { model: "gpt-5-codex", tools: [{ type: "function" }, { type: "custom" }, { type: "local_shell" }] }],
  [openAiApi, { input: [{ content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }] }] }],
  [openAiApi, { messages: [{ content: [{ image_url: { url: "data:image/png;base64,AA" } }] }] }],
  [
    openAiApi,
    { messages: [{ content: [{ type: "file", file: { file_data: "JVBERi0xLjQK//8=", file_id: "file-1" } }] }] },
  ],
  // Text, and what the agent's own tools get and return.
  [anthropicApi, { messages: [{ content: [{ source: { type: "text", data: url, media_type: "text/plain" } }] }] }],
  [anthropicApi, { messages: [{ content: [{ type: "search_result", source: url, title: url }] }] }],
  [anthropicApi, { messages: [{ content: [{ type: "text", text: url, citations: [{ url }] }] }] }],
  [
    anthropicApi,
    { messages: [{ content: [{ type: "web_search_tool_result", content: [{ type: "web_search_result", url }] }] }] },
  ],
  [anthropicApi, { tools: [{ name: "x", input_schema: { tools: [mcp] }, input_examples: [{ image_url: url }] }] }],
  [anthropicApi, { output_config: { format: { schema: { properties: { url: { default: url }, tools: [mcp] } } } } }],
  [openAiApi, { metadata: { repository_url: url }, client_metadata: { url } }],
  [openAiApi, { input: [{ type: "function_call", arguments: `{"image_url":"${url}"}` }, { output: url }] }],
  [openAiApi, { input: [{ type: "local_shell_call", action: { env: { API_URL: url } } }] }],
  [openAiApi, { input: [{ type: "tool_search_call", arguments: { url } }] }],
  [openAiApi, { input: [{ content: [{ type: "output_text", annotations: [{ type: "url_citation", url }] }] }] }],
  [openAiApi, { messages: [{ role: "assistant", annotations: [{ url_citation: { url } }] }] }],
  [
    openAiApi,
    { input: [{ type: "tool_search_output", tools: [{ type: "namespace", tools: [{ type: "function" }] }] }] },
  ],
  [openAiApi, { tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "x" }] } }],
  [geminiApi, { contents: [{ parts: [{ functionCall: { args: { url, tools: [mcp] } } }] }] }],
  [geminiApi, { contents: [{ parts: [{ functionResponse: { response: { fileUri: url } } }] }] }],
  [geminiApi, { generationConfig: { responseSchema: { properties: { url: { default: url } } } } }],
  [
    geminiApi,
    { tools: [{ functionDeclarations: [] }, { function_declarations: [] }], contents: [{ parts: [{ text: "x" }] }] },
  ],
])("%j finds nothing in %j", (api, body) => {
  expect(api.findServerTool(body as Record<string, unknown>, "")).toBeUndefined();
});

test.each([
  ["deep", `{"input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ["large", `{"input":[${"{},".repeat(300_000)}{}]}`],
])("a body that is too %s to look at is refused", (_name, body) => {
  expect(openAiApi.findServerTool(JSON.parse(body), "")).toBe("a request too large or too deep to check");
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
