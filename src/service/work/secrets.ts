/** Variables in the environment of the service that neither an agent nor what Git runs has any business with. */
export const secretNames: readonly string[] = ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", "GH_TOKEN"];
