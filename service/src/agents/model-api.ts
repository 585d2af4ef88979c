/** What an agent without a network of its own may ask of its model's API. The rest would be a way out, paid with the service's key. */
export interface ModelApi {
  /**
   * Whether a request is one that agents need to talk with a model.
   *
   * @param path - below the path of the endpoint, such as `/messages`
   */
  allows(method: string, path: string): boolean;
  /**
   * Returns the part of a body that lets the provider's machines run or fetch something, for people; `undefined` if it has none.
   *
   * @param body - of the request, as JSON
   * @param path - as in `allows`
   */
  findServerTool(body: Readonly<Record<string, unknown>>, path: string): string | undefined;
  /**
   * Returns the path of the list of models, below the endpoint, which is answered only with a valid key. Default: unknown.
   *
   * @param folder - the path of the endpoint
   */
  modelsPath?: ((folder: string) => string) | undefined;
  /**
   * Returns the path of a request to a model that the API rejects for its empty body, which costs nothing. Default: the list of models is
   * enough.
   *
   * @param model - default: unknown
   */
  emptyRequest?: (model: string | undefined) => string;
  /** Headers of every request besides the key. */
  headers?: Readonly<Record<string, string>>;
}

/** Returns a rule for requests: POST to some paths, and GET to the list of models. */
function pathsOf(post: RegExp, get: RegExp): ModelApi["allows"] {
  return (method, path) => (method === "POST" && post.test(path)) || (method === "GET" && get.test(path));
}

const models = /^(?:\/v1)?\/models(?:\/[\w.:@-]+)*$/;

/** Anthropic's documentation: "Messages" and "Models". */
export const anthropicApi: ModelApi = {
  modelsPath: (folder) => `${folder.endsWith("/v1") ? "" : "/v1"}/models?limit=1`,
  headers: { "anthropic-version": "2023-06-01" },
  allows: pathsOf(/^(?:\/v1)?\/messages(?:\/count_tokens)?$/, models),
  findServerTool: (body) => {
    if (!isAbsent(body.mcp_servers)) return "mcp_servers";
    if (!isAbsent(body.container)) return "container";
    const tool = listOf(body.tools).find(({ type }) => type !== undefined && !anthropicTool.test(String(type)));
    if (tool !== undefined) return `the tool ${tool.type}`;
    return fileByUrl(
      [...listOf(body.messages), { content: body.system }],
      ({ source }) => isObject(source) && source.type === "url",
    );
  },
};

/** Amazon's documentation: "InvokeModelWithResponseStream". Without a model's name, an API key is still checked. */
export const bedrockApi: ModelApi = {
  emptyRequest: (model) => `/model/${encodeURIComponent(model ?? "none")}/invoke-with-response-stream`,
  allows: pathsOf(/^\/model\/[\w.:%@-]+\/invoke(?:-with-response-stream)?$/, /^$/),
  findServerTool: anthropicApi.findServerTool,
};

/** Google's documentation: "streamRawPredict". Each path names a model. */
export const vertexApi: ModelApi = {
  emptyRequest: (model) => `/${encodeURIComponent(model ?? "none")}:streamRawPredict`,
  allows: pathsOf(/^\/(?:[\w.%@-]+:(?:r|streamR)awPredict|count-tokens:rawPredict)$/, /^$/),
  findServerTool: anthropicApi.findServerTool,
};

/** Tools that the agent runs itself, and the search among its tools. */
const anthropicTool = /^(?:custom|(?:bash|text_editor|computer|memory)_\d+|tool_search_tool_\w+)$/;

/** OpenAI's documentation: "Responses", "Chat Completions" and "Models". */
export const openAiApi: ModelApi = {
  modelsPath: () => "/models",
  allows: pathsOf(/^(?:\/v1)?\/(?:responses|responses\/compact|chat\/completions)$/, models),
  findServerTool: (body) => {
    for (const name of ["web_search_options", "plugins", "prompt"]) if (!isAbsent(body[name])) return name;
    // These models search by themselves.
    if (/-search|:online/.test(String(body.model))) return `the model ${body.model}`;
    const tool = listOf(body.tools).find(({ type }) => !openAiTools.has(String(type)));
    if (tool !== undefined) return `the tool ${tool.type}`;
    return fileByUrl([...listOf(body.input), ...listOf(body.messages)], (part) =>
      [part.file_url, part.image_url, part.video_url].some(isRemote),
    );
  },
};

const openAiTools = new Set(["function", "custom", "local_shell", "apply_patch", "namespace", "tool_search"]);

/**
 * GitHub Copilot's, which has the paths of OpenAI and Anthropic. It has no `modelsPath`, because a token that is not allowed to use a
 * model may get the list, too.
 */
export const copilotApi: ModelApi = {
  allows: (method, path) => openAiApi.allows(method, path) || anthropicApi.allows(method, path),
  findServerTool: (body, path) =>
    (anthropicApi.allows("POST", path) ? anthropicApi : openAiApi).findServerTool(body, path),
};

/** Google's documentation: "Gemini API", "Generating content". Fields have names in both styles. */
export const geminiApi: ModelApi = {
  modelsPath: () => "/v1beta/models?pageSize=1",
  allows: pathsOf(
    /^\/v1(?:alpha|beta)?\/models\/[\w.-]+:(?:generateContent|streamGenerateContent|countTokens)$/,
    /^\/v1(?:alpha|beta)?\/models(?:\/[\w.-]+)?$/,
  ),
  findServerTool: (body) => {
    const requests = [body, ...[body.generateContentRequest, body.generate_content_request].filter(isObject)];
    for (const request of requests) {
      for (const tool of listOf(request.tools)) {
        const name = Object.keys(tool).find((key) => !/^function_?declarations$/i.test(key));
        if (name !== undefined) return `the tool ${name}`;
      }
      const contents = [request.contents, request.systemInstruction, request.system_instruction].flatMap(listOf);
      if (contents.flatMap(({ parts }) => listOf(parts)).some((part) => part.fileData ?? part.file_data))
        return "a file by its URL";
    }
    return undefined;
  },
};

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Returns the objects of a list; one object is a list of itself. */
function listOf(value: unknown): JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}

/** Looks for a part of messages, and of the results of tools in them, that the provider would fetch. */
function fileByUrl(messages: readonly JsonObject[], isFetched: (part: JsonObject) => boolean): string | undefined {
  const waiting = [...messages];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (isFetched(part)) return "a file by its URL";
    waiting.push(...listOf(part.content), ...listOf(part.output));
  }
  return undefined;
}

/** Whether an address, or the one in an object, is not in the request itself. */
function isRemote(address: unknown): boolean {
  const url = isObject(address) ? address.url : address;
  return typeof url === "string" && !/^data:/i.test(url);
}
