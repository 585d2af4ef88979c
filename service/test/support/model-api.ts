import type { ModelApi } from "../../src/agents/model-api.ts";

/** An API of which anything is allowed. */
export const anyModelApi: ModelApi = { allows: () => true, findServerTool: () => undefined };
