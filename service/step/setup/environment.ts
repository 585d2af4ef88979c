/**
 * What the service and what it starts need of the runner's environment. `RUNNER_TRACKING_ID` lets the runner end the service
 * after the workflow's job if `post` did not run.
 */
const needed =
  /^(PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|TMPDIR|(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO|RUNNER_TRACKING_ID)$/i;

/** With it, a runner can keep what Node has compiled: the service then starts in two thirds of the time. Agents do not get it. */
const compileCache = "NODE_COMPILE_CACHE";

/** Configuration of the package managers, such as another registry. */
const packageManagers = /^(npm_config_|PIP_)/i;

/** The variables by which actions find the cache service. */
const cacheVariables = /^(ACTIONS_(CACHE_|RESULTS_URL$|RUNTIME_TOKEN$)|GITHUB_SERVER_URL$)/;

function pick(environment: NodeJS.ProcessEnv, isPicked: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && isPicked(name) ? [[name, value]] : [],
    ),
  );
}

/**
 * Returns the environment of the service's process: nothing else of the runner's, neither its tokens nor the step's inputs.
 *
 * @param names - variables that the agent gets, such as its key
 */
export function serverEnvironment(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const isPicked = (name: string): boolean => needed.test(name) || name === compileCache || names.includes(name);
  // Node ignores the variables of proxies otherwise.
  return { ...pick(environment, isPicked), NODE_USE_ENV_PROXY: "1" };
}

/** Returns the environment for programs that install others, whose authors need no secrets. */
export function installerEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return pick(environment, (name) => needed.test(name) || packageManagers.test(name));
}

/** Returns the variables by which actions find the cache service. */
export function cacheEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return pick(environment, (name) => cacheVariables.test(name));
}
