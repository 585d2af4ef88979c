import { resolve } from "node:path";
import { findSecret, isSecretName } from "../service-secrets.ts";
import type { Agent } from "./agent.ts";

/** Variables that name files with certificates. */
const certificateVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
];

/** Variables of the service's environment that every agent gets: programs, language, and the way to the network. */
const common = /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy)$/;

/** Returns the environment of an agent. It contains no other variable of the service's than those that the agent needs. */
export function agentEnvironment(
  agent: Agent,
  service: NodeJS.ProcessEnv,
  job: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(service).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (agent.passes.includes(name)) return [[name, value.trim()]];
    return common.test(name) || certificateVariables.includes(name) ? [[name, value]] : [];
  });
  const secrets = agent.passes.filter(isSecretName).flatMap((name) => findSecret(name, service) ?? []);
  for (const { name, value } of secrets) inherited.push([name, value]);
  return { ...Object.fromEntries(inherited), TERM: "dumb", ...agent.environment, ...job };
}

/** Returns the files and folders with certificates that an environment names. */
export function certificateFiles(environment: Readonly<Record<string, string>>): string[] {
  return certificateVariables.flatMap((name) => (environment[name] ? [resolve(environment[name])] : []));
}
