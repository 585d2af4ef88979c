/** The variables of the service that are its own: neither an agent nor what Git runs has any business with them. */
const secretNames = ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", "GH_TOKEN"];

/** The environment of the service as it is handed on to other programs. */
export function environmentWithoutSecrets(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !secretNames.includes(name)));
}
