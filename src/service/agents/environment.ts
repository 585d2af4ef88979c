import type { Agent } from "./agent.ts";

/** Variables of the service's environment that every agent gets: programs, language, and the way to the network. */
const common =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(CURL|REQUESTS)_CA_BUNDLE)$/i;

/** Returns the environment of an agent. It contains no other variable of the service's than those that the agent needs. */
export function agentEnvironment(
  agent: Agent,
  service: Readonly<Record<string, string | undefined>>,
  job: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(service).flatMap(([name, value]) =>
    value !== undefined && (common.test(name) || agent.passes.includes(name)) ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(inherited), TERM: "dumb", ...agent.environment, ...job };
}
