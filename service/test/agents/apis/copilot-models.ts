/** GitHub Copilot's list of models, with one that its CLI can choose. The format is not documented: it is what the CLI accepts. */
export const copilotModels = {
  object: "list",
  data: [
    {
      object: "model",
      id: "claude-sonnet-4.6",
      name: "Claude Sonnet 4.6",
      vendor: "Anthropic",
      version: "claude-sonnet-4.6",
      preview: false,
      model_picker_enabled: true,
      policy: { state: "enabled", terms: "" },
      supported_endpoints: ["/chat/completions"],
      capabilities: {
        object: "model_capabilities",
        type: "chat",
        family: "claude-sonnet-4.6",
        tokenizer: "o200k_base",
        limits: { max_context_window_tokens: 200_000, max_prompt_tokens: 180_000, max_output_tokens: 16_000 },
        supports: { streaming: true, tool_calls: true, parallel_tool_calls: true },
      },
    },
  ],
};
