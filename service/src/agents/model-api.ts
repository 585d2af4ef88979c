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
  findServerTool: (body) =>
    findFetched(body, ({ type }) => (anthropicTool.test(String(type ?? "custom")) ? undefined : String(type))),
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
  findServerTool: (body) => findFetched(body, ({ type }) => (openAiTools.has(String(type)) ? undefined : String(type))),
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
  findServerTool: (body) =>
    findFetched(body, (tool) => Object.keys(tool).find((key) => !/^function_?declarations$/i.test(key))),
};

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Fields of a request with which the provider searches, fetches or runs something: Anthropic's, OpenAI's, OpenRouter's and xAI's. */
const serverOptions = /^(?:mcp_servers|container|web_search_options|prompt|plugins|search_parameters)$/;

/** In values, all together. The longest conversations have some ten thousand. */
const maxParts = 300_000;
const maxDepth = 100;

/**
 * Looks through a whole request for what the provider would fetch or run, wherever it stands: content is nested in results, documents
 * and earlier answers, and tools are added by messages. Names of fields are compared in lower case, as some gateways read them.
 *
 * @param findForeign - returns the name of a tool that the agent does not run itself
 */
function findFetched(body: JsonObject, findForeign: (tool: JsonObject) => string | undefined): string | undefined {
  let parts = 0;
  const waiting: Part[] = [{ key: "", value: body, place: "", depth: 0 }];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { key, value, depth } = part;
    if (depth === 1 && serverOptions.test(key) && !isAbsent(value)) return key;
    // These models search by themselves.
    if (/^models?$/.test(key) && typeof value === "string" && /-search|:online/.test(value))
      return `the model ${value}`;
    if (isFetched(part)) return "a file by its URL";
    if (!isObject(value)) continue;
    const fields = Array.isArray(value) ? value : Object.keys(value);
    parts += fields.length;
    if (parts > maxParts || depth === maxDepth) return "a request too large or too deep to check";
    if (Array.isArray(value)) {
      for (const one of value) waiting.push({ ...part, value: one, depth: depth + 1 });
      continue;
    }
    const isTool = key === "tools" || key === "definition";
    const foreign = isTool ? findForeign(value) : undefined;
    if (foreign !== undefined) return `the tool ${foreign}`;
    const type = typeof value.type === "string" ? value.type : "";
    const place = `${key} ${type}`;
    for (const field of Object.keys(value)) {
      const name = field.toLowerCase();
      // Of a tool, only those in it count: the rest is a schema.
      if (isTool ? name !== "tools" : isText(name, type, depth)) continue;
      waiting.push({ key: name, value: value[field], place, depth: depth + 1 });
    }
  }
  return undefined;
}

/** A value in a request, with the name of its field, also if it is in a list there. */
interface Part {
  key: string;
  value: unknown;
  /** The field and the type of the object that it is in. */
  place: string;
  depth: number;
}

/** Whether a field is only text for the model: what its tools get and return, a schema, and where a text is from. */
function isText(name: string, type: string, depth: number): boolean {
  if (name === "input") return depth > 0 && /tool_use$/.test(type);
  return /^(?:arguments|args|response|action|citations|url_citation)$|(?:schema|metadata)$/.test(name);
}

/** Whether a value is the address of a file that is not in the request itself. */
function isFetched({ key, value, place }: Part): boolean {
  // The second: what an earlier search found.
  if (typeof value !== "string" || (key === "url" && /^(?:content web_|annotations url_)/.test(place))) return false;
  if (/ur[il]s?$/.test(key)) return !/^(?:data:|$)/i.test(value);
  const isData = /^(?:file_?(?:data|id)|data)$/.test(key) && place !== "source text";
  return isData && /^\s*(?!data:)[\w+.-]+:\/\//i.test(value);
}
