import { AwsV4Signer } from "aws4fetch";
import { anthropicApi, bedrockApi, vertexApi } from "../model-api.ts";
import { bearer, type PresetModel } from "./preset.ts";

// The clouds through which Claude Code reaches its models. Behind the proxy, it is told to send no credential.

const claude = {
  headersVariable: "ANTHROPIC_CUSTOM_HEADERS",
  passes: ["ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"],
};

/** Names that become a part of a host or a path. */
const label = /^[a-z\d](?:[\w-]*[a-z\d])?$/i;

const bedrock: PresetModel = {
  ...claude,
  switch: "CLAUDE_CODE_USE_BEDROCK",
  keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
  requires: { AWS_REGION: /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/ },
  baseUrlVariable: "ANTHROPIC_BEDROCK_BASE_URL",
  url: (variables) => `https://bedrock-runtime.${variables("AWS_REGION")}.amazonaws.com`,
  environment: { CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1" },
  api: bedrockApi,
  header: bearer,
};

/** Amazon Bedrock with the credentials of a role, such as those that `aws-actions/configure-aws-credentials` leaves. */
const bedrockByRole: PresetModel = {
  ...bedrock,
  keyVariable: "AWS_ACCESS_KEY_ID",
  secretVariables: ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  requires: { ...bedrock.requires, AWS_SECRET_ACCESS_KEY: /./ },
  dummyKey: "",
  sign: async ({ method, url, body }, secret) => {
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      body,
      service: "bedrock",
      region: secret("AWS_REGION"),
      accessKeyId: secret("AWS_ACCESS_KEY_ID"),
      secretAccessKey: secret("AWS_SECRET_ACCESS_KEY"),
      sessionToken: secret("AWS_SESSION_TOKEN"),
    });
    // Its own headers only: others may change on the way.
    const { headers } = await signer.sign();
    return Object.fromEntries(headers);
  },
};

const vertex: PresetModel = {
  ...claude,
  switch: "CLAUDE_CODE_USE_VERTEX",
  // Set by gcloud, which also reads the file named by CLOUDSDK_AUTH_ACCESS_TOKEN_FILE.
  keyVariable: "CLOUDSDK_AUTH_ACCESS_TOKEN",
  requires: { ANTHROPIC_VERTEX_PROJECT_ID: label, CLOUD_ML_REGION: label },
  baseUrlVariable: "ANTHROPIC_VERTEX_BASE_URL",
  url: (variables) => {
    const region = variables("CLOUD_ML_REGION");
    if (region === "global") return "https://aiplatform.googleapis.com/v1";
    if (region === "us" || region === "eu") return `https://aiplatform.${region}.rep.googleapis.com/v1`;
    return `https://${region}-aiplatform.googleapis.com/v1`;
  },
  folder: (variables) =>
    `/projects/${variables("ANTHROPIC_VERTEX_PROJECT_ID")}/locations/${variables("CLOUD_ML_REGION")}/publishers/anthropic/models`,
  environment: { CLAUDE_CODE_SKIP_VERTEX_AUTH: "1" },
  api: vertexApi,
  header: bearer,
};

const foundry: PresetModel = {
  ...claude,
  switch: "CLAUDE_CODE_USE_FOUNDRY",
  keyVariable: "ANTHROPIC_FOUNDRY_API_KEY",
  // A base URL names it, too.
  requires: { ANTHROPIC_FOUNDRY_RESOURCE: label },
  baseUrlVariable: "ANTHROPIC_FOUNDRY_BASE_URL",
  url: (variables) => `https://${variables("ANTHROPIC_FOUNDRY_RESOURCE")}.services.ai.azure.com/anthropic`,
  environment: { CLAUDE_CODE_SKIP_FOUNDRY_AUTH: "1", ANTHROPIC_FOUNDRY_RESOURCE: "" },
  api: anthropicApi,
  header: (key) => ["x-api-key", key],
};

/** With a token of Microsoft Entra ID. */
const foundryByToken: PresetModel = { ...foundry, keyVariable: "ANTHROPIC_FOUNDRY_AUTH_TOKEN", header: bearer };

export const clouds: readonly PresetModel[] = [bedrock, bedrockByRole, vertex, foundry, foundryByToken];
